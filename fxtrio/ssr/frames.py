"""The frames exchanged with a Node worker: bytes in, frames out. No I/O, no clock.

A frame is ``u32 length | u32 id | u16 page | u8 type | u8 flags | payload``, little
endian; ``length`` counts everything after itself (docs/wire.md, "Frames"). The
other half is `fxtrio/js/worker/frames.cjs`; both are tested with
`tests/wire/frames.json`. Used by `fxtrio.ssr.render_worker`.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

import msgspec

from fxtrio.ssr.errors import FrameSizeInvalid

RENDER: Final = 0
STREAM: Final = 1
RESOLVE: Final = 2
ABORT: Final = 3
PING: Final = 4
CREDIT: Final = 5
HTML: Final = 16
ERROR: Final = 17
CHUNK: Final = 18
END: Final = 19
READY: Final = 20
PONG: Final = 21

HAS_HEAD: Final = 1
"""Flag of a CHUNK: the payload has the shape of an HTML payload."""

REJECTED: Final = 1
"""Flag of a RESOLVE: the value is the reason of a rejection."""

TIME_UNIT: Final = 10.0
"""Microseconds in one step of the render time that an HTML frame has as its page."""

STREAM_WINDOW: Final = 262_144
"""Bytes of a stream that may be on their way without having been taken by its reader."""

FRAME_LIMIT: Final = 64 * 1024 * 1024
"""Largest length of a frame, both ways (bytes)."""

HEADER: Final = struct.Struct("<IIHBB")
HEADER_SIZE: Final = HEADER.size
_LEAST = HEADER_SIZE - 4  # the length of a frame without a payload
_U32: Final = struct.Struct("<I")


class RenderFrame(NamedTuple):
    """One message of the wire."""

    id: int
    page: int
    type: int
    flags: int
    payload: bytes | memoryview
    """Of what the reader was fed with: a view is valid as long as that."""


class Rendered(NamedTuple):
    """HTML of a page. A tuple, since every render creates one."""

    head: bytes
    """Elements for ``<head>``; empty in all chunks of a stream but the first."""

    html: bytes
    """The inside of the root element, or the next part of it."""


def encode_frame(type: int, id: int, page: int, payload: bytes, flags: int = 0) -> bytes:
    """Return one frame.

    Raises FrameSizeInvalid when the payload is too large for the other side.
    """
    check_payload(payload)
    return HEADER.pack(_LEAST + len(payload), id, page, type, flags) + payload


def check_payload(payload: bytes) -> None:
    """Raise FrameSizeInvalid when ``payload`` does not fit into a frame."""
    if len(payload) > FRAME_LIMIT - _LEAST:
        raise FrameSizeInvalid(_LEAST + len(payload), FRAME_LIMIT)


def encode_credit(id: int, size: int) -> bytes:
    """Return the frame that lets the worker send ``size`` more bytes of a stream."""
    return HEADER.pack(_LEAST + 4, id, 0, CREDIT, 0) + _U32.pack(size)


def split_rendered(payload: bytes | memoryview) -> Rendered:
    """Return head and HTML of the payload of an HTML frame, copied.

    Raises FrameSizeInvalid when the head is longer than the payload.
    """
    size = len(payload) - 4
    head = _U32.unpack_from(payload)[0] if size >= 0 else 0
    if head > size:
        raise FrameSizeInvalid(head, max(size, 0))
    return Rendered(bytes(payload[4 : 4 + head]) if head else b"", bytes(payload[4 + head :]))


class FrameReader(msgspec.Struct):
    """Bytes of a socket in, frames out. Holds at most one unfinished frame."""

    limit: int = FRAME_LIMIT
    """Largest length (bytes)."""

    _parts: list[bytes] = msgspec.field(default_factory=list)
    _held: int = 0
    _needed: int = HEADER_SIZE

    def feed(self, data: bytes | memoryview) -> list[RenderFrame]:
        """Return the frames that ``data`` completes, oldest first.

        Nothing but what is left over is copied: the frames are to be used before ``data`` is
        written to again.

        Raises FrameSizeInvalid as soon as the header of a frame is complete whose length
        is above ``limit`` or too small for a header. The reader is of no use after it.
        """
        if self._parts:
            self._parts.append(bytes(data))
            self._held += len(data)
            if self._held < self._needed:
                return []
            data = b"".join(self._parts)
        frames: list[RenderFrame] = []
        start, size = 0, len(data)
        needed = HEADER_SIZE
        while size - start >= HEADER_SIZE:
            length, id, page, type, flags = HEADER.unpack_from(data, start)
            if not _LEAST <= length <= self.limit:
                raise FrameSizeInvalid(length, self.limit)
            end = start + 4 + length
            if end > size:
                needed = 4 + length
                break
            frames.append(RenderFrame(id, page, type, flags, data[start + HEADER_SIZE : end]))
            start = end
        self._keep(bytes(data[start:]), needed)
        return frames

    def _keep(self, rest: bytes, needed: int) -> None:
        """Hold the beginning of an unfinished frame of ``needed`` bytes."""
        self._parts = [rest] if rest else []
        self._held = len(rest)
        self._needed = needed
