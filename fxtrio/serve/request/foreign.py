"""What others' code must not parse: Starlette's own requests, in routes and middleware.

They decode forms in whatever charset the client names, and cookies in quadratic time.
"""

from __future__ import annotations

from collections.abc import Iterable

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from fxtrio.errors import ActionError, BadBody
from fxtrio.http1.fields import Header
from fxtrio.serve.request.forms import MULTIPART, URLENCODED, media_type, options_of

MOST_ESCAPES = 200
"""Backslashes in the cookies of requests that others' code parses, in quadratic time (count)."""


def require_plain(headers: Iterable[Header]) -> None:
    """Refuse what Starlette's own request, in a route or middleware, must not parse.

    Every line counts: of two types Starlette reads the first, and of cookies all. Raises
    CharsetRefused (415) for a form or JSON that is not UTF-8, and BadBody for
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
    """Stands before middleware, and answers what `require_plain` refuses."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let the app do so. A WebSocket is refused at the handshake."""
        try:
            require_plain(scope.get("headers", ()))
        except ActionError as error:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
                return
            answer = JSONResponse({"ok": False, "error": error.message}, error.status_code)
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)
