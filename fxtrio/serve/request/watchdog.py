"""Requests under way, and the one task that notices what ends them early.

A task and a timer per request would cost more than most requests do. So
requests are only written down here; a sweeper in the app's nursery looks at
those that take long and starts a watcher for each, which ends the work when the
client leaves or the deadline passes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import attrs
import trio
from starlette.types import Receive

from fxtrio.serve.pages.code import LoaderCode

PATIENCE = 0.05
"""Age at which a request gets a watcher (seconds): far above an ordinary
request, far below the time in which a person leaves a page. Deadlines hold
with this precision."""


@attrs.define(eq=False)
class Exchange:
    """One HTTP request whose work ends when its client leaves, or at its deadline."""

    receive: Receive
    """The server's ``receive``, read by nobody else while this is written down."""

    scope: trio.CancelScope
    """Around the work; cancelled to end it."""

    deadline: float
    """When the work must have ended (`trio.current_time`)."""

    since: float
    """When the work began."""

    gone: bool = False
    """Whether the client left before the work was done."""

    culprit: LoaderCode | None = None
    """The loader whose deadline is the next one; None for the request's own."""

    done: bool = False
    """Whether the work has ended; nobody may read ``receive`` for it then."""

    watcher: trio.CancelScope | None = None

    def tighten(self, loader: LoaderCode) -> float:
        """Let the work end by the loader's deadline, if it is the earlier one.

        Returns what `relax` takes once the loader is done.
        """
        before = self.deadline
        end = trio.current_time() + loader.timeout
        if end < before:
            self.culprit = loader
            self._set(end)
        return before

    def relax(self, deadline: float) -> None:
        """Go back to the deadline that was in force before."""
        if self.culprit is not None:
            self.culprit = None
            self._set(deadline)

    def _set(self, deadline: float) -> None:
        self.deadline = deadline
        if self.watcher is not None:
            self.watcher.deadline = deadline

    async def watch(self) -> None:
        """Wait for the client to leave or the deadline to pass, then cancel the work."""
        if self.done:  # between being started and running
            return
        with trio.CancelScope(deadline=self.deadline) as self.watcher:
            while (await self.receive())["type"] != "http.disconnect":
                pass
            self.gone = True
            self.scope.cancel("the client has left")
        if self.watcher.cancelled_caught and trio.current_time() >= self.deadline:
            self.scope.cancel("the deadline has passed")


class Exchanges:
    """The requests under way, oldest first. Made by `open_exchanges`."""

    def __init__(self) -> None:
        self._under_way: dict[Exchange, None] = {}
        self._wake = trio.Event()

    def __len__(self) -> int:
        return len(self._under_way)

    def add(self, receive: Receive, scope: trio.CancelScope, *, limit: float) -> Exchange:
        """Write down a request that may take ``limit`` seconds.

        `remove` must follow in a ``finally``.
        """
        now = trio.current_time()
        exchange = Exchange(receive, scope, now + limit, now)
        if not self._under_way:
            self._wake.set()
        self._under_way[exchange] = None
        return exchange

    def remove(self, exchange: Exchange) -> None:
        """The work is done: nobody reads ``receive`` for it any more."""
        exchange.done = True
        self._under_way.pop(exchange, None)
        if exchange.watcher is not None:
            exchange.watcher.cancel()

    async def _sweep(self, nursery: trio.Nursery) -> None:
        """Give every request that takes long its watcher; runs until cancelled."""
        while True:
            if not self._under_way:
                self._wake = trio.Event()
                await self._wake.wait()
            await trio.sleep(PATIENCE)
            now = trio.current_time()
            for exchange in list(self._under_way):
                if now - exchange.since < PATIENCE:
                    break
                # Only what is not watched yet stays written down.
                del self._under_way[exchange]
                nursery.start_soon(exchange.watch, name="serve.watch")


@asynccontextmanager
async def open_exchanges() -> AsyncIterator[Exchanges]:
    """Notice clients that leave for as long as the block lasts."""
    exchanges = Exchanges()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(exchanges._sweep, nursery, name="serve.sweep")
        yield exchanges
        nursery.cancel_scope.cancel()
