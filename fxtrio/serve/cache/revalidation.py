"""One anonymous request to a page, for all who ask for it at the same time.

It belongs to the app, not to the request that began it: it goes on while anybody waits,
and ends when nobody does. One in the background makes a stale response anew.
"""

from __future__ import annotations

import logging

import attrs
import trio
from starlette.types import ASGIApp, Message, Scope

from fxtrio.application_errors import application_error
from fxtrio.serve.cache.keys import Key
from fxtrio.serve.cache.public_audience import Everyone
from fxtrio.tracebacks import trimmed

log = logging.getLogger("fx.serve")


@attrs.define(eq=False)
class Revalidation:
    """A stored response in the making. Made and settled by `ResponseCache`."""

    key: Key
    source: str
    """The page file, for messages."""

    audience: Everyone
    background: bool
    """Whether nobody needs to wait for it."""

    waiting: int = attrs.field(default=0, init=False)
    failed: bool = attrs.field(default=False, init=False)
    """Whether it came to nothing: middleware raised, or its time was over."""

    _scope: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    _done: trio.Event = attrs.field(factory=trio.Event, init=False)

    async def request(self, app: ASGIApp, scope: Scope, *, deadline: float) -> None:
        """Request the page through all of the app's middleware, as a client would."""
        self._scope.deadline = deadline
        try:
            with self._scope:
                await app(scope, _stay, _discard)
        except BaseException as raised:  # the application's middleware
            error = application_error(raised)
            log.error("%s: the page could not be cached", self.source, exc_info=trimmed(error))
            self.failed = True
        self.failed = self.failed or self._scope.cancelled_caught

    def finish(self) -> None:
        """Let all go on who wait."""
        self._done.set()

    async def wait(self) -> None:
        """Wait until it has finished; when the last one gives up, it ends."""
        self.waiting += 1
        try:
            await self._done.wait()
        finally:
            self.waiting -= 1
            if self.abandoned:
                self._scope.cancel("nobody waits for it any more")

    @property
    def abandoned(self) -> bool:
        """Whether nobody waits for it, and nobody ever will."""
        return not self.waiting and not self.background


async def _stay() -> Message:
    """Receive for a client that never leaves."""
    await trio.sleep_forever()
    raise AssertionError("unreachable")


async def _discard(message: Message) -> None:
    """Send for a client that has no use for what it gets."""
