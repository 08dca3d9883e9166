"""Middleware and route hooks that the tests name in their settings."""

from __future__ import annotations

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send


async def note_visitor(connection: HTTPConnection) -> Response | None:
    """A route hook that leaves something for loaders and actions."""
    connection.state.visitor = connection.headers.get("x-visitor", "nobody")
    return None


async def members_only(connection: HTTPConnection) -> Response | None:
    """A route hook that lets members pass."""
    if connection.cookies.get("member") == "yes":
        return None
    return JSONResponse({"ok": False, "error": "Members only"}, 403)


class Stamp:
    """ASGI middleware that puts something on the request's state."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["stamp"] = "stamped"
        await self._app(scope, receive, send)
