"""The applications that every server serves. Imported by name in the servers' processes."""

from __future__ import annotations

from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

BODY = b"Hello, world!"


async def plain(scope: Any, receive: Any, send: Any) -> None:
    """Answer as fast as ASGI can; echo WebSocket messages."""
    if scope["type"] == "http":
        headers = [(b"content-type", b"text/plain"), (b"content-length", b"13")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": BODY})
    elif scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": message["text"]})
    else:
        for stage in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{stage}.complete"})


async def hello(request: Request) -> PlainTextResponse:
    """Answer the way an ordinary application does."""
    return PlainTextResponse("Hello, world!")


starlette = Starlette(routes=[Route("/", hello)])
