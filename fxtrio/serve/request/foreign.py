"""What others' code must not parse: Starlette's own requests, in routes and middleware.

They decode forms in whatever charset the client names, and cookies in quadratic time.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from fxtrio.errors import ActionError, BadBody
from fxtrio.serve.request.forms import MULTIPART, URLENCODED, media_type, options_of

MOST_ESCAPES = 200
"""Backslashes in the cookies of requests that others' code parses, in quadratic time (count)."""


def require_plain(headers: Mapping[bytes, bytes]) -> None:
    """Refuse what Starlette's own request, in a route or middleware, must not parse.

    Raises CharsetRefused (415) for a form or JSON that is not UTF-8, and BadBody for
    cookies with more than `MOST_ESCAPES`.
    """
    content_type = headers.get(b"content-type")
    if content_type is not None and b"charset" in content_type.lower():
        text = content_type.decode("latin-1")
        if media_type(text) in (MULTIPART, URLENCODED, "application/json"):
            options_of(text)
    cookies = headers.get(b"cookie")
    if cookies is not None and cookies.count(b"\\") > MOST_ESCAPES:
        raise BadBody(f"The cookies have more than {MOST_ESCAPES} backslashes.")


class PlainOnly:
    """Stands before middleware, and answers what `require_plain` refuses."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let the app do so. A WebSocket is refused at the handshake."""
        try:
            require_plain(dict(scope.get("headers", ())))
        except ActionError as error:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
                return
            answer = JSONResponse({"ok": False, "error": error.message}, error.status_code)
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)
