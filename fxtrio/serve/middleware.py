"""The outermost layer around middleware: it responds to failures, which never stop the server."""

from __future__ import annotations

import logging

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fxtrio.application_errors import application_error, leave_to_server
from fxtrio.errors import ClientDisconnected
from fxtrio.serve.pages.html.document import error_document
from fxtrio.serve.request.bodies.third_party_bodies import PlainOnly
from fxtrio.serve.request.client_protocol import NAVIGATION
from fxtrio.serve.request.response.error_response import UNEXPECTED
from fxtrio.serve.request.response.response import with_cookies_private
from fxtrio.serve.request.response.translated import failure_response
from fxtrio.serve.request.response.unwrap import require_status
from fxtrio.tracebacks import trimmed

log = logging.getLogger("fx.serve")


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
