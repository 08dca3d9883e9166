"""The WebSocket side of the test client."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import attrs
import trio
from starlette.types import ASGIApp, Message, Scope

from fxtrio.errors import PlacedError

OUTBOX = 1024
"""Messages of the app that may wait for the test to read them; then the app's send waits."""


class SocketRejected(PlacedError):
    """The app rejected the handshake."""

    def __init__(self, status: int) -> None:
        super().__init__("WebSocket", f"the app rejected the handshake with status {status}")
        self.status = status


class SocketClosed(PlacedError):
    """The app closed the WebSocket; ``code`` and ``reason`` are those of its close frame."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__("WebSocket", f"the app closed it with {code} {reason!r}")
        self.code = code
        self.reason = reason


@attrs.define(eq=False)
class TestSocket:
    """An open WebSocket as the client sees it. Created by `Client.websocket`."""

    __test__ = False

    protocol: str | None
    _to_app: trio.MemorySendChannel[Message]
    _from_app: trio.MemoryReceiveChannel[Message]

    async def send_text(self, text: str) -> None:
        """Send a text frame."""
        await self._to_app.send({"type": "websocket.receive", "text": text})

    async def send_bytes(self, data: bytes) -> None:
        """Send a binary frame."""
        await self._to_app.send({"type": "websocket.receive", "bytes": data})

    async def send_json(self, value: Any) -> None:
        """Send a value as a JSON text frame."""
        await self.send_text(json.dumps(value))

    async def receive(self) -> str | bytes:
        """Return the next frame. Raises SocketClosed once the app has closed."""
        try:
            message = await self._from_app.receive()
        except trio.EndOfChannel:
            raise SocketClosed(1006, "") from None
        if message["type"] == "websocket.close":
            raise SocketClosed(message.get("code", 1000), message.get("reason") or "")
        text: str | None = message.get("text")
        return text if text is not None else message["bytes"]

    async def receive_json(self) -> Any:
        """Return the value of the next JSON frame."""
        return json.loads(await self.receive())

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close from the client's side."""
        await self._to_app.send({"type": "websocket.disconnect", "code": code, "reason": reason})


@asynccontextmanager
async def open_socket(app: ASGIApp, scope: Scope) -> AsyncIterator[TestSocket]:
    """Open a WebSocket to ``app``; leaving the block disconnects and waits for the handler."""
    to_app, inbox = trio.open_memory_channel[Message](OUTBOX)
    outbox, from_app = trio.open_memory_channel[Message](OUTBOX)

    async def receive() -> Message:
        try:
            return await inbox.receive()
        except trio.EndOfChannel:
            return {"type": "websocket.disconnect", "code": 1006}

    async def send(message: Message) -> None:
        for key in ("text", "reason"):
            (
                message.get(key) or ""
            ).encode()  # as on the wire: raises for text that is no valid Unicode
        try:
            await outbox.send(message)
        except trio.BrokenResourceError:
            raise OSError("the client has left") from None

    async def run() -> None:
        with outbox:
            await app(scope, receive, send)

    rejection: SocketRejected | None = None
    async with trio.open_nursery() as nursery:
        await to_app.send({"type": "websocket.connect"})
        nursery.start_soon(run)
        with from_app, to_app:
            try:
                protocol = await _handshake(from_app)
            except SocketRejected as refusal:
                rejection = refusal  # raised outside, where no nursery wraps it in a group
                async for _ in from_app:  # the rest of the refusal
                    pass
            else:
                yield TestSocket(protocol, to_app, from_app)
    if rejection is not None:
        raise rejection


async def _handshake(from_app: trio.MemoryReceiveChannel[Message]) -> str | None:
    """Return the accepted subprotocol. Raises SocketRejected."""
    try:
        message = await from_app.receive()
    except trio.EndOfChannel:
        raise SocketRejected(500) from None
    if message["type"] == "websocket.accept":
        protocol: str | None = message.get("subprotocol")
        return protocol
    status = message.get("status", 403)
    raise SocketRejected(status)
