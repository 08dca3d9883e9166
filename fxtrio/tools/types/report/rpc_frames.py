"""Messages of the language server protocol on a stream: a header with a length, then JSON."""

from __future__ import annotations

import json
from typing import Any

import trio

from fxtrio.errors import PlacedError

LARGEST_MESSAGE = 64 * 1024 * 1024
"""Bytes of one message, and of all that wait to be sent; an editor sends whole files."""

_LARGEST_HEADER = 4096  # bytes; there are two fields at most
_CHUNK = 65536
_LENGTH = b"content-length"


class FrameInvalid(PlacedError):
    """Bytes that are no message of the protocol: where the next one begins is not known."""

    remedy = "Start 'fx lsp' from an editor"

    def __init__(self, cause: str) -> None:
        super().__init__("language server", cause)


class MessageSource:
    """A stream as pygls reads one; at its end it reads b""."""

    def __init__(self, stream: trio.abc.ReceiveStream) -> None:
        self._stream = stream
        self._unread = bytearray()

    async def readline(self) -> bytes:
        """Return a line of a header. Raises FrameInvalid for one that is too long."""
        while (end := self._unread.find(b"\n") + 1) == 0:
            if len(self._unread) > _LARGEST_HEADER:
                raise FrameInvalid("its input is not a message")
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


async def read_message(source: MessageSource) -> Any:
    """Return the next message; None at the end. Raises FrameInvalid."""
    size: int | None = None
    while (line := await source.readline()).strip():
        name, colon, value = line.partition(b":")
        if not colon:
            raise FrameInvalid("its input is not a message")
        if name.strip().lower() == _LENGTH:
            size = _size(value.strip())
    if not line:
        return None
    if size is None:
        raise FrameInvalid("a message has no length")
    body = await source.readexactly(size)
    if len(body) < size:
        return None
    try:
        return json.loads(body)
    except ValueError as error:
        raise FrameInvalid("a message is not JSON") from error


def _size(value: bytes) -> int:
    if not value.isdigit() or len(value) > len(str(LARGEST_MESSAGE)):
        raise FrameInvalid("the length of a message is not a number")
    return int(value)


def message_bytes(message: Any) -> bytes:
    """Return a message as the other side reads it."""
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
