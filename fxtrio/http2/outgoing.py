"""Bodies of answers on their way to one client, as its windows let them pass.

All streams get a frame in turn: the priorities of RFC 7540 have been given up
(RFC 9113, 5.3), and no client can do harm with them here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio
from h2.connection import H2Connection
from h2.exceptions import ProtocolError

from fxtrio.http2.admission import Admission, Held, process_held

_HIGH = 32 * 1024
"""Bytes of one stream above which whoever adds to them waits."""

_FRAME = 32 * 1024
"""Longest frame, whatever the client allows: a longer one would hold the other streams up."""


class _Queue:
    def __init__(self, now: float) -> None:
        self.data = bytearray()
        self.ended = False
        self.moved = now
        self.changed = trio.Event()

    def change(self) -> None:
        self.changed.set()
        self.changed = trio.Event()


class Outgoing:
    """The queues of one connection. `run` empties them."""

    def __init__(self, connection: H2Connection, flush: Callable[[], Awaitable[None]]) -> None:
        self._connection = connection
        self._flush = flush
        self._queues: dict[int, _Queue] = {}
        self._wake = trio.Event()
        self._closed = False
        self._held = Held(process_held)
        self.admission = Admission(connection, self._held)

    async def run(self) -> None:
        """Send what the windows allow, until cancelled."""
        while True:
            moved = False
            for number, queue in list(self._queues.items()):
                moved = self._send_some(number, queue) or moved
            await self._flush()
            if not moved:
                await self._wake.wait()
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
            queue.moved = trio.current_time()
        queue.data += data
        self._held.add(len(data))
        self._wake.set()
        return len(queue.data)

    def end(self, stream: int) -> None:
        """End a body: the stream ends with its last byte."""
        self.add(stream, b"")
        if not self._closed:
            self._queues[stream].ended = True

    async def wait_room(self, stream: int) -> None:
        """Wait until a body is short enough to be added to, or gone."""
        while (queue := self._queues.get(stream)) is not None and len(queue.data) >= _HIGH:
            await queue.changed.wait()

    async def wait_sent(self, stream: int) -> None:
        """Wait until all of a body has been sent, its end included, or it is gone."""
        while (queue := self._queues.get(stream)) is not None and (queue.data or queue.ended):
            await queue.changed.wait()

    def drop(self, stream: int) -> None:
        """Forget a body, and hold nobody up."""
        queue = self._queues.pop(stream, None)
        if queue is not None:
            self._held.add(-len(queue.data))
            queue.data.clear()
            queue.change()
            self.admission.change()

    def close(self) -> None:
        """Forget all of them, and those that come."""
        self._closed = True
        for stream in list(self._queues):
            self.drop(stream)

    def stalled(self, before: float) -> list[int]:
        """Return the streams that wait for their client since ``before``."""
        return [
            number
            for number, queue in self._queues.items()
            if (queue.data or queue.ended) and queue.moved < before
        ]

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
                self._held.add(-len(data))
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
