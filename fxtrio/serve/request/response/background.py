"""Work that follows a response: in the app's nursery, each task apart from the others."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager

import trio
from starlette.background import BackgroundTask

from fxtrio.callables import contain
from fxtrio.errors import ValueInvalid, described
from fxtrio.tracebacks import trimmed

log = logging.getLogger("fx.serve")


class BackgroundInvalid(ValueInvalid):
    """An action promised work that cannot be called."""

    remedy = "Return [function, *arguments], or call add_task(function, *arguments)"

    def __init__(self, place: str, value: object) -> None:
        super().__init__(place, f"the background task is {described(value)}")


def background_task(shorthand: object, place: str) -> BackgroundTask:
    """Return the task that ``{"background": …}`` of an action means. Raises BackgroundInvalid."""
    if isinstance(shorthand, (list, tuple)) and shorthand and callable(shorthand[0]):
        return BackgroundTask(*shorthand)
    raise BackgroundInvalid(place, shorthand)


def require_runnable(tasks: Iterable[BackgroundTask], place: str) -> None:
    """Raise BackgroundInvalid for a task that cannot be called."""
    for task in tasks:
        if not callable(task.func):
            raise BackgroundInvalid(place, task.func)


class Background:
    """Runs the background tasks of responses. Created by `open_background`."""

    def __init__(self, nursery: trio.Nursery, capacity: int) -> None:
        self._nursery = nursery
        self._capacity = capacity
        self._running = 0
        self._done = trio.lowlevel.ParkingLot()

    async def run(self, tasks: Sequence[BackgroundTask]) -> None:
        """Run ``tasks`` one after the other, without the caller waiting for them.

        When more responses than the capacity have running tasks, the caller waits, which
        slows down its connection. Cancelling the caller does not cancel the tasks.
        """
        self._running += 1
        self._nursery.start_soon(self._work, tasks, name="serve.background")
        while self._running > self._capacity:
            await self._done.park()

    async def _work(self, tasks: Sequence[BackgroundTask]) -> None:
        try:
            for task in tasks:
                error = await contain(task)
                if error is not None:
                    name = getattr(task.func, "__qualname__", repr(task.func))
                    log.error("background task %s failed", name, exc_info=trimmed(error))
        finally:
            self._running -= 1
            self._done.unpark_all()

    async def drain(self, timeout: float) -> None:
        """Wait until no work is under way, ``timeout`` seconds at most."""
        with trio.move_on_after(timeout):
            while self._running:
                await self._done.park()


@asynccontextmanager
async def open_background(*, capacity: int) -> AsyncIterator[Background]:
    """Run background tasks while the block lasts; its end cancels unfinished ones."""
    async with trio.open_nursery() as nursery:
        background = Background(nursery, capacity)
        yield background
        if background._running:
            log.error("cancelled the background tasks of %d responses", background._running)
        nursery.cancel_scope.cancel()
