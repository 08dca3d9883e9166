"""Application code may raise anything, wherever it is called: only that call has failed.

The places are those without a request: jobs, tasks, schedules, plugins, what follows a commit.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio
from starlette.background import BackgroundTask
from trio.testing import MockClock, wait_all_tasks_blocked

from fx.jobs import job
from fxtrio.app_handle import App
from fxtrio.callables import contain
from fxtrio.config import Config
from fxtrio.plugins import NoSettings, Plugin, open_plugins
from fxtrio.plugins.protocol import PluginFailed
from fxtrio.serve.request.response.background import open_background
from fxtrio.tasks import open_task_queue
from tests.db.engines import opened
from tests.jobs.running import rows, running


class CancelledByLibrary(BaseException):
    """As that of asyncio, which is no `Exception`."""


def raising(error: BaseException) -> Callable[[], Awaitable[None]]:
    async def fail() -> None:
        await trio.lowlevel.checkpoint()
        raise error

    return fail


async def exit_in_a_child() -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep_forever)
        nursery.start_soon(raising(SystemExit(3)))


async def keep_a_cancellation() -> trio.Cancelled:
    """Return the `Cancelled` of a scope that has ended."""
    caught: list[trio.Cancelled] = []
    with trio.CancelScope() as scope:
        scope.cancel()
        try:
            await trio.sleep_forever()
        except trio.Cancelled as error:
            caught.append(error)
    return caught[0]


async def raise_a_cancellation_of_elsewhere() -> None:
    raise await keep_a_cancellation()


async def raise_a_group_with_a_cancellation_of_elsewhere() -> None:
    raise BaseExceptionGroup("several", [await keep_a_cancellation(), ValueError("other")])


ERRORS: dict[str, Callable[[], Awaitable[None]]] = {
    "an exception": raising(ValueError("no")),
    "sys.exit": raising(SystemExit(3)),
    "sys.exit in a child": exit_in_a_child,
    "cancelled by a library": raising(CancelledByLibrary()),
    "Ctrl+C": raising(KeyboardInterrupt()),
    "the end of a generator": raising(GeneratorExit()),
    "the end of an iteration": raising(StopAsyncIteration()),
    "a cancellation of elsewhere": raise_a_cancellation_of_elsewhere,
    "a group with a cancellation": raise_a_group_with_a_cancellation_of_elsewhere,
    "a group of all": raising(
        BaseExceptionGroup("all", [KeyboardInterrupt(), GeneratorExit(), CancelledByLibrary()])
    ),
}


async def leave_a_nursery_open() -> None:
    nursery = await trio.open_nursery().__aenter__()
    nursery.start_soon(trio.sleep_forever)


async def leave_a_cancelled_scope_open() -> None:
    trio.CancelScope().__enter__().cancel()


async def cancel_the_nursery_around() -> None:
    nursery = trio.lowlevel.current_task().parent_nursery
    assert nursery is not None
    nursery.cancel_scope.cancel()
    await trio.lowlevel.checkpoint()


DISORDER = {
    "an open nursery": leave_a_nursery_open,
    "the nursery around": cancel_the_nursery_around,
}


def each(table: dict[str, Any]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("fail", table.values(), ids=table)


@each(ERRORS | DISORDER)
async def test_a_contained_error_is_a_value(fail: Callable[[], Awaitable[None]]) -> None:
    assert await contain(fail) is not None
    assert await contain(trio.lowlevel.checkpoint) is None


async def test_a_scope_that_is_left_open_touches_nobody_else() -> None:
    assert await contain(leave_a_cancelled_scope_open) is None
    assert await contain(trio.lowlevel.checkpoint) is None


async def test_the_cancellation_of_who_calls_passes(autojump_clock: MockClock) -> None:
    ended = []

    async def end_all_the_same() -> None:
        with trio.CancelScope(shield=True):
            await trio.sleep(2)

    with trio.move_on_after(1) as scope:
        ended.append(await contain(end_all_the_same))
        await contain(trio.sleep_forever)
    with trio.move_on_after(1) as other:
        await contain(trio.sleep_forever)

    assert ended == [None]  # what has ended is not forgotten for a cancellation that came late
    assert scope.cancelled_caught and other.cancelled_caught


@each({**ERRORS, "the nursery around": cancel_the_nursery_around})
@pytest.mark.parametrize("atomic", [False, True], ids=["plain", "atomic"])
async def test_a_durable_job_has_failed(
    fail: Callable[[], Awaitable[None]], atomic: bool, tmp_path: Path, autojump_clock: MockClock
) -> None:
    @job(retries=1, atomic=atomic)
    async def broken() -> None:
        await fail()

    @job()
    async def sound() -> None: ...

    async with opened("memory", tmp_path) as database:
        async with running(database, broken, sound, workers=1) as runner:
            await broken.enqueue()
            await trio.sleep(10)
            await sound.enqueue()
            await trio.sleep(1)
            assert runner.statistics().failed == 1
        assert await rows(database, "state, attempts") == [
            {"state": "failed", "attempts": 2},
            {"state": "done", "attempts": 1},
        ]


async def test_a_durable_job_that_leaves_a_nursery_open_has_failed(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    @job(retries=0)
    async def broken() -> None:
        await leave_a_nursery_open()

    async with opened("memory", tmp_path) as database, running(database, broken) as runner:
        await broken.enqueue()
        await trio.sleep(10)
        assert runner.statistics().failed == 1


@pytest.mark.parametrize("error", [SystemExit(), KeyboardInterrupt(), CancelledByLibrary()])
async def test_a_durable_job_in_a_thread_has_failed(error: BaseException, tmp_path: Path) -> None:
    @job(retries=0)
    def broken() -> None:
        raise error

    with trio.fail_after(30):
        async with opened("file", tmp_path) as database:
            async with running(database, broken) as runner:
                await broken.enqueue()
                while not runner.statistics().failed:  # noqa: ASYNC110  # no event tells
                    await trio.sleep(0.01)


@each(ERRORS)
async def test_a_task_has_failed(fail: Callable[[], Awaitable[None]]) -> None:
    ended = trio.Event()

    async def sound() -> None:
        ended.set()

    async with open_task_queue(capacity=9, workers=1, drain_timeout=9) as queue:
        queue.enqueue(fail)
        queue.enqueue(sound)
        await ended.wait()
        await wait_all_tasks_blocked()
        assert (queue.statistics().failed, queue.statistics().completed) == (1, 1)


@each(ERRORS | DISORDER)
async def test_the_work_after_a_response_has_failed(
    fail: Callable[[], Awaitable[None]], caplog: pytest.LogCaptureFixture
) -> None:
    ended = trio.Event()

    async def sound() -> None:
        ended.set()

    async with open_background(capacity=9) as background:
        await background.run([BackgroundTask(fail), BackgroundTask(sound)])
        await ended.wait()
        await wait_all_tasks_blocked()
    assert "background task" in caplog.text


@pytest.mark.parametrize("error", [SystemExit(), KeyboardInterrupt(), CancelledByLibrary()])
async def test_what_follows_a_commit_has_failed(error: BaseException, tmp_path: Path) -> None:
    called: list[int] = []

    def broken() -> None:
        raise error

    async with opened("memory", tmp_path) as database:
        async with database.transaction():
            await database.execute("create table notes (n integer)")
            database.after_commit(broken)
            database.after_commit(called.append, 1)

    assert called == [1]


@each({name: fail for name, fail in ERRORS.items() if name != "Ctrl+C"})
@pytest.mark.parametrize("when", ["start", "stop"])
async def test_a_plugin_has_failed_and_is_named(
    fail: Callable[[], Awaitable[None]], when: str
) -> None:
    closed = []

    class Sound(Plugin[Any]):
        name = "sound"

        @asynccontextmanager
        async def open(self, app: App) -> AsyncIterator[None]:
            try:
                yield
            finally:
                closed.append(self.name)

    class Broken(Plugin[Any]):
        name = "broken"

        @asynccontextmanager
        async def open(self, app: App) -> AsyncIterator[None]:
            if when == "start":
                await fail()
            yield
            if when == "stop":
                await fail()

    nothing = cast("Any", SimpleNamespace())
    app = App(config=Config(), tasks=nothing, broker=nothing, state=nothing)
    plugins = [cls(NoSettings(), config=Config(), root=Path()) for cls in (Sound, Broken)]
    with pytest.raises(PluginFailed, match=f"broken.*could not {when}"):
        async with open_plugins(plugins, app):
            pass
    assert closed == ["sound"]
