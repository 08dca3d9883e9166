"""Defects of Hypercorn's WebSockets, in HTTP/1.1 and in HTTP/2."""

from __future__ import annotations

from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

import trio

from fxtrio.errors import ClientDisconnected
from fxtrio.server.hypercorn_patches.source import source_of


def close_code_is_lost() -> bool:
    """Return whether 1006 stands for every end of a WebSocket."""
    from hypercorn.protocol.ws_stream import WSStream

    return "event.code" not in source_of(
        WSStream._handle_events
    ) and "ABNORMAL_CLOSURE" in source_of(WSStream.handle)


def keep_close_code() -> None:
    """Tell the application what the client said."""
    from hypercorn.protocol.events import StreamClosed
    from hypercorn.protocol.ws_stream import WSStream
    from wsproto.events import CloseConnection

    handle, handle_events = WSStream.handle, WSStream._handle_events
    closes: WeakKeyDictionary[Any, tuple[int, str]] = WeakKeyDictionary()

    async def noting(self: Any) -> None:
        connection = self.connection
        events = connection.events

        def noted() -> Any:
            for event in events():
                if isinstance(event, CloseConnection):
                    code = 1005 if event.code is None else int(event.code)
                    closes[self] = (code, event.reason or "")
                yield event

        connection.events = noted
        try:
            await handle_events(self)
        finally:
            connection.events = events

    @wraps(handle)  # whose source others examine
    async def telling(self: Any, event: Any) -> None:
        close = closes.get(self)
        if close is None or self.closed or not isinstance(event, StreamClosed):
            return await handle(self, event)
        self.closed = True
        if self.app_put is not None:
            code, reason = close
            await self.app_put({"type": "websocket.disconnect", "code": code, "reason": reason})
        return None

    WSStream._handle_events = noting  # type: ignore[method-assign]
    WSStream.handle = telling  # type: ignore[method-assign]


def early_frames_are_answered() -> bool:
    """Return whether a frame before the handshake's end is answered beside the application."""
    from hypercorn.protocol.ws_stream import WSStream

    early = source_of(WSStream.handle).partition("not self.handshake.accepted")[2]
    return early.find("_send_error_response(400)") < early.find("self.closed = True")


def reject_early_frames() -> None:
    """Answer once, notify the application of the disconnect, and end the connection."""
    from hypercorn.protocol.events import Body, Data, StreamClosed
    from hypercorn.protocol.ws_stream import ASGIWebsocketState, WSStream

    handle = WSStream.handle

    async def rejecting(self: Any, event: Any) -> None:
        if self.closed or not isinstance(event, Body | Data) or self.handshake.accepted:
            return await handle(self, event)
        if self.state is not ASGIWebsocketState.HANDSHAKE:
            return None  # the application has refused it
        self.closed = True  # so that what the application sends goes nowhere
        await self._send_error_response(400)
        await self.app_put({"type": "websocket.disconnect", "code": 1006})
        await self.send(StreamClosed(stream_id=self.stream_id))
        return None

    WSStream.handle = rejecting  # type: ignore[method-assign]


def sends_go_nowhere() -> bool:
    """Return whether a send after the end returns at once."""
    from hypercorn.protocol.ws_stream import WSStream

    source = source_of(WSStream.app_send)
    return "if self.closed:" in source and "raise" not in source.split("if message is None")[0]


def reject_sends() -> None:
    """Have it wait its turn, and raise ClientDisconnected."""
    from hypercorn.protocol.ws_stream import WSStream

    send = WSStream.app_send

    async def rejecting(self: Any, message: Any) -> None:
        if self.closed and message is not None and message["type"] == "websocket.send":
            # Without this the loop never waits again, and the worker serves nobody else.
            await trio.lowlevel.checkpoint()
            raise ClientDisconnected
        await send(self, message)
        if message is not None and message["type"] == "websocket.send":
            await trio.lowlevel.checkpoint()

    WSStream.app_send = rejecting  # type: ignore[method-assign]


def long_messages_grow() -> bool:
    """Return whether a WebSocket goes on after a message that is too long."""
    from hypercorn.protocol.ws_stream import WSStream

    source = source_of(WSStream._handle_events)
    return "FrameTooLargeError" in source and "StreamClosed" not in source.split("break")[0]


def end_long_messages() -> None:
    """End it."""
    from hypercorn.protocol.events import StreamClosed
    from hypercorn.protocol.ws_stream import WSStream

    handle_events = WSStream._handle_events

    async def ending(self: Any) -> None:
        await handle_events(self)
        if self.buffer.length > self.buffer.max_length:  # 1009 has been sent
            self.buffer.clear()
            await self.send(StreamClosed(stream_id=self.stream_id))

    WSStream._handle_events = ending  # type: ignore[method-assign]


def messages_are_inflated() -> bool:
    """Return whether a client may compress what it sends: a kilobyte of it becomes one MB."""
    from hypercorn.protocol.ws_stream import Handshake

    return "PerMessageDeflate()" in source_of(Handshake.accept)


def decline_compression() -> None:
    """Agree to no extension: wsproto inflates all that has come before it counts."""
    from hypercorn.protocol.ws_stream import Handshake

    accept = Handshake.accept

    def declining(self: Any, subprotocol: Any, additional_headers: Any) -> Any:
        self.extensions = None
        return accept(self, subprotocol, additional_headers)

    Handshake.accept = declining  # type: ignore[method-assign]
