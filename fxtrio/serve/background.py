"""Work that follows a response: in the app's nursery, each task apart from the others."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import trio
from starlette.background import BackgroundTask

log = logging.getLogger("fx.serve")


class Background:
    """Runs the tasks of responses. Made by `open_background`."""

    def __init__(self, nursery: trio.Nursery, capacity: int) -> None:
        self._nursery = nursery
        self._capacity = capacity
        self._running = 0

    async def run(self, tasks: Sequence[BackgroundTask]) -> None:
        """Run ``tasks`` one after the other, without the caller waiting for them.

        When as many responses as the capacity have work under way, the caller
        does wait: its connection is what slows down then.
        """
        if not tasks:
            return
        if self._running >= self._capacity:
            await self._work(tasks)
            return
        self._nursery.start_soon(self._work, tasks, name="serve.background")

    async def _work(self, tasks: Sequence[BackgroundTask]) -> None:
        self._running += 1
        try:
            for task in tasks:
                try:
                    await task()
                except (Exception, SystemExit):  # application code
                    name = getattr(task.func, "__qualname__", repr(task.func))
                    log.exception("background task %s failed", name)
        finally:
            self._running -= 1


@asynccontextmanager
async def open_background(*, capacity: int, grace: float) -> AsyncIterator[Background]:
    """Run work of responses for as long as the block lasts, and ``grace`` seconds longer."""
    async with trio.open_nursery() as nursery:
        yield Background(nursery, capacity)
        nursery.cancel_scope.deadline = trio.current_time() + grace
    if nursery.cancel_scope.cancelled_caught:
        log.error("background tasks of responses were cut off after %g s", grace)
