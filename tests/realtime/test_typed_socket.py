from __future__ import annotations

from typing import TypedDict

from fx.realtime import WebSocket, channel
from fxtrio.serve.request.requests import PageSocket
from tests.realtime.client import Client, make_app


class Line(TypedDict):
    text: str


async def say(ws: WebSocket[Line]) -> None:
    async with channel(ws, "room") as room:
        await room.publish({"text": "Hello"})


async def mistaken(ws: WebSocket[Line]) -> None:
    """Mistakes that type checkers tell: mypy complains of an ignore that nothing needs."""
    await ws.send_json({"text": 1})  # type: ignore[typeddict-item]
    async with channel(ws, "room") as room:
        await room.publish(3)  # type: ignore[arg-type]


async def test_what_carries_a_type_carries_messages() -> None:
    client = Client(make_app())
    opened = await client.open()
    socket: WebSocket[Line] = PageSocket(opened.scope, opened.receive, opened.send)
    socket.application_state = opened.application_state
    await say(socket)

    assert isinstance(socket, WebSocket)
    assert client.received == ['{"text":"Hello"}']
