"""The end of an HTTP/2 connection: GOAWAY, and the reset of stalled streams until then."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import trio
from hypercorn.events import Closed, RawData, Updated
from hypercorn.protocol.ws_stream import ASGIWebsocketState, WSStream
from hyperframe.frame import GoAwayFrame
from wsproto.events import CloseConnection
from wsproto.frame_protocol import CloseReason

from fxtrio.server.http2.stream import ApplicationStream, Multiplexer

_READING_TIME = 0.5
"""Seconds from the end of the last response to that of the connection, for the client to read."""


class Endable(Multiplexer, Protocol):
    """The interface of a connection for its shutdown."""

    calls: dict[int, ApplicationStream]
    send: Callable[[Any], Awaitable[None]]
    """Writes bytes, or closes."""


class ConnectionEnding:
    """Watches over one connection, and ends it in an orderly way."""

    def __init__(self, protocol: Endable) -> None:
        self._protocol = protocol
        self.said = False
        """Whether the client knows that no more requests are taken."""

        self.over = trio.Event()
        """Set once the connection is closed."""

    async def attend(self) -> None:
        """Send data, and reset stalled streams, until the connection is closed."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._protocol.outgoing.run)
            nursery.start_soon(self._cut_off_stalled)
            nursery.start_soon(self._wait_for_worker_shutdown)
            try:
                await self.over.wait()
            finally:
                self._protocol.outgoing.close()
            nursery.cancel_scope.cancel()

    async def say_goodbye(self) -> None:
        """Send GOAWAY, and close after the last response."""
        protocol = self._protocol
        if self.said or protocol.closed:
            return
        self.said = True
        # h2's own would end the connection at once.
        last = GoAwayFrame(last_stream_id=protocol.connection.highest_inbound_stream_id)
        await protocol.send(RawData(protocol.connection.data_to_send() + last.serialize()))
        if self._is_done():
            protocol.task_group.spawn(self.linger)

    async def rest(self) -> None:
        """Start the idle timeout, or the shutdown, once every response has been sent."""
        protocol = self._protocol
        if protocol.closed or not self._is_done():
            return
        if self.said:
            protocol.task_group.spawn(self.linger)
        else:
            await protocol.send(Updated(idle=True))

    def _is_done(self) -> bool:
        return not self._protocol.calls and self._protocol.outgoing.is_empty()

    async def linger(self) -> None:
        """Close after the client has had time to read, unless it closes first."""
        with trio.move_on_after(_READING_TIME):
            await self.over.wait()
        if not self._protocol.closed and self._is_done():
            await self._protocol.send(Closed())

    async def _cut_off_stalled(self) -> None:
        protocol = self._protocol
        limit = protocol.limits.write_stall
        while True:
            await trio.sleep(limit / 4)
            for number in protocol.outgoing.stalled(trio.current_time() - limit):
                await protocol.cut_off(number)
            for number in protocol.outgoing.slow(limit, protocol.limits.write_rate):
                await protocol.cut_off(number)

    async def _wait_for_worker_shutdown(self) -> None:
        """Say goodbye, to every WebSocket too, when the worker stops."""
        await self._protocol.context.terminated.wait()
        await self.say_goodbye()
        for call in list(self._protocol.calls.values()):
            stream = call.stream
            if isinstance(stream, WSStream) and stream.state == ASGIWebsocketState.CONNECTED:
                await stream._send_wsproto_event(CloseConnection(code=CloseReason.GOING_AWAY))
