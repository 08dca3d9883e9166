"""What the tests of the guard serve with stock Hypercorn."""

from __future__ import annotations

import os
from typing import Any

import trio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

if os.environ["GUARDED"]:
    from fxtrio.server.hypercorn_patches import install_guard

    install_guard()

state: dict[str, Any] = {"disconnected": False, "closed": ""}


async def fine(request: Request) -> PlainTextResponse:
    return PlainTextResponse("fine")


async def big(request: Request) -> PlainTextResponse:
    return PlainTextResponse("x" * 50_000_000)


async def ask(request: Request) -> PlainTextResponse:
    await request.body()
    for _ in range(40):
        if await request.is_disconnected():
            state["disconnected"] = True
            break
        await trio.sleep(0.01)
    return PlainTextResponse("")


async def has_disconnected(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(state["disconnected"]).lower())


async def connections(request: Request) -> PlainTextResponse:
    """How many connections have a task; each has that of Hypercorn's server."""
    root = trio.lowlevel.current_root_task()
    assert root is not None
    waiting, found = [root], 0
    while waiting:
        task = waiting.pop()
        found += "_run_handler" in task.name
        waiting += [child for nursery in task.child_nurseries for child in nursery.child_tasks]
    return PlainTextResponse(str(found))


async def closed(request: Request) -> PlainTextResponse:
    return PlainTextResponse(state["closed"])


async def wait(websocket: WebSocket) -> None:
    await websocket.accept()
    message = await websocket.receive()
    state["closed"] = f"{message['code']} {message.get('reason') or ''}"


async def reject(websocket: WebSocket) -> None:
    await websocket.send_denial_response(PlainTextResponse("no", 403))


async def accept_slowly(websocket: WebSocket) -> None:
    """Accept what the client may have spoiled by then."""
    for _ in range(20):
        await trio.lowlevel.checkpoint()
    await websocket.accept()
    async for _ in websocket.iter_text():
        pass


async def loop(websocket: WebSocket) -> None:
    await websocket.accept()
    try:
        while True:
            await websocket.send_text("x")
    except Exception:
        return


async def echo(websocket: WebSocket) -> None:
    await websocket.accept()
    async for text in websocket.iter_text():
        await websocket.send_text(text)


app = Starlette(
    routes=[
        Route("/", fine),
        Route("/big", big),
        Route("/ask", ask),
        Route("/has-disconnected", has_disconnected),
        Route("/closed", closed),
        Route("/connections", connections),
        WebSocketRoute("/wait", wait),
        WebSocketRoute("/refuse", reject),
        WebSocketRoute("/late", accept_slowly),
        WebSocketRoute("/loop", loop),
        WebSocketRoute("/echo", echo),
    ]
)
