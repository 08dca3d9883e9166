"""``python -m benchmarks.http.hostile_server PORT``: a server that hostile clients are sent to."""

from __future__ import annotations

import sys

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from benchmarks.http.apps import hello
from fxtrio.server.http1 import ServerLimits
from fxtrio.server.supervise import ServeOptions, serve

LARGE = "x" * 1_000_000


async def large(request: Request) -> PlainTextResponse:
    """Answer with more than the buffers of both systems hold."""
    return PlainTextResponse(LARGE)


async def body(request: Request) -> PlainTextResponse:
    """Wait for the whole body."""
    return PlainTextResponse(str(len(await request.body())))


async def chat(websocket: WebSocket) -> None:
    """Wait for messages."""
    await websocket.accept()
    async for text in websocket.iter_text():
        await websocket.send_text(text)


app = Starlette(
    routes=[
        Route("/", hello),
        Route("/large", large),
        Route("/body", body, methods=["POST"]),
        WebSocketRoute("/chat", chat),
    ]
)

if __name__ == "__main__":
    limits = ServerLimits(
        header_time=25,
        idle_time=25,
        body_grace=25,
        write_stall=25,
        websocket_ping=10,
        websocket_pong=15,
    )
    sys.exit(
        serve(
            ServeOptions(
                app="benchmarks.http.hostile_server:app",
                bind=(f"127.0.0.1:{sys.argv[1]}",),
                limits=limits,
                log_level="ERROR",
            )
        )
    )
