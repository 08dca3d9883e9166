"""One anonymous request to a page that concurrent requests share.

The app owns it, not the request that started it: it runs while any request waits, and is
cancelled when none does. In the background it replaces a stale response.
"""

from __future__ import annotations

import logging

import msgspec
import trio
from starlette.types import ASGIApp, Message, Scope

from fxtrio.application_errors import application_error
from fxtrio.serve.cache.keys import Key
from fxtrio.serve.cache.public_audience import PublicAudience
from fxtrio.tracebacks import trimmed

log = logging.getLogger("fx.serve")


class Revalidation(msgspec.Struct, eq=False):
    """A cached response that is being rendered. Created and stored by `ResponseCache`."""

    key: Key
    source: str
    """The page file, for messages."""

    audience: PublicAudience
    background: bool
    """Whether it runs without a waiting request."""

    waiting: int = 0
    failed: bool = False
    """Whether it failed: middleware raised, or it timed out."""

    _scope: trio.CancelScope = msgspec.field(default_factory=trio.CancelScope)
    _done: trio.Event = msgspec.field(default_factory=trio.Event)

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
        """Wake all waiting requests."""
        self._done.set()

    async def wait(self) -> None:
        """Wait until it has finished; it is cancelled when the last waiting request is."""
        self.waiting += 1
        try:
            await self._done.wait()
        finally:
            self.waiting -= 1
            if self.abandoned:
                self._scope.cancel("nobody waits for it any more")

    @property
    def abandoned(self) -> bool:
        """Whether no request waits for it, or ever will."""
        return not self.waiting and not self.background


async def _stay() -> Message:
    """ASGI ``receive`` of a client that never disconnects."""
    await trio.sleep_forever()
    raise AssertionError("unreachable")


async def _discard(message: Message) -> None:
    """ASGI ``send`` that discards the response."""
