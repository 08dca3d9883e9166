"""Reads ahead what a client sends, so that a disconnect is noticed even if nothing receives.

The pump always reads from the server into a bounded buffer. A handler that receives gets
every message, and a full buffer makes the client wait. If a handler has not received some
time after the buffer filled up, messages are dropped from then on, so that its client can
still read and disconnect.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from math import inf
from sys import getsizeof

import trio
from starlette.types import Message, Receive, Scope

from fxtrio.errors import PlacedError
from fxtrio.receive_budget import Backlog

CAPACITY = 64
"""Messages read ahead (count)."""

CAPACITY_BYTES = 64 * 1024
"""Bytes read ahead; a message beyond it is the last one."""

DEAF_AFTER = 10.0
"""How long a full buffer waits for a handler to begin to receive (seconds)."""

_TURNS = 4
"""Turns of the event loop in which a handler ends that leaves a channel, and does no more."""

_KEY = "fx.inbox"

_Callbacks = dict[Callable[[], Awaitable[None]], None]
"""In the order of their registration, which a set has not."""


class ReceiveBufferFull(PlacedError):
    """A WebSocket handler began to receive after messages had been dropped unread."""

    remedy = "Start to receive earlier"

    def __init__(self, dropped: int) -> None:
        cause = f"{dropped} messages arrived and were dropped before this first call"
        super().__init__("receive()", cause)
        self.dropped = dropped


class _Registered:
    """A callback that is registered for the length of a block."""

    __slots__ = ("_callback", "_callbacks")

    def __init__(self, callbacks: _Callbacks, callback: Callable[[], Awaitable[None]]) -> None:
        self._callbacks = callbacks
        self._callback = callback

    def __enter__(self) -> None:
        self._callbacks[self._callback] = None

    def __exit__(self, *error: object) -> None:
        self._callbacks.pop(self._callback, None)


class Inbox:
    """Reads ahead from an ASGI ``receive``, and provides one.

    ``connecting`` is whether the handshake was not received yet; ``address`` as in `Backlog`.
    """

    def __init__(self, source: Receive, *, connecting: bool = True, address: str = "") -> None:
        self.disconnect: Message | None = None
        """The disconnect event, once the client has disconnected."""

        self.listens = False
        """Whether the handler has received, or waits to, since the handshake."""

        self.crowded = False
        """Whether its messages were dropped because too many wait in the process."""

        self.give_up: Callable[[], object] = lambda: None
        """Called then. Ends the handler, without waiting."""

        self._source = source
        self._connecting = connecting
        self._messages: deque[Message] = deque()
        self._bytes = 0
        self._deaf = False
        self._dropped = 0
        self._backlog = Backlog(address, self._discard)
        self._readers = trio.lowlevel.ParkingLot()
        self._pump: trio.lowlevel.ParkingLot | None = None  # once the buffer has been full
        self._over = False  # whether the handler has ended
        self._ended: trio.Event | None = None  # set then, once somebody waits for it
        self._grace = 0.0
        self._waiting: trio.CancelScope | None = None  # of who waits for it, for as long as that
        self._callbacks: _Callbacks = {}

    @property
    def wanted(self) -> bool:
        """Whether the handler receives, or may still begin to."""
        return self.listens or (bool(self._messages) and not self._deaf)

    async def read_handshake(self) -> None:
        """Read it, if it was not received yet: a server has it ready, and needs no pump for it."""
        if self._connecting:
            self._take(await self._source())

    async def run(self) -> None:
        """Read until the client disconnects."""
        while self.disconnect is None:
            message = await self._source()
            if self._full() and not self._deaf and message["type"] != "websocket.disconnect":
                await self._wait_for_space()
            self._take(message)

    def end(self) -> None:
        """Note that the handler has ended. Whoever waits for that goes on."""
        self._over = True
        if self._ended is not None:
            self._ended.set()

    async def wait_end(self, nursery: trio.Nursery, grace: float) -> bool:
        """Wait for the handler; return False once it has received nothing for ``grace`` seconds.

        Shielded for as long, since a handler may outlive its cancellation. Those who wait for the
        disconnect are called in ``nursery``.
        """
        # Most end when they learn of it. They need no event, and nobody to leave their channels.
        for _ in range(_TURNS):
            if self._over:
                return True
            await trio.lowlevel.cancel_shielded_checkpoint()
        if self.disconnect is not None:
            for callback in tuple(self._callbacks):
                nursery.start_soon(callback)
        self._grace, self._ended = grace, trio.Event()
        with trio.move_on_after(grace, shield=True) as self._waiting:
            while not self._over:
                await self._ended.wait()
        self._waiting = None
        return self._over

    async def receive(self) -> Message:
        """Return the next message; after the last one, the disconnect, again and again.

        Raises ReceiveBufferFull on the first call after messages had been dropped.
        """
        if self._connecting:
            self._connecting = False
        else:
            self.listens, self._deaf = True, False
            if self._dropped:
                dropped, self._dropped = self._dropped, 0
                raise ReceiveBufferFull(dropped)
        while not self._messages:
            if self.disconnect is not None:
                return self.disconnect
            await self._readers.park()
        message = self._messages.popleft()
        if self._waiting is not None:
            self._waiting.deadline = trio.current_time() + self._grace
        self._bytes -= _size(message)
        if self._pump is not None:
            self._pump.unpark()
        if self._backlog.size:
            self._backlog.count(self._bytes)
        return message

    def on_disconnect(self, callback: Callable[[], Awaitable[None]]) -> _Registered:
        """Return a block; `wait_end` calls ``callback`` when the client disconnects within it."""
        return _Registered(self._callbacks, callback)

    @contextmanager
    def known_to(self, scope: Scope) -> Iterator[None]:
        """Let `find_inbox` find this inbox within the block."""
        scope[_KEY] = self
        try:
            yield
        finally:
            self._backlog.end()
            del scope[_KEY]  # the scope is part of the source: a cycle would outlive the client

    def _take(self, message: Message) -> None:
        if message["type"] == "websocket.disconnect":
            self.disconnect = message
            self._readers.unpark_all()
        elif self._full():
            self._dropped += 1
        else:
            self._bytes += _size(message)
            self._messages.append(message)
            self._readers.unpark()
            self._backlog.count(self._bytes)

    def _discard(self) -> None:
        """Drop the buffered messages, and end the handler: the buffer is full."""
        self._messages.clear()
        self._bytes = 0
        self.crowded = True
        self.give_up()

    async def _wait_for_space(self) -> None:
        """Wait until the handler receives; give up on one that never has."""
        if self._pump is None:
            self._pump = trio.lowlevel.ParkingLot()
        while self._full():
            with trio.move_on_after(inf if self.listens else DEAF_AFTER) as limit:
                await self._pump.park()
            if limit.cancelled_caught and not self.listens:
                self._deaf = True
                return

    def _full(self) -> bool:
        return len(self._messages) >= CAPACITY or self._bytes >= CAPACITY_BYTES


def find_inbox(scope: Scope) -> Inbox | None:
    """Return the inbox of a WebSocket, if it is served with one."""
    inbox: Inbox | None = scope.get(_KEY)
    return inbox


def _size(message: Message) -> int:
    return getsizeof(message.get("bytes") or message.get("text") or "")  # in memory
