"""Work that follows a response: in the app's nursery, each task apart from the others."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import trio
from starlette.background import BackgroundTask

from fxtrio.tracebacks import trimmed

log = logging.getLogger("fx.serve")


class Background:
    """Runs the tasks of responses. Made by `open_background`."""

    def __init__(self, nursery: trio.Nursery, capacity: int) -> None:
        self._nursery = nursery
        self._capacity = capacity
        self._running = 0
        self._idle = trio.lowlevel.ParkingLot()

    async def run(self, tasks: Sequence[BackgroundTask]) -> None:
        """Run ``tasks`` one after the other, without the caller waiting for them.

        When as many responses as the capacity have work under way, the caller
        does wait: its connection is what slows down then.
        """
        crowded = self._running >= self._capacity
        done = self.start(tasks)
        if crowded:
            await done.wait()

    def start(self, tasks: Sequence[BackgroundTask]) -> trio.Event:
        """Run ``tasks`` whatever the capacity, also when the caller is cancelled.

        Returns what is set once they are done.
        """
        done = trio.Event()
        if tasks:
            self._nursery.start_soon(self._work, tasks, done, name="serve.background")
        else:
            done.set()
        return done

    async def _work(self, tasks: Sequence[BackgroundTask], done: trio.Event) -> None:
        self._running += 1
        try:
            for task in tasks:
                try:
                    await task()
                except (Exception, SystemExit) as error:  # application code
                    name = getattr(task.func, "__qualname__", repr(task.func))
                    log.error("background task %s failed", name, exc_info=trimmed(error))
        finally:
            done.set()
            self._running -= 1
            if not self._running:
                self._idle.unpark_all()

    async def drain(self, timeout: float) -> None:
        """Wait until no work is under way, ``timeout`` seconds at most."""
        with trio.move_on_after(timeout):
            while self._running:
                await self._idle.park()


@asynccontextmanager
async def open_background(*, capacity: int) -> AsyncIterator[Background]:
    """Run work of responses for as long as the block lasts; what is left then is cut off."""
    async with trio.open_nursery() as nursery:
        background = Background(nursery, capacity)
        yield background
        if background._running:
            log.error("%d responses' background tasks were cut off", background._running)
        nursery.cancel_scope.cancel()
