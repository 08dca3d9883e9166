"""How frames get from an outbox to its WebSocket: as ASGI events, or as bytes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from fxtrio.asgi_extensions import RAW_FRAMES
from fxtrio.realtime.frames import Frame

_BATCH = 64 * 1024
_ABNORMAL = 1006


class Transport(Protocol):
    """One side of a WebSocket. Raises WebSocketDisconnect or OSError after a disconnect."""

    @property
    def batch(self) -> int:
        """Bytes of messages to send at a time, more only for a single larger one."""
        ...

    async def send(self, frames: list[Frame]) -> None:
        """Send frames, and what `write` left."""
        ...

    def write(self, frame: Frame) -> bool | None:
        """Send a frame without waiting: False when `send` must finish it, None if impossible."""
        ...

    async def close(self, code: int, reason: str) -> None:
        """Send a close frame."""
        ...


class EventTransport(msgspec.Struct, frozen=True, eq=False):
    """Any ASGI server: one event for each message."""

    _ws: WebSocket

    batch = 1

    async def send(self, frames: list[Frame]) -> None:
        """Send frames."""
        for frame in frames:
            await self._ws.send(frame.event)

    def write(self, frame: Frame) -> bool | None:
        """Leave it to `send`: ASGI has no way to send without waiting."""
        return None

    async def close(self, code: int, reason: str) -> None:
        """Send a close frame."""
        await self._ws.close(code, reason)


class RawFrameTransport(EventTransport, frozen=True, eq=False):
    """A server that takes encoded frames (`RAW_FRAMES`): many of them in one write."""

    _send: Callable[[bytes], Awaitable[None]]
    _write: Callable[[bytes], bool]

    batch = _BATCH

    async def send(self, frames: list[Frame]) -> None:
        """Send frames, and what `write` left."""
        self._check_open()
        await self._send(b"".join([frame.wire for frame in frames]))

    def write(self, frame: Frame) -> bool | None:
        """Send a frame without waiting; False when `send` must finish it."""
        self._check_open()
        return self._write(frame.wire)

    def _check_open(self) -> None:
        if self._ws.application_state is not WebSocketState.CONNECTED:
            raise WebSocketDisconnect(_ABNORMAL)


def open_transport(ws: WebSocket) -> Transport:
    """Return the best way to an accepted WebSocket."""
    raw = (ws.scope.get("extensions") or {}).get(RAW_FRAMES)
    return EventTransport(ws) if raw is None else RawFrameTransport(ws, raw["send"], raw["write"])
