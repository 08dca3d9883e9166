"""The asyncio portal: one loop, bounded, cancelled from both sides, closed at the end."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

import fx.asyncio
from fx.testing import open_app
from fxtrio import asyncio_portal as portal_module
from fxtrio.asyncio_portal import (
    AsyncioPortal,
    PortalCallCancelled,
    PortalNotRunning,
    open_portal,
    portal,
)
from tests.trees import page, write_tree

colour = contextvars.ContextVar("colour", default="none")


@pytest.fixture
async def opened() -> AsyncIterator[AsyncioPortal]:
    with trio.fail_after(60):
        async with open_portal() as calls:
            yield calls
    assert threads() == []


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "fx.asyncio"]


async def count_tasks() -> int:
    """Return how many tasks the loop has beside its own and the two of this call."""
    return len(asyncio.all_tasks()) - 3


async def test_a_call_runs_on_one_loop_in_one_thread(opened: AsyncioPortal) -> None:
    async def look() -> tuple[int, int]:
        await asyncio.sleep(0)
        return id(asyncio.get_running_loop()), threading.get_ident()

    assert threads() == []  # until it is needed
    first = await opened.call(look)
    assert await opened.call(look) == first
    assert first[1] != threading.get_ident()
    assert len(threads()) == 1


async def test_calls_that_begin_together_start_one_loop(opened: AsyncioPortal) -> None:
    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(opened.call, count_tasks)
    assert len(threads()) == 1


async def test_exceptions_and_context_are_carried(opened: AsyncioPortal) -> None:
    async def fail() -> None:
        await asyncio.sleep(0)
        raise KeyError(colour.get())

    colour.set("red")
    with pytest.raises(KeyError, match="red") as caught:
        await opened.call(fail)
    assert caught.traceback[-1].name == "fail"


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
async def test_no_call_takes_the_loop_down(opened: AsyncioPortal, error: BaseException) -> None:
    async def end() -> None:
        raise error

    with pytest.raises(type(error)):
        await opened.call(end)
    assert await opened.call(count_tasks) == 0


async def test_who_is_cancelled_waits_until_the_call_has_ended(opened: AsyncioPortal) -> None:
    order: list[str] = []
    began = trio.Event()
    token = trio.lowlevel.current_trio_token()

    async def linger() -> None:
        token.run_sync_soon(began.set)
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0.01)
            order.append("cleaned up")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(opened.call, linger)
        await began.wait()
        nursery.cancel_scope.cancel()
    order.append("went on")
    assert order == ["cleaned up", "went on"]


async def test_what_a_clean_up_raises_is_not_lost(opened: AsyncioPortal) -> None:
    token, scope = trio.lowlevel.current_trio_token(), trio.CancelScope()

    async def linger() -> None:
        try:
            token.run_sync_soon(scope.cancel)
            await asyncio.sleep(3600)
        finally:
            raise ValueError("of the clean-up")

    with pytest.raises(ValueError, match="of the clean-up"):
        with scope:
            await opened.call(linger)


async def test_a_call_that_is_cancelled_over_there_is_an_error_here(opened: AsyncioPortal) -> None:
    async def cancel_itself() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(3600)

    with pytest.raises(PortalCallCancelled, match="cancel_itself"):
        await opened.call(cancel_itself)
    assert await opened.call(count_tasks) == 0


async def test_a_thousand_cancelled_calls_leave_no_task_and_no_thread(
    opened: AsyncioPortal,
) -> None:
    began = ended = 0

    async def linger() -> None:
        nonlocal began, ended
        began += 1
        try:
            await asyncio.gather(asyncio.sleep(3600), asyncio.sleep(3600))
        finally:
            ended += 1

    async def call() -> None:
        await opened.call(linger)

    for turn in range(1, 11):
        async with trio.open_nursery() as nursery:
            for _ in range(100):
                nursery.start_soon(call)
            while began < 100 * turn:  # noqa: ASYNC110  # counted in another thread
                await trio.sleep(0.001)
            nursery.cancel_scope.cancel()
    assert began == ended == 1000
    assert (opened.calls, await opened.call(count_tasks), len(threads())) == (0, 0, 1)


async def test_a_call_that_ignores_its_cancellation_is_left_alone(
    opened: AsyncioPortal, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(portal_module, "STOP_TIMEOUT", 0.05)
    release = threading.Event()

    async def block() -> None:
        release.wait(20)

    with trio.move_on_after(0.01) as scope:
        await opened.call(block)
    assert scope.cancelled_caught
    assert "block ignores its cancellation" in caplog.text
    release.set()
    while await opened.call(count_tasks):  # noqa: ASYNC110  # the fixture has a deadline
        await trio.sleep(0.001)


async def test_calls_beyond_the_capacity_wait_and_may_be_cancelled_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(portal_module, "CAPACITY", 2)
    release = threading.Event()
    done = 0

    async def wait() -> None:
        while not release.is_set():  # noqa: ASYNC110  # an event of threads
            await asyncio.sleep(0.001)

    async with open_portal() as calls, trio.open_nursery() as nursery:

        async def call() -> None:
            nonlocal done
            await calls.call(wait)
            done += 1

        for _ in range(5):
            nursery.start_soon(call)
        await wait_all_tasks_blocked(0.02)
        assert calls.calls == 2
        with trio.move_on_after(0.01) as scope:
            await calls.call(wait)
        assert scope.cancelled_caught
        release.set()
    assert done == 5


async def test_the_end_of_the_block_cancels_what_still_runs() -> None:
    ended = []

    async def linger() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(True)

    async def background() -> None:
        asyncio.create_task(linger(), name="left behind")  # noqa: RUF006  # as a library would
        await asyncio.sleep(0)

    async with open_portal() as calls:
        await calls.call(background)
    assert ended == [True]
    assert threads() == []
    with pytest.raises(PortalNotRunning):
        await calls.call(count_tasks)


async def test_outside_an_app_there_is_no_loop() -> None:
    with pytest.raises(PortalNotRunning, match="no app of fxtrio runs here"):
        await portal(count_tasks)


async def test_a_coroutine_in_place_of_its_function_is_rejected_and_closed() -> None:
    with pytest.raises(TypeError, match=r"portal\(count_tasks, …\)"):
        await portal(count_tasks())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not 'x'"):
        await portal("x")  # type: ignore[arg-type]


PAGE = """
    import asyncio

    import trio
    from fx.asyncio import portal
    from fx.tasks import enqueue

    async def add(first, *, second):
        await asyncio.sleep(0.001)
        enqueue(noted.append, first)
        return first + second

    noted = []

    @server
    async def load(request):
        return {"sum": await portal(add, 1, second=2), "now": trio.current_time()}

    @action
    async def thread(request):
        def work():
            return trio.from_thread.run(lambda: portal(add, 3, second=4))
        return {"sum": await trio.to_thread.run_sync(work)}
    """


async def test_the_code_of_an_app_calls_through_its_portal(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(PAGE)})
    async with open_app(tmp_path) as client:
        assert (await client.load_page("/")).data == {"sum": 3, "now": 0}
        assert (await client.action("/", "thread")).data == {"sum": 7}
        assert len(threads()) == 1
        assert await portal(count_tasks) == 0
    assert threads() == []


async def test_an_app_that_needs_no_loop_has_no_thread(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page("")})
    async with open_app(tmp_path):
        assert threads() == []


def test_it_is_in_fx_asyncio() -> None:
    assert fx.asyncio.portal is portal
