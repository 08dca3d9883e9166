"""WebSocket handlers and channels, with and without a type of their messages."""

from __future__ import annotations

from typing import Any, TypedDict, assert_type

from starlette.websockets import WebSocket as PlainWebSocket

from fx.realtime import (
    Channel,
    Member,
    WebSocket,
    authenticate_websocket,
    channel,
    origin_allowed,
    publish,
    same_origin,
)


class Text(TypedDict):
    text: str


async def websocket(ws: WebSocket[Text]) -> None:
    async with channel(ws, "room") as room:
        assert_type(room, Channel[Text])
        await room.publish({"text": "hello"})
        await room.publish({"txt": "hello"})  # type: ignore[typeddict-unknown-key, typeddict-item]  # pyright: ignore[reportArgumentType]
        assert_type(room.subscribers, tuple[Member, ...])
        await ws.send_json({"text": "welcome"})
        await ws.send_json(7)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def plain(ws: PlainWebSocket) -> None:
    assert_type(origin_allowed(ws, ["https://example.com"]), bool)
    assert_type(same_origin(ws), bool)
    await authenticate_websocket(ws)
    async with channel(ws, "room") as room:
        assert_type(room, Channel[Any])
    assert_type(await publish("room", {"text": "hello"}), bool)
    await publish("room", 7)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
