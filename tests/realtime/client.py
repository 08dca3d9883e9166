"""A WebSocket client without a network: what an ASGI server would be, in the same process."""

from __future__ import annotations

from typing import Any

import trio
from starlette.applications import Starlette
from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketState

from fxtrio.asgi_extensions import RAW_FRAMES
from fxtrio.config import RealtimeConfig
from fxtrio.realtime import Broker, MemoryBroker


class RunningApp:
    """Stands for `fxtrio.context.App`, of which channels read the settings and plugins."""

    def __init__(self, settings: RealtimeConfig, plugins: dict[str, Any]) -> None:
        self.config = self
        self.realtime = settings
        self.plugins = plugins
        self.authenticator = plugins.get("auth")


def make_app(
    broker: Broker | None = None, plugins: dict[str, Any] | None = None, **settings: Any
) -> Starlette:
    app = Starlette()
    app.state.fx_broker = MemoryBroker() if broker is None else broker
    app.state.fx = RunningApp(RealtimeConfig(**settings), plugins or {})
    return app


class Client:
    """One connection: ``ws`` for the handler, the rest for the test."""

    def __init__(
        self,
        app: Starlette,
        *,
        headers: dict[str, str] | None = None,
        extensions: dict[str, Any] | None = None,
        raw: bool = False,
        query: bytes = b"",
    ) -> None:
        self.sent: list[Message] = []
        """Events the app sent, but for ``websocket.send``."""

        self.received: list[str | bytes] = []
        """Messages that reached the client."""

        self.writes = 0
        self.disconnected = False
        self._unfinished = b""
        self._answered = trio.Event()
        self._readable = trio.Event()
        self._readable.set()
        self._to_app, self._from_client = trio.open_memory_channel[Message](1)
        extensions = dict(extensions or {})
        if raw:
            extensions[RAW_FRAMES] = {"send": self._take_raw, "write": self._write_raw}
        self.scope: dict[str, Any] = {
            "type": "websocket",
            "path": "/",
            "query_string": query,
            "headers": [(k.encode(), v.encode()) for k, v in (headers or {}).items()],
            "app": app,
            "extensions": extensions,
        }
        self.ws = WebSocket(self.scope, self._from_client.receive, self._take)

    async def open(self) -> WebSocket:
        """Complete the handshake, and return the handler's side."""
        with trio.fail_after(5):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.connect)
                await self.ws.accept()
        return self.ws

    async def connect(self) -> None:
        """Ask for a handshake, and wait for its answer, as clients must."""
        await self._to_app.send({"type": "websocket.connect"})
        await self._answered.wait()

    async def send(self, text: str) -> None:
        await self._to_app.send({"type": "websocket.receive", "text": text})

    async def disconnect(self, code: int = 1001) -> None:
        self.disconnected = True
        self._readable.set()
        await self._to_app.send({"type": "websocket.disconnect", "code": code, "reason": ""})

    def break_off(self) -> None:
        """Disconnect without a close frame: only a write can notice it."""
        self.disconnected = True
        self._readable.set()

    def stop_reading(self) -> None:
        self._readable = trio.Event()

    def read_on(self) -> None:
        self._readable.set()

    @property
    def closed(self) -> int | None:
        """The code of the close frame, if there was one."""
        codes = [event["code"] for event in self.sent if event["type"] == "websocket.close"]
        assert len(codes) <= 1
        return codes[0] if codes else None

    async def _take(self, event: Message) -> None:
        await self._write()
        if event["type"] == "websocket.send":
            assert self.ws.application_state is not WebSocketState.DISCONNECTED
            self.received.append(event.get("text") or event.get("bytes") or "")
        else:
            self.sent.append(event)
            self._answered.set()

    async def _take_raw(self, data: bytes) -> None:
        await self._write()
        self._parse(self._unfinished + data)
        self._unfinished = b""

    def _write_raw(self, data: bytes) -> bool:
        if self.disconnected:
            raise OSError("the client is gone")
        if not self._readable.is_set():
            self._unfinished += data
            return False
        self.writes += 1
        self._parse(data)
        return True

    def _parse(self, data: bytes) -> None:
        while data:
            binary, size, start = data[0] == 0x82, data[1], 2
            if size == 126:
                size, start = int.from_bytes(data[2:4], "big"), 4
            elif size == 127:
                size, start = int.from_bytes(data[2:10], "big"), 10
            payload, data = data[start : start + size], data[start + size :]
            self.received.append(payload if binary else payload.decode())

    async def _write(self) -> None:
        await self._readable.wait()
        self.writes += 1
        if self.disconnected:
            raise OSError("the client is gone")
