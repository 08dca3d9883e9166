"""One WebSocket: the ``receive`` and ``send`` of an ASGI application, and the end on both sides.

The socket has one reader at a time: the application's own task while it waits in
`WsStream.receive`, else after a while the task of `ReadAhead`. Who begins to read takes the
socket back from the other first. Writing has no such owner, since `write_now` is one step.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

from fxtrio.errors import ClientDisconnected
from fxtrio.receive_budget import REASON, Backlog, process_unreceived
from fxtrio.server.http1.connection_context import ClientConnection
from fxtrio.server.http1.limits import ServerLimits
from fxtrio.server.http1.response import BadResponse, Message
from fxtrio.server.http1.websocket.handshake import Offer
from fxtrio.server.http1.websocket.opening import Opening
from fxtrio.server.http1.websocket.protocol import WsProtocol
from fxtrio.server.http1.worker_state import NEVER

_GREEDY = 16
"""Messages sent or taken without waiting, before other tasks get a turn. Without it a loop over
messages that are there already, or to a client that takes all, would never let others run."""

_GOING_AWAY, _TRY_AGAIN_LATER = 1001, 1013


class WsStream:
    """A WebSocket from its request to its end. Valid until the application returns."""

    def __init__(self, connection: ClientConnection, offer: Offer, nursery: trio.Nursery) -> None:
        self.left = False  # whether the application has received the disconnect
        self._connection = connection
        self._transport = connection.transport
        self._limits = connection.limits
        self._nursery = nursery
        self._opening = Opening(connection, offer)
        self._protocol: WsProtocol | None = None  # once it is open
        self._backlog = Backlog(connection.transport.address, self._give_up)
        self._connected = self._closed = False
        self._streak = 0  # messages since the last wait
        self._receiving = False
        self._rests = False  # whether the hub looks away, until the time that it was told
        self._pings = Pings(connection.limits)
        self._ahead = ReadAhead(nursery)

    @property
    def status(self) -> int | None:
        """The status that the client was answered with."""
        return self._opening.status

    async def receive(self) -> Message:
        """Return the next ASGI message; after the end, the disconnect each time."""
        self._streak += 1
        if self._streak > _GREEDY:
            await self._take_turns()
        protocol = self._protocol
        if protocol is not None and protocol.messages:
            return self._next_message(protocol)
        if not self._connected:
            self._connected = True
            return {"type": "websocket.connect"}
        return await self._receive_later()

    async def send(self, message: Message) -> None:
        """Take an ASGI message.

        Raises BadResponse when the application breaks the protocol, and
        ClientDisconnected when the other side has closed or vanished.
        """
        kind = message["type"]
        protocol = self._protocol
        if protocol is None:
            if kind == "websocket.accept" and not self._opening.is_rejected:
                await self._accept(message)
            else:
                await self._opening.reject(kind, message)
        elif kind == "websocket.send":
            transport = self._transport
            if not protocol.is_open or transport.broken:
                if self._closed:
                    raise BadResponse("websocket.send was sent after websocket.close.")
                raise ClientDisconnected
            if not transport.write_now(protocol.send(message)):
                self._streak = 0
                await transport.flush()
            if transport.broken:  # writing does not raise, it only finds out
                raise ClientDisconnected
            self._streak += 1
            if self._streak > _GREEDY:
                await self._take_turns()
        elif kind == "websocket.close":
            code, reason = message.get("code", 1000), message.get("reason") or ""
            await self._close(protocol, code, reason)
            self._closed = True
        else:
            raise BadResponse(f"{kind!r} is not a message of an open WebSocket.")

    def write_frames(self, data: bytes) -> bool:
        """Send whole frames as they are, behind all before (`fxtrio.asgi_extensions.RAW_FRAMES`).

        False when `send_frames` must finish it. Raises ClientDisconnected when the
        WebSocket is not open on both sides.
        """
        protocol, transport = self._protocol, self._transport
        if protocol is None or not protocol.is_open or transport.broken:
            raise ClientDisconnected
        done = transport.write_now(data)
        if transport.broken:
            raise ClientDisconnected
        return done

    async def send_frames(self, data: bytes) -> None:
        """Send like `write_frames`, and wait until everything is out."""
        if not self.write_frames(data):
            self._streak = 0
            await self._transport.flush()
            if self._transport.broken:
                raise ClientDisconnected
        self._streak += 1
        if self._streak > _GREEDY:
            await self._take_turns()

    async def finish(self, *, failed: bool) -> None:
        """Close for the application, if it has not, and wait for the other side."""
        protocol = self._protocol
        if protocol is None:
            await self._opening.end(left=self.left)
            return
        await self._close(protocol, 1011 if failed else 1000, "")
        await self._ahead.stop()
        self._receiving = True  # for good: `tick` must not start the other reader again
        # Reading goes on until the client's close frame: closing a socket with unread data would
        # send a reset, which may destroy our last messages before the client has read them.
        protocol.discard()
        if not self._over(protocol):
            with trio.move_on_after(self._limits.websocket_close):
                while not self._over(protocol):
                    await self._read(protocol)
                    protocol.discard()
        self._connection.linger = True

    def release(self) -> None:
        """Count nothing more: it is over."""
        self._backlog.end()

    # What the hub calls, through the connection.

    def expire(self) -> None:
        """Cut off a client that does not answer a close frame."""
        self._transport.abort()

    def leave(self) -> None:
        """Tell the client that the server goes away."""
        if self._protocol is not None:
            self._write_soon(self._protocol.start_close(_GOING_AWAY, ""))
            self._expect_close()

    def tick(self, now: float) -> float:
        """Send and check pings; read for an application that is busy elsewhere.

        While the application receives, the next ping is all that there is to do.
        """
        protocol, until = self._protocol, NEVER
        if protocol is None:
            return now
        self._write_soon(protocol.take_output())
        if protocol.is_open:
            ping = self._pings.check(protocol, now, backlog=bool(self._transport.backlog))
            if ping is None:
                self._transport.abort()
            else:
                self._write_soon(ping)
            until = self._pings.next
        self._ahead.tick(self._read_open, self._may_read_ahead, receiving=self._receiving)
        self._rests = self._receiving and until > now
        return until if self._rests else now

    # The opening.

    async def _accept(self, message: Message) -> None:
        head, protocol = self._opening.accept(message)
        self._protocol = protocol
        await self._transport.write(head)
        await self._write_output(protocol)
        if self._connection.hub.closing:
            self.leave()

    # Reading.

    async def _receive_later(self) -> Message:
        if self._ahead.is_reading:
            await self._ahead.stop()
        self._receiving, self._streak = True, 0
        try:
            while True:
                protocol = self._protocol
                if protocol is None:
                    if self._opening.is_rejected or not await self._read_early():
                        return self._disconnect(1006, "")
                elif protocol.messages:
                    return self._next_message(protocol)
                elif protocol.resume():  # it had stopped at its limit, with more to parse
                    await self._write_output(protocol)
                elif self._over(protocol):
                    return self._disconnect(*protocol.close)
                else:
                    await self._read(protocol)
        finally:
            self._receiving = False
            self._ahead.came_back()
            if self._rests:
                self._wake()

    def _next_message(self, protocol: WsProtocol) -> Message:
        message = protocol.next_message()
        if self._backlog.size:
            self._backlog.count(protocol.held)
        return message

    async def _read(self, protocol: WsProtocol) -> None:
        # Who has messages waiting may have to wait until the process has room for more; a
        # WebSocket with none may always read, so that a few large ones cannot stop all others.
        if self._backlog.size and process_unreceived.is_full:
            await process_unreceived.wait_room(self._backlog)
            if self._over(protocol):
                return
        await self._take(protocol, await self._transport.read())

    async def _take(self, protocol: WsProtocol, data: bytes) -> None:
        if data:
            protocol.feed(data)
        else:
            protocol.end()
        self._backlog.count(protocol.held)
        await self._write_output(protocol)

    def _give_up(self) -> None:
        """Close this WebSocket, whose messages fill the budget, and drop them."""
        if self._protocol is not None:
            self._write_soon(self._protocol.abandon(_TRY_AGAIN_LATER, REASON))
            self._expect_close()

    async def _write_output(self, protocol: WsProtocol) -> None:
        output = protocol.take_output()
        if output and not self._transport.write_now(output):
            await self._transport.flush()

    async def _read_early(self) -> bool:
        """Read while the handshake is not answered; False when the client has left."""
        data = await self._opening.read()
        if data is None:
            return True
        if self._protocol is not None:  # the application answered during the wait
            await self._take(self._protocol, data)
            return True
        self._opening.hold(data)
        return bool(data)

    async def _read_open(self) -> None:
        """Read for an application that is busy elsewhere."""
        if self._protocol is not None:
            await self._read(self._protocol)

    def _may_read_ahead(self) -> bool:
        protocol = self._protocol
        return protocol is not None and not (protocol.is_full or self._over(protocol))

    # Writing.

    async def _close(self, protocol: WsProtocol, code: int, reason: str) -> None:
        if protocol.is_open:
            data = protocol.start_close(code, reason)
            self._expect_close()
            await self._transport.write(data)

    def _write_soon(self, data: bytes) -> None:
        if data and not self._transport.write_now(data):
            self._nursery.start_soon(self._transport.flush)

    def _expect_close(self) -> None:
        """Cut the client off unless it answers the close frame in time."""
        self._connection.deadline = self._connection.hub.now + self._limits.websocket_close
        self._wake()

    def _wake(self) -> None:
        """Have the hub look again with each tick."""
        self._rests = False
        self._connection.wake()

    async def _take_turns(self) -> None:
        self._streak = 0
        await trio.lowlevel.checkpoint()

    def _over(self, protocol: WsProtocol) -> bool:
        return protocol.is_over or self._transport.broken

    def _disconnect(self, code: int, reason: str) -> Message:
        self.left = True
        return {"type": "websocket.disconnect", "code": code, "reason": reason}


class Pings:
    """Finds a client that has vanished without a word. `check` is called with each tick of the hub.

    Pings are sent, and pongs must follow. No I/O.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self._interval = limits.websocket_ping
        self._patience = limits.websocket_pong
        self._precision = limits.precision
        self._ping_at = self._pong_by = NEVER
        self._pongs = 0  # those that had arrived when the last ping was sent

    @property
    def next(self) -> float:
        """Until when `check` has nothing to do, if the application receives meanwhile."""
        return min(self._ping_at, self._pong_by)

    def check(self, protocol: WsProtocol, now: float, *, backlog: bool) -> bytes | None:
        """Return a ping to send, b"" for none, and None when the pong is overdue.

        While a ``backlog`` waits to be written no ping is sent: it would arrive behind it, and
        its pong would be late for want of bandwidth.
        """
        if self._interval is None:
            return b""
        if self._ping_at == NEVER:
            self._ping_at = now + self._interval
        if self._pong_by != NEVER:
            if protocol.pongs != self._pongs:
                self._pong_by = NEVER
            elif protocol.is_full:
                # Nothing is read, so the pong may be behind what the application has yet to take.
                self._pong_by += self._precision
            elif now > self._pong_by:
                self._pong_by = NEVER
                return None
        if now < self._ping_at or self._pong_by != NEVER or backlog:
            return b""
        self._ping_at, self._pong_by = now + self._interval, now + self._patience
        self._pongs = protocol.pongs
        return protocol.ping()


