"""A dispatcher whose place another one can take, between two requests. For development only."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec
import trio
from starlette.types import ASGIApp, Receive, Scope, Send

from fxtrio.routes.matched import SCOPE_KEY, MatchedRoute

_SERVICE_RESTART = 1012  # RFC 6455's registry: come again


class _Socket(msgspec.Struct, frozen=True, eq=False):
    scope: Scope
    handling: trio.CancelScope

    @property
    def source(self) -> str | None:
        """The file whose code handles it; None when that is no page's."""
        matched = self.scope.get(SCOPE_KEY)
        return matched.source if isinstance(matched, MatchedRoute) else None


class Replaceable:
    """Passes requests to a dispatcher; those under way end with the one they have begun with."""

    def __init__(self, dispatcher: ASGIApp) -> None:
        self._dispatcher = dispatcher
        self._sockets: dict[_Socket, None] = {}  # in order, which a set has not

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or WebSocket."""
        if scope["type"] == "websocket":
            await self._handle(scope, receive, send)
        else:
            await self._dispatcher(scope, receive, send)

    def replace(self, dispatcher: ASGIApp, sources: Collection[str]) -> None:
        """Use ``dispatcher`` from now on.

        WebSockets that code of ``sources`` handles are closed with 1012, since their handlers
        run code that the files no longer have; clients reconnect. All others go on with the code
        that they have begun with.
        """
        self._dispatcher = dispatcher
        for socket in tuple(self._sockets):
            if socket.source in sources:
                socket.handling.cancel("its page has been replaced")

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        with trio.CancelScope() as handling:
            socket = _Socket(scope, handling)
            self._sockets[socket] = None
            try:
                await self._dispatcher(scope, receive, send)
            finally:
                self._sockets.pop(socket, None)
        if handling.cancelled_caught:
            closing: dict[str, Any] = {"type": "websocket.close", "code": _SERVICE_RESTART}
            await send(closing)
