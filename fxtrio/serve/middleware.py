"""Middleware around the app: how it is created, and the outermost layer around it.

That layer responds to failures, which never stop the server.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fxtrio.application_errors import application_error, leave_to_server
from fxtrio.errors import ClientDisconnected, PlacedError
from fxtrio.serve.pages.html.document import error_document
from fxtrio.serve.request.bodies.third_party_bodies import PlainOnly
from fxtrio.serve.request.client_protocol import NAVIGATION
from fxtrio.serve.request.response.error_response import UNEXPECTED
from fxtrio.serve.request.response.response import with_cookies_private
from fxtrio.serve.request.response.translated import failure_response
from fxtrio.serve.request.response.unwrap import require_status
from fxtrio.tracebacks import place_in_application, trimmed

log = logging.getLogger("fx.serve")


class MiddlewareFailed(PlacedError):
    """Middleware raises when the app starts, so that nothing can be served."""

    remedy = "Correct what it does when it is called with the app"

    def __init__(self, name: str, error: BaseException, root: Path) -> None:
        """``root`` is the project folder."""
        place = place_in_application(error, root) or "middleware"
        super().__init__(place, f"{name!r} cannot be made: {type(error).__name__}: {error}")


def make_around(app: ASGIApp, make: Callable[[ASGIApp], ASGIApp], name: str, root: Path) -> ASGIApp:
    """Return ``app`` inside middleware. Raises MiddlewareFailed."""
    try:
        return make(app)
    except BaseException as raised:
        raise MiddlewareFailed(name, application_error(raised), root) from None


class ErrorResponses:
    """Responds to requests that middleware must not parse, and to failures before a response."""

    def __init__(self, app: ASGIApp, base_url: str) -> None:
        self._app = PlainOnly(app)
        self._api = f"{base_url}/api/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond. Raises an Exception if a WebSocket or a response has started."""
        begun = False

        async def noting(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                require_status(message["status"], "middleware")
                headers = with_cookies_private(list(message.get("headers", ())))
                message = {**message, "headers": headers}
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except BaseException as raised:
            error = application_error(raised)
            disconnected = isinstance(error, (ClientDisconnect, ClientDisconnected))
            if begun or disconnected or scope["type"] != "http":
                leave_to_server(error)
            log.error(
                "%s %r: middleware failed",
                scope["method"],
                scope["path"],
                exc_info=trimmed(error),
            )
            await self._failure(scope)(scope, receive, send)

    def _failure(self, scope: Scope) -> Response:
        headers = {"cache-control": "no-store"}
        asks_for_data = NAVIGATION.decode() in Headers(scope=scope)
        if asks_for_data or scope["path"].startswith(self._api):
            problem = {"statusCode": 500, "type": "ServerError", "boundary": None}
            return failure_response(UNEXPECTED, 500, headers, **(problem if asks_for_data else {}))
        return HTMLResponse(error_document(500, UNEXPECTED), 500, headers)
