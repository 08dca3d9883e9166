"""Bytes from pygls to trio's streams: what it writes to. It reads from a `MessageSource`."""

from __future__ import annotations

import trio

from fxtrio.tools.types.report.rpc_frames import LARGEST_MESSAGE

SEND_TIMEOUT = 10.0
"""How long the other side may read nothing before the connection is given up (seconds)."""


class MessageSink:
    """A stream as pygls writes to one: at once, while `run` sends what was written.

    When the other side reads nothing for SEND_TIMEOUT, or so much waits that it cannot be of
    use any more, `run` ends, and what is written is dropped.
    """

    def __init__(self, stream: trio.abc.SendStream) -> None:
        self._stream = stream
        self._unsent = bytearray()
        self._written = trio.Event()
        self._lost = False

    def write(self, data: bytes) -> None:
        """Take a message."""
        if self._lost or len(self._unsent) > LARGEST_MESSAGE:
            self._lost = True
        else:
            self._unsent += data
        self._written.set()

    def close(self) -> None:
        """Leave the stream to its owner."""

    async def run(self) -> None:
        """Send until the other side is gone; returns then."""
        while not self._lost:
            await self._written.wait()
            self._written = trio.Event()
            data, self._unsent = self._unsent, bytearray()
            with trio.move_on_after(SEND_TIMEOUT) as time:
                try:
                    await self._stream.send_all(data)
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    self._lost = True
            self._lost = self._lost or time.cancelled_caught
