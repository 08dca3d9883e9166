"""The tree of tasks names whatever hangs, with its owner and its line, and no values."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator
from contextlib import aclosing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from fx.testing import open_app, open_server
from fxtrio.db import Database
from fxtrio.observe.observer import ProcessNotObserved, ask_process
from fxtrio.observe.text import text_of
from fxtrio.observe.tree import Births, Loop, TaskNode, Tree, take_tree
from fxtrio.plugins.observe.plugin import _Named
from fxtrio.server.supervise.options import ServeOptions
from fxtrio.testing import real_server
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


async def test_a_request_has_the_rest_of_its_timeout(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    hanging = "import trio\n\n@server\nasync def load(request):\n    await trio.sleep_forever()\n"
    root = write_tree(tmp_path, {"pages/index.fxl": page(hanging)})
    async with open_app(root, timeouts={"loader": 10}) as client, trio.open_nursery() as nursery:
        client.app.spans.add(_Named())
        nursery.start_soon(client.get, "/")
        await trio.sleep(4)
        tree = take_tree(Loop.here(), 1)
        nursery.cancel_scope.cancel()

    (node,) = [node for node in nodes(tree.root) if node.at.endswith("pages/index.fxl:5 load")]
    assert node.left == 6


SERVED = """
    import trio
    from fx.runtime import defer

    async def later():
        await trio.sleep_forever()  # deferred

    @server
    async def load(request):
        if "hang" not in request.query_params:
            return {"late": defer(later)}
        request.app.state.hangs.set()
        await trio.sleep_forever()  # loader

    async def websocket(ws):
        await ws.accept()
        await trio.sleep_forever()  # socket
    """


@pytest.mark.parametrize("h2", [False, True], ids=["HTTP/1.1", "HTTP/2"])
async def test_the_server_hides_no_line_of_what_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, h2: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(real_server, "ServeOptions", partial(ServeOptions, h2c=h2))
    root = write_tree(tmp_path, {"pages/index.fxl": page(SERVED)})
    async with open_server(root) as server:
        client = httpx.AsyncClient(base_url=server.url, trust_env=False, http1=not h2, http2=h2)
        hangs = server.app.state.hangs = trio.Event()
        with trio.fail_after(20):
            async with client, trio.open_nursery() as nursery:
                nursery.start_soon(client.get, "/?hang=1")
                async with client.stream("GET", "/"), server.websocket("/"):
                    await hangs.wait()
                    tree = take_tree(Loop.here(), 1)
                nursery.cancel_scope.cancel()

    for remark in ("loader", "deferred", "socket"):
        assert node_at(tree, line(root, "pages/index.fxl", remark))


STARTING = """
    import contextlib
    import trio
    from fxtrio.plugins import Plugin

    class Stuck(Plugin):
        name = "stuck"

        @contextlib.asynccontextmanager
        async def open(self, app):
            await trio.sleep_forever()  # opens
            yield
    """


@pytest.mark.parametrize("what", ["migration", "plugin"])
async def test_what_hangs_while_the_app_starts_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    def never(*_: object) -> Awaitable[None]:  # without a frame, which would be the innermost one
        waits: Awaitable[None] = trio.sleep_forever()  # noqa: ASYNC105
        return waits

    if what == "migration":
        monkeypatch.setattr(Database, "run_script", never)
    files = {
        "pages/index.fxl": page(""),
        f"starting_{what}.py": STARTING,
        "migrations/0001_notes.sql": f"insert into notes values ('{CANARY}');",
    }
    if what == "plugin":
        del files["migrations/0001_notes.sql"]
    root = write_tree(tmp_path, files)
    plugins = [f"starting_{what}:Stuck", "observe"]

    async def start() -> None:
        async with open_app(root, plugins=plugins, database={"url": "sqlite:///app.db"}):
            raise AssertionError("it has started")

    place = "migrations/0001_notes.sql:1" if what == "migration" else f"starting_{what}.py:10 open"
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(start)
            text = ""
            while place not in text:
                await trio.lowlevel.checkpoint()
                with suppress(ProcessNotObserved):
                    text = (await trio.to_thread.run_sync(ask_process, os.getpid())).decode()
            nursery.cancel_scope.cancel()
    assert CANARY not in text


class Wrapped:
    """Awaited by the ``__await__`` of a coroutine, as a connection of our server is."""

    def __await__(self) -> Generator[Any, None, None]:
        return forever().__await__()


async def forever() -> None:
    await trio.sleep_forever()  # wrapped


async def endless() -> AsyncGenerator[int, None]:
    await trio.sleep_forever()  # generated
    yield 1


async def by_its_await() -> None:
    await Wrapped()


async def by_anext() -> None:
    async with aclosing(endless()) as values:
        await anext(values, None)


async def by_a_loop() -> None:
    async with aclosing(endless()) as values:
        async for _ in values:
            pass


@pytest.mark.parametrize(
    ("wait", "function"),
    [(by_its_await, "forever"), (by_anext, "endless"), (by_a_loop, "endless")],
)
async def test_what_the_interpreter_wraps_is_looked_into(
    wait: Callable[[], Awaitable[None]], function: str
) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait, name="wrapped")
        await wait_all_tasks_blocked()
        tree = take_tree(Loop.here(), 1)
        nursery.cancel_scope.cancel()

    (node,) = [node for node in nodes(tree.root) if node.name == "wrapped"]
    assert node.at.endswith(f" {function}")


async def test_tasks_have_an_age_and_the_rest_of_their_timeout(
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
            command = [sys.executable, "-m", "fxtrio", "tree", "--pid", str(process.pid)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=50)
            process.send_signal(signal.SIGUSR2)
            written = ""
            for text in process.stderr:
                written += text
                if text.rstrip().endswith(" wait"):
                    break
        finally:
            limit.cancel()
            process.kill()

    assert re.search(r"the event loop is blocked at busy_app.py:[78] spin\n", done.stdout)
    assert f"at {line(tmp_path, 'busy_app.py', 'waits')}wait" in done.stdout
    assert "the event loop is blocked at busy_app.py" in written
