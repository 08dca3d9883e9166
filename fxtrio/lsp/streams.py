"""Bytes between pygls and trio's streams: what pygls reads from, and what it writes to."""

from __future__ import annotations

import trio

from fxtrio.errors import FxtrioError

LARGEST_MESSAGE = 64 * 1024 * 1024
"""Bytes of one message, and of all that wait to be sent; an editor sends whole files."""

SEND_TIMEOUT = 10.0
"""How long the other side may read nothing before the connection is given up (seconds)."""

_LARGEST_HEADER = 4096  # bytes; there are two fields at most
_CHUNK = 65536


class FrameInvalid(FxtrioError):
    """Bytes that are no message of the protocol: where the next one begins is not known."""

    def __init__(self, cause: str) -> None:
        super().__init__(f"language server: {cause}. Start 'fx lsp' from an editor.")


class MessageSource:
    """A stream as pygls reads one; at its end it reads b""."""

    def __init__(self, stream: trio.abc.ReceiveStream) -> None:
        self._stream = stream
        self._unread = bytearray()

    async def readline(self) -> bytes:
        """Return a line of a header. Raises FrameInvalid for one that is too long."""
        while (end := self._unread.find(b"\n") + 1) == 0:
            if len(self._unread) > _LARGEST_HEADER:
                raise FrameInvalid("its input is no message")
            if not await self._read():
                return b""
        return self._take(end)

    async def readexactly(self, size: int) -> bytes:
        """Return a body. Raises FrameInvalid for one that is too long."""
        if size > LARGEST_MESSAGE:
            raise FrameInvalid(f"a message has {size} bytes, above {LARGEST_MESSAGE}")
        while len(self._unread) < size:
            if not await self._read():
                return b""
        return self._take(size)

    async def _read(self) -> bool:
        try:
            data = await self._stream.receive_some(_CHUNK)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return False
        self._unread += data
        return bool(data)

    def _take(self, size: int) -> bytes:
        data = bytes(self._unread[:size])
        del self._unread[:size]
        return data


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
