"""The tree of tasks names whatever hangs, with its owner and its line, and no values."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from fx.testing import open_app
from fxtrio.db.migrations.files import Migration
from fxtrio.db.migrations.runner import _run
from fxtrio.observe.text import text_of
from fxtrio.observe.tree import Births, Loop, TaskNode, Tree, take_tree
from fxtrio.plugins.observe.plugin import _Named
from tests.trees import page, write_tree

CANARY = "s3cret-canary"

HANGING = """
    import threading
    import trio
    from fx.jobs import job
    from fx.runtime import defer
    from fx.tasks import enqueue

    released = threading.Event()

    async def find_reviews(word):
        await trio.sleep_forever()  # deferred

    async def welcome(word):
        await trio.sleep_forever()  # task

    def in_thread(word):
        released.wait()  # thread

    @job
    async def remind(word):
        await trio.sleep_forever()  # job

    @server
    async def load(request):
        if "hang" in request.query_params:
            await trio.sleep_forever()  # loader
        return {"reviews": defer(find_reviews, request.query_params.get("word"))}

    @action
    async def begin(request):
        word = (await request.json())["word"]
        enqueue(welcome, word)
        enqueue(in_thread, word)
        await remind.enqueue(word)
        request.app.state.released = released
        return {}

    async def websocket(ws):
        await ws.accept()
        await trio.sleep_forever()  # socket
    """
PLUGIN = """
    import contextlib
    import trio
    from fxtrio.plugins import Plugin

    class Mailer(Plugin):
        name = "mailer"

        @contextlib.asynccontextmanager
        async def open(self, app):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.keep)
                yield
                nursery.cancel_scope.cancel()

        async def keep(self):
            await trio.sleep_forever()  # plugin
    """


def hanging(root: Path) -> Path:
    files = {
        "pages/index.fxl": page(HANGING),
        "mailer.py": PLUGIN,
        "fx.config.json": '{"database": {"url": "sqlite:///data/app.db"}}',
    }
    return write_tree(root, files)


def line(root: Path, file: str, remark: str) -> str:
    """Return the place of the line that ends with a remark."""
    lines = (root / file).read_text(encoding="utf-8").splitlines()
    (number,) = [number for number, text in enumerate(lines, 1) if text.endswith(f"# {remark}")]
    return f"{file}:{number} "


def nodes(node: TaskNode) -> Iterator[TaskNode]:
    yield node
    for task in node.tasks:
        yield from nodes(task)


def node_at(tree: Any, place: str) -> TaskNode:
    (found,) = [node for node in nodes(tree.root) if node.at.startswith(place)]
    return found


def take_while_spinning(loop: Loop) -> Tree:
    """Take the tree in a thread, while the thread of the loop computes."""
    found: list[Tree] = []
    thread = threading.Thread(target=lambda: found.append(take_tree(loop, 1)))
    thread.start()
    while thread.is_alive():
        sum(range(100))
    return found[0]


@pytest.mark.parametrize("take", [lambda loop: take_tree(loop, 1), take_while_spinning])
async def test_whatever_hangs_is_named_with_its_line_and_what_it_works_for(
    tmp_path: Path,
    autojump_clock: MockClock,
    monkeypatch: pytest.MonkeyPatch,
    take: Callable[[Loop], Tree],
) -> None:
    monkeypatch.chdir(tmp_path)
    root = hanging(tmp_path)
    async with open_app(root, plugins=["mailer:Mailer"]) as client:
        client.app.spans.add(_Named())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.get, f"/?hang=1&word={CANARY}")
            nursery.start_soon(client.get, f"/?word={CANARY}")
            assert (await client.action("/", "begin", {"word": CANARY})).ok
            async with client.websocket("/"):
                await wait_all_tasks_blocked(0.01)
                tree = take(Loop.here())
            client.app.state.released.set()
            nursery.cancel_scope.cancel()

    works = {
        "loader": ("GET /", "loader pages/index.fxl: load()"),
        "deferred": ("GET /", "deferred pages/index.fxl: defer('reviews')"),
        "task": ("POST / begin", "job pages_index_fxl.welcome"),
        "socket": ("WEBSOCKET /", "websocket pages/index.fxl: websocket()"),
        "job": ("job pages_index_fxl.remind", ""),
    }
    for remark, (work, part) in works.items():
        node = node_at(tree, line(root, "pages/index.fxl", remark))
        assert (node.work, node.part) == (work, part)
    assert node_at(tree, line(root, "mailer.py", "plugin")).name == "mailer.Mailer.keep"
    place = line(root, "pages/index.fxl", "thread")
    assert [thread.at.startswith(place) for thread in tree.threads] == [True]
    assert CANARY not in json.dumps(tree.as_dict())


async def test_a_migration_that_hangs_is_named_with_its_file() -> None:
    class Stuck:
        run_script = staticmethod(trio.sleep)

    stuck: Any = Stuck()
    until: Any = inf
    migration = Migration(1, "notes", "0001_notes.sql", until, *_rest())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_run, stuck, migration)
        await wait_all_tasks_blocked()
        tree = take_tree(Loop.here(), 1)
        nursery.cancel_scope.cancel()

    assert node_at(tree, "migrations/0001_notes.sql:1")


def _rest() -> tuple[Any, ...]:
    """Return what a migration has besides, which is not looked at."""
    return (None,) * (len(Migration.__attrs_attrs__) - 4)


async def test_tasks_have_an_age_and_what_is_left_of_their_deadline(
    mock_clock: MockClock,
) -> None:
    births = Births()
    trio.lowlevel.add_instrument(births)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep, 60, name="sleeper")
        await wait_all_tasks_blocked()
        nursery.cancel_scope.deadline = trio.current_time() + 90
        tree = take_tree(Loop.here(births), 1)
        nursery.cancel_scope.cancel()
    trio.lowlevel.remove_instrument(births)

    (node,) = [node for node in nodes(tree.root) if node.name == "sleeper"]
    assert node.left == 60
    assert node.age is not None
    assert "sleeper 0.0 s 60.0 s left" in text_of(tree.as_dict())


async def test_thousands_of_tasks_that_do_the_same_are_one_line() -> None:
    async with trio.open_nursery() as nursery:
        for _ in range(3000):
            nursery.start_soon(trio.sleep_forever)
        await wait_all_tasks_blocked()
        tree = take_tree(Loop.here(), 1)
        nursery.cancel_scope.cancel()

    assert tree.tasks > 3000
    (node,) = [node for node in nodes(tree.root) if node.name == "trio.sleep_forever"]
    assert node.count == 3000
    assert "trio.sleep_forever x 3000" in text_of(tree.as_dict())


async def test_the_name_of_a_task_holds_no_arguments() -> None:
    class Call:
        def __repr__(self) -> str:
            return f"Call(token={CANARY!r})"

        async def __call__(self) -> None:
            await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(Call())
        await wait_all_tasks_blocked()
        tree = take_tree(Loop.here(), 1)
        nursery.cancel_scope.cancel()

    assert CANARY not in text_of(tree.as_dict())
    assert "Call" in text_of(tree.as_dict())


BUSY = """
import sys, time, trio
sys.path.insert(0, {folder!r})
import busy_app
from fxtrio.observe.observer import open_observer

