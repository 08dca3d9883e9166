"""The mutable state of an app: whether it runs, and with which resources."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import trio
from starlette.types import ASGIApp, Receive, Scope, Send

from fxtrio.context import RequestContext, current, running_here
from fxtrio.errors import AppNotRunning
from fxtrio.receive_budget import process_unreceived
from fxtrio.send_budget import process_unsent
from fxtrio.serve.cache.response_cache import ResponseCache
from fxtrio.serve.cache.static_pages import StaticPages
from fxtrio.serve.pages.resources import Running


class Lifetime(msgspec.Struct, eq=False):
    """Set by the application's lifespan, which owns it; read by the dispatcher."""

    running: Running | None = None
    """None before the lifespan has begun and after it has ended."""

    cache: ResponseCache | None = None
    """Caches the responses of pages with ``CACHE``; None in development."""

    static: StaticPages | None = None
    """The pages that the build has rendered; None in development."""

    ready: bool = False
    """Whether `/readyz` reports ready; False again as soon as the shutdown begins."""

    @contextmanager
    def serving(
        self, running: Running, cache: ResponseCache | None, static: StaticPages | None
    ) -> Iterator[None]:
        """Let requests be served with ``running`` for as long as the block lasts."""
        self.running, self.cache, self.static, self.ready = running, cache, static, True
        process_unsent.capacity = running.app.config.limits.unsent
        process_unreceived.capacity = running.app.config.limits.messages
        try:
            with running_here(running.app, trio.lowlevel.current_trio_token()):
                yield
        finally:
            self.running, self.cache, self.static, self.ready = None, None, None, False


class Entered:
    """Lets middleware belong to the app, as what it is wrapped around does."""

    def __init__(self, app: ASGIApp, lifetime: Lifetime) -> None:
        self._app = app
        self._lifetime = lifetime

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or WebSocket. Raises AppNotRunning."""
        running = self._lifetime.running
        if running is None:
            raise AppNotRunning
        token = current.set(RequestContext(running.app, scope=scope))
        try:
            await self._app(scope, receive, send)
        finally:
            current.reset(token)
