"""A pytest plugin: psycopg's tests get connections of trio, and trio in place of asyncio."""

from __future__ import annotations

import inspect
import math
import threading
import tomllib
from collections.abc import Awaitable, Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import outcome
import psycopg
import pytest
import trio

from fxtrio.db.postgresql.psycopg_trio import TrioConnection

LEFT_OUT: dict[str, str] = tomllib.loads(Path(__file__).with_name("left_out.toml").read_text())

# Before a test module takes the name.
psycopg.AsyncConnection = TrioConnection


def run_here(work: Callable[[], Any], deliver: Callable[[Any], object]) -> None:
    """Wait for trio's events in the thread of the tests, which has nothing else to do.

    anyio's runner has them waited for in another one, and the objects of that come and go
    while the tests of leaks count all there are.
    """
    state = inspect.getclosurevars(deliver).nonlocals["self"]
    state.unrolled_run_next_send = outcome.capture(work)
    state.runner.guest_tick_scheduled = True
    state.run_sync_soon_not_threadsafe(state.guest_tick)


setattr(import_module("trio._core._run"), "start_thread_soon", run_here)  # noqa: B010


class Task:
    """What `asyncio.create_task` would give: waited for by `gather`, or awaited."""

    def __init__(self, work: Callable[..., Awaitable[Any]], args: tuple[Any, ...]) -> None:
        self.scope = trio.CancelScope()
        self._ended = trio.Event()
        self._outcome: outcome.Outcome[Any] | None = None
        trio.lowlevel.spawn_system_task(self._run, work, args)

    async def _run(self, work: Callable[..., Awaitable[Any]], args: tuple[Any, ...]) -> None:
        with self.scope:
            self._outcome = await outcome.acapture(work, *args)
        self._ended.set()

    def done(self) -> bool:
        return self._ended.is_set()

    def cancel(self) -> None:
        self.scope.cancel()

    async def result(self) -> Any:
        await self._ended.wait()
        assert self._outcome is not None
        return self._outcome.unwrap()

    def __await__(self) -> Iterator[Any]:
        return self.result().__await__()


class Event:
    """An event with psycopg's wait for a time."""

    def __init__(self) -> None:
        self._event = trio.Event()
        self.set, self.is_set, self.wait = self._event.set, self._event.is_set, self._event.wait

    async def wait_timeout(self, timeout: float) -> bool:
        with trio.move_on_after(timeout):
            await self.wait()
        return self.is_set()


class Queue:
    """What psycopg's tests use of `asyncio.Queue`."""

    def __init__(self, maxsize: int = 0) -> None:
        self._send, self._receive = trio.open_memory_channel[Any](maxsize or math.inf)

    async def put(self, value: Any) -> None:
        await self._send.send(value)

    def put_nowait(self, value: Any) -> None:
        self._send.send_nowait(value)

    async def get(self) -> Any:
        return await self._receive.receive()

    def get_nowait(self) -> Any:
        return self._receive.receive_nowait()

    def empty(self) -> bool:
        return self._receive.statistics().current_buffer_used == 0


def spawn(work: Callable[..., Any], args: tuple[Any, ...] = ()) -> Any:
    """Start a task for a coroutine function, a thread for another one."""
    if inspect.iscoroutinefunction(work):
        return Task(work, tuple(args))
    thread = threading.Thread(target=work, args=args, daemon=True)
    thread.start()
    return thread


def gather(*tasks: Any, return_exceptions: bool = False, timeout: float = 10) -> Any:
    """Wait for tasks or threads."""
    if tasks and isinstance(tasks[0], threading.Thread):
        for thread in tasks:
            thread.join(timeout)
            assert not thread.is_alive()
        return None

    async def wait() -> list[Any]:
        results: list[Any] = []
        with trio.fail_after(timeout):
            for task in tasks:
                try:
                    results.append(await task)
                except Exception as error:
                    if not return_exceptions:
                        raise
                    results.append(error)
        return results

    return wait()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Put trio into the one module through which psycopg's tests use asyncio."""
    acompat = import_module("tests.acompat")  # psycopg's
    for name, value in {
        "spawn": spawn,
        "gather": gather,
        "asleep": trio.sleep,
        "AEvent": Event,
        "AQueue": Queue,
        "is_alive": lambda task: task.is_alive() if hasattr(task, "is_alive") else not task.done(),
    }.items():
        setattr(acompat, name, value)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the asynchronous tests, but those that are left out with a reason."""
    selected: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        place = item.nodeid.removeprefix("tests/")
        function = getattr(item, "function", None)
        code = getattr(function, "__code__", None)
        is_async = code is not None and code.co_flags & inspect.CO_COROUTINE
        out = not is_async or any(place.startswith(start) for start in LEFT_OUT)
        (left if out else selected).append(item)
    items[:] = selected
    config.hook.pytest_deselected(items=left)
