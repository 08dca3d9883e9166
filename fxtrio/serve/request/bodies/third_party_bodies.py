"""What others' code must not parse: Starlette's own requests, in routes and middleware.

They decode forms in whatever charset the client names, and cookies in quadratic time.
"""

from __future__ import annotations

from collections.abc import Iterable

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fxtrio.errors import ActionError, BadBody
from fxtrio.serve.request.bodies.forms import MULTIPART, URLENCODED, media_type, options_of
from fxtrio.serve.request.response.translated import failure_response
from fxtrio.serve.request.response.unwrap import require_status
from fxtrio.server.header_fields import Header

MOST_ESCAPES = 200
"""Backslashes in the cookies of requests that others' code parses, in quadratic time (count)."""


def require_plain(headers: Iterable[Header]) -> None:
    """Reject headers that Starlette's own request, in a route or middleware, must not parse.

    Every header line is checked: Starlette reads the first of two types, and all cookies.
    Raises CharsetUnsupported (415) for a form or JSON that is not UTF-8, and BadBody for
    cookies with more than `MOST_ESCAPES`.
    """
    escapes = 0
    for name, value in headers:
        if name == b"cookie":
            escapes += value.count(b"\\")
        elif name == b"content-type" and b"charset" in value.lower():
            text = value.decode("latin-1")
            if media_type(text) in (MULTIPART, URLENCODED, "application/json"):
                options_of(text)
    if escapes > MOST_ESCAPES:
        raise BadBody(f"The cookies have more than {MOST_ESCAPES} backslashes.")


class PlainOnly:
    """Middleware that responds to requests which `require_plain` rejects."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond, or call the app. A WebSocket is rejected at the handshake."""
        begun = False

        async def noting(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            require_plain(scope.get("headers", ()))
            await self._app(scope, receive, noting)
        except (ActionError, HTTPException) as error:  # also of middleware that reads a body
            if begun:
                raise
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
                return
            message = error.message if isinstance(error, ActionError) else error.detail
            status = require_status(error.status_code, "middleware")
            await failure_response(message, status)(scope, receive, send)