_AWAY = 4
"""Ticks that the application may be busy before the task starts: most waits are shorter, and a
task for each of them would cost more than the reading."""


class ReadAhead:
    """A task that reads a WebSocket while its application does something else.

    An application reads by waiting in ``receive``, which costs no second task. One that is busy
    for longer, such as with a query or with sending, would answer no ping and notice no
    disconnect meanwhile, so a task reads for it until it comes back, or until enough messages
    wait for it.
    """

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._away = 0  # ticks since the application last came to receive
        self._scope: trio.CancelScope | None = None
        self._stopped: trio.Event  # of the task that runs

    @property
    def is_reading(self) -> bool:
        """Whether the task has the socket; nobody else may read it then."""
        return self._scope is not None

    def came_back(self) -> None:
        """Count the time that the application is away from now on."""
        self._away = 0

    def tick(
        self, read: Callable[[], Awaitable[None]], may_read: Callable[[], bool], *, receiving: bool
    ) -> None:
        """Start the task once the application has been away for long enough.

        ``read`` reads once; ``may_read`` says whether to go on. They are passed with each call:
        stored, they would keep a WebSocket that is over in memory until the garbage collector
        finds the circle.
        """
        self._away += 1
        if self._away > _AWAY and self._scope is None and not receiving and may_read():
            self._scope, self._stopped = trio.CancelScope(), trio.Event()
            self._nursery.start_soon(self._run, self._scope, read, may_read)

    async def stop(self) -> None:
        """Take the socket back: end the task, and wait until it has let go."""
        while self._scope is not None:
            self._scope.cancel()
            await self._stopped.wait()

    async def _run(
        self,
        scope: trio.CancelScope,
        read: Callable[[], Awaitable[None]],
        may_read: Callable[[], bool],
    ) -> None:
        with scope:
            while may_read():
                await read()
        self._scope = None
        self._stopped.set()
