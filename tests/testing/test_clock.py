"""A mock clock under an app waits for threads and for Node, and for nothing else."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from fx.tasks import enqueue
from fx.testing import Client, open_app
from fxtrio.serve.pages.resources import Renderer
from fxtrio.ssr.frames import Rendered
from fxtrio.testing import clock
from fxtrio.testing.open import NoRender
from tests.trees import page, write_tree

IN_THREADS = """
    import time
    import trio

    @server
    async def load(request):
        first = await trio.to_thread.run_sync(time.sleep, 0.02)
        second = await trio.to_thread.run_sync(time.sleep, 0.02)
        return {"now": trio.current_time()}

    @action(timeout=7200)
    async def ponder(request):
        await trio.sleep(3600)
        return {}
    """


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "project", {"pages/index.fxl": page(IN_THREADS)})


@pytest.fixture
async def client(project: Path, autojump_clock: MockClock) -> AsyncIterator[Client]:
    async with open_app(project, timeouts__request=9000) as opened:
        yield opened


async def test_the_clock_is_paused_while_a_loader_waits_for_its_threads(
    client: Client, autojump_clock: MockClock
) -> None:
    start = trio.current_time()
    for _ in range(10):
        loaded = await client.load_page("/")
        assert (loaded.status, loaded.data) == (200, {"now": start})


async def test_the_clock_jumps_where_no_thread_works(
    client: Client, autojump_clock: MockClock
) -> None:
    await client.load_page("/")
    start = trio.current_time()
    assert (await client.action("/", "ponder")).ok
    assert trio.current_time() == start + 3600


async def test_a_thread_beside_something_that_sleeps_is_waited_for(
    client: Client, autojump_clock: MockClock
) -> None:
    order = []
    release = threading.Event()

    async def sleep() -> None:
        await trio.sleep(1)
        order.append("sleeper")

    def work() -> None:
        release.wait(20)
        order.append("thread")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(sleep)
        enqueue(work)
        await trio.testing.wait_all_tasks_blocked(0.02)  # seconds of the real clock
        assert order == []
        release.set()
    assert order == ["thread", "sleeper"]


async def test_a_thread_that_waits_for_the_clock_is_not_waited_for_forever(
    client: Client, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "THRESHOLD", 0.05)
    await trio.to_thread.run_sync(trio.from_thread.run, trio.sleep, 1000)
    assert trio.current_time() == 1000


async def test_an_abandoned_thread_is_not_waited_for(
    client: Client, autojump_clock: MockClock
) -> None:
    release = threading.Event()
    try:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(
                    lambda: trio.to_thread.run_sync(release.wait, 20, abandon_on_cancel=True)
                )
                await trio.testing.wait_all_tasks_blocked()
                scope.cancel()
        await trio.sleep(1000)
    finally:
        release.set()
    assert trio.current_time() == 1000


async def test_the_clock_is_as_before_after_the_app(
    project: Path, autojump_clock: MockClock
) -> None:
    autojump_clock.autojump_threshold = 0.001
    async with open_app(project) as outer, open_app(project) as inner:
        assert (await outer.load_page("/")).status == (await inner.load_page("/")).status == 200
    assert autojump_clock.autojump_threshold == 0.001
    await trio.sleep(100)


async def test_a_clock_that_does_not_jump_by_itself_is_left_alone(
    project: Path, mock_clock: MockClock
) -> None:
    async with open_app(project) as client:
        assert (await client.load_page("/")).data == {"now": 0}
        mock_clock.jump(50)
        assert (await client.load_page("/")).data == {"now": 50}
        assert mock_clock.autojump_threshold == float("inf")


class Slow(NoRender):
    """Answers when a thread of the test's own, which no task waits for, says so."""

    async def render(self, page: int, payload: bytes) -> Rendered:
        answered = trio.Event()
        token = trio.lowlevel.current_trio_token()
        threading.Timer(0.05, token.run_sync_soon, [answered.set]).start()
        await answered.wait()
        return Rendered(b"", b"<p>rendered</p>")


async def test_the_clock_is_paused_while_a_page_is_rendered(
    project: Path, autojump_clock: MockClock
) -> None:
    @asynccontextmanager
    async def open_renderer() -> AsyncIterator[Renderer]:
        yield Slow()

    async with open_app(project, open_renderer=open_renderer) as client:
        response = await client.get("/")
    assert (response.status, trio.current_time()) == (200, 0)
    assert "<p>rendered</p>" in response.text


async def test_a_process_that_does_not_end_with_the_app_is_killed_in_its_time(
    project: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "THRESHOLD", 0.05)
    ended = trio.Event()

    @asynccontextmanager
    async def open_renderer() -> AsyncIterator[Renderer]:
        yield NoRender()
        with trio.move_on_after(5) as grace:
            await ended.wait()
        assert grace.cancelled_caught  # and the process is killed

    async with open_app(project, open_renderer=open_renderer) as client:
        await client.get("/")
    assert trio.current_time() >= 5


@pytest.mark.node
async def test_pages_are_rendered_in_node_under_a_mock_clock(
    project: Path, autojump_clock: MockClock
) -> None:
    async with open_app(project, render=True) as client:
        response = await client.get("/")
        assert response.status == 200
        assert '<div id="fx-root"><' in response.text  # with something in it
        assert trio.current_time() < 3600