async def main():
    with open_observer():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(busy_app.wait)
            await trio.testing.wait_all_tasks_blocked()
            print("ready", flush=True)
            busy_app.spin()

import trio.testing
trio.run(main)
"""
APP = """
    import trio

    async def wait():
        await trio.sleep_forever()  # waits

    def spin():
        while True:
            sum(range(100))
    """


@pytest.mark.skipif(sys.platform != "linux", reason="its sockets are Linux's")
def test_a_process_whose_loop_spins_answers_and_writes_its_tree(tmp_path: Path) -> None:
    write_tree(tmp_path, {"busy_app.py": APP})
    started = [sys.executable, "-c", BUSY.format(folder=str(tmp_path))]
    with subprocess.Popen(
        started, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        limit = threading.Timer(60, process.kill)
        limit.start()
        try:
            assert process.stdout.readline() == "ready\n"
            asked = [sys.executable, "-m", "fxtrio", "tree", "--pid", str(process.pid)]
            shown = subprocess.run(asked, capture_output=True, text=True, timeout=50)
            process.send_signal(signal.SIGUSR2)
            written = ""
            for text in process.stderr:
                written += text
                if text.rstrip().endswith(" wait"):
                    break
        finally:
            limit.cancel()
            process.kill()

    assert re.search(r"the event loop is blocked at busy_app.py:[78] spin\n", shown.stdout)
    assert f"at {line(tmp_path, 'busy_app.py', 'waits')}wait" in shown.stdout
    assert "the event loop is blocked at busy_app.py" in written
