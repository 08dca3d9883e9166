"""Queues of response bodies for one client, sent as its flow-control windows allow.

All streams get a frame in turn: the priorities of RFC 7540 are deprecated
(RFC 9113, 5.3), and clients cannot abuse them here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio
from h2.connection import H2Connection
from h2.exceptions import ProtocolError

from fxtrio.send_budget import Unread
from fxtrio.server.http2.backpressure import Admission

_HIGH = 32 * 1024
"""Bytes of one stream above which senders wait."""

_FRAME = 32 * 1024
"""Longest frame, whatever the client allows: a longer one would hold the other streams up."""


_FLUSHED = 128 * 1024
"""Bytes in h2's buffer after which the socket is awaited."""


class _Queue:
    def __init__(self, now: float) -> None:
        self.data = bytearray()
        self.ended = False
        self.moved = now
        self.changed = trio.Event()

    def change(self) -> None:
        self.changed.set()
        self.changed = trio.Event()


class SendQueues:
    """The queues of one connection. `run` empties them."""

    def __init__(
        self,
        connection: H2Connection,
        flush: Callable[[], Awaitable[None]],
        *,
        address: str,
        give_up: Callable[[], None],
    ) -> None:
        """``give_up`` ends the connection of a client that reads too slowly, without waiting.

        ``address`` is as in `Unread`.
        """
        self._connection = connection
        self._flush = flush
        self._queues: dict[int, _Queue] = {}
        self._wake = trio.Event()
        self._closed = False
        self._give_up = give_up
        self._flushing = 0  # bytes that h2 has, and the socket has not
        self.unread = Unread(address, self._cut_off)
        self.admission = Admission(connection, self.unread)

    async def run(self) -> None:
        """Send as much as the windows allow, until cancelled."""
        while True:
            moved = False
            # A copy: bodies begin and end while the socket is waited for.
            for number, queue in list(self._queues.items()):
                moved = self._send_some(number, queue) or moved
                if self._flushing >= _FLUSHED:
                    await self._flush_counted()
            await self._flush_counted()
            if not moved:
                await self._wake.wait()
            # Set during a round that has moved something, it is answered by the next round.
            self._wake = trio.Event()

    def wake(self) -> None:
        """Look again: a window has grown, or something else is to be flushed."""
        self._wake.set()
        self.admission.change()

    def is_empty(self) -> bool:
        """Return whether nothing waits, and no body has begun."""
        return not self._queues

    def add(self, stream: int, data: bytes) -> int:
        """Add to a body without waiting. Return how many bytes of it wait now."""
        if self._closed:
            return 0
        queue = self._queues.get(stream)
        if queue is None:
            queue = self._queues[stream] = _Queue(trio.current_time())
        elif not queue.data:
            # While nothing waited, its client owed nothing.
            queue.moved = trio.current_time()
        queue.data += data
        self._count(len(data))
        self._wake.set()
        return len(queue.data)

    def end(self, stream: int) -> None:
        """End a body: the stream ends with its last byte."""
        self.add(stream, b"")
        if not self._closed:
            self._queues[stream].ended = True

    async def wait_room(self, stream: int) -> None:
        """Wait until the queue of a body has room, or was dropped."""
        while (queue := self._queues.get(stream)) is not None and len(queue.data) >= _HIGH:
            await queue.changed.wait()

    async def wait_sent(self, stream: int) -> None:
        """Wait until a body has been sent, including its end, or was dropped."""
        while (queue := self._queues.get(stream)) is not None and (queue.data or queue.ended):
            await queue.changed.wait()

    def drop(self, stream: int) -> None:
        """Drop a body, and wake waiting senders."""
        queue = self._queues.pop(stream, None)
        if queue is not None:
            self._count(-len(queue.data))
            queue.data.clear()
            queue.change()
            self.admission.change()

    def close(self) -> None:
        """Forget all of them, and those that come."""
        self._closed = True
        for stream in list(self._queues):
            self.drop(stream)

    async def send(self, stream: int, data: bytes, goes_on: Callable[[int], bool]) -> None:
        """Add to a body, and wait for room; a large ``data`` is queued in parts, without a copy.

        It is counted as a whole. ``goes_on`` is called before each part, with its size.
        """
        large = len(data) > _HIGH
        if large:
            self.unread.hold(data)
        try:
            for start in range(0, len(data), _HIGH):
                part = data[start : start + _HIGH]
                if not goes_on(len(part)):
                    return
                self.add(stream, part)
                await self.wait_room(stream)
        finally:
            if large:
                self.unread.release(data)

    def slow(self, grace: float, rate: float) -> list[int]:
        """Return the streams that wait, when their client takes too little of them together.

        That is less than ``rate`` bytes a second, after ``grace`` seconds.
        """
        if not self.unread.is_too_slow(trio.current_time(), grace, rate):
            return []
        return [number for number, queue in self._queues.items() if queue.data]

    def stalled(self, before: float) -> list[int]:
        """Return the streams that wait for their client since ``before``."""
        return [
            number
            for number, queue in self._queues.items()
            if (queue.data or queue.ended) and queue.moved < before
        ]

    def _count(self, size: int) -> None:
        if size:
            self.admission.queued += size
            self.unread.count(size)

    def _cut_off(self) -> None:
        self.close()
        self._give_up()

    async def _flush_counted(self) -> None:
        """Write the buffer of h2 to the socket, and wait for that."""
        size, self._flushing = self._flushing, 0
        try:
            await self._flush()
        finally:
            if size:
                self.unread.taken += size
                self.unread.count(-size)

    def _send_some(self, stream: int, queue: _Queue) -> bool:
        connection = self._connection
        try:
            if queue.data:
                room = min(
                    connection.local_flow_control_window(stream),
                    connection.max_outbound_frame_size,
                    _FRAME,
                )
                if room <= 0:
                    return False
                data = bytes(queue.data[:room])
                del queue.data[:room]
                self.admission.queued -= len(data)
                self._flushing += len(data)
                ended = queue.ended and not queue.data
                connection.send_data(stream, data, end_stream=ended)
            elif queue.ended:
                ended = True
                connection.end_stream(stream)
            else:
                return False
        except ProtocolError:  # the stream is closed
            self.drop(stream)
            return True
        queue.moved = trio.current_time()
        if ended:
            del self._queues[stream]
        queue.change()
        self.admission.change()
        return True
