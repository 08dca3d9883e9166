"""WebSocket applications that several tests serve."""

from __future__ import annotations

from typing import Any


async def echo(scope: Any, receive: Any, send: Any) -> None:
    assert scope["type"] == "websocket"
    assert (await receive())["type"] == "websocket.connect"
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"], "bytes": message["bytes"]})


class Recorder:
    """Accepts, and records what it receives."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.scope: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scope = scope
        await receive()
        await send({"type": "websocket.accept"})
        while True:
            self.messages.append(await receive())
            if self.messages[-1]["type"] == "websocket.disconnect":
                return
