"""What stands around middleware: its failures are answered, and never end the server."""

from __future__ import annotations

import logging

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fxtrio.application_errors import application_error, leave_to_server
from fxtrio.errors import ClientDisconnected
from fxtrio.serve.pages.document import error_document
from fxtrio.serve.request.bodies.third_party_bodies import PlainOnly
from fxtrio.serve.request.client_protocol import NAVIGATION
from fxtrio.serve.request.response.error_response import UNEXPECTED
from fxtrio.serve.request.response.unwrap import require_status
from fxtrio.tracebacks import trimmed

log = logging.getLogger("fx.serve")


class AnswerFailures:
    """Answers what middleware must not parse, and its failures before its response has begun."""

    def __init__(self, app: ASGIApp, base_url: str) -> None:
        self._app = PlainOnly(app)
        self._api = f"{base_url}/api/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer. Raises an Exception for a WebSocket, or a response, that has begun."""
        begun = False

        async def noting(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                require_status(message["status"], "middleware")
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except BaseException as raised:
            error = application_error(raised)
            gone = isinstance(error, (ClientDisconnect, ClientDisconnected))
            if begun or gone or scope["type"] != "http":
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
            shown = {"ok": False, "error": UNEXPECTED}
            if asks_for_data:
                shown |= {"statusCode": 500, "type": "ServerError", "boundary": None}
            return JSONResponse(shown, 500, headers)
        return HTMLResponse(error_document(500, UNEXPECTED), 500, headers)
