"""Builds one gzip body from pieces that were deflated before: a stored body is compressed once.

A cached response is the same for all visitors except for its nonces, and for a number at its
end. Deflate has stored blocks for these, so all else is compressed once and only a checksum
is computed for each visitor (RFC 1951, 3.2.4; RFC 1952). zstd and Brotli cannot be spliced
like this.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import msgspec

STORED = "fx.stored"
"""Key in the ASGI scope of a request whose response is a `StoredBody`."""

_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_END = b"\x03\x00"
_LEVEL = 9
_RAW = -15


def deflate_pieces(pieces: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return each piece deflated separately, flushed to its last byte, without a final block."""
    deflated = []
    for piece in pieces:
        deflate = zlib.compressobj(_LEVEL, wbits=_RAW)
        deflated.append(deflate.compress(piece) + deflate.flush(zlib.Z_SYNC_FLUSH))
    return tuple(deflated)


class StoredBody(msgspec.Struct, frozen=True, eq=False):
    """A body as it is sent to one visitor, and its pieces."""

    body: bytes
    pieces: Sequence[bytes]
    """Deflated, by `deflate_pieces`."""

    between: bytes
    """Bytes between two pieces, at most 65,535."""

    tail: bytes
    """Bytes after the last one, at most 65,535."""

    public: bool = True
    """Whether it is the same for everybody, so that its size tells no visitor's secret."""

    def gzip(self) -> bytes:
        """Return ``body`` in the format of gzip."""
        body = self.body
        return b"".join(
            (
                _HEADER,
                _plain(self.between).join(self.pieces),
                _plain(self.tail),
                _END,
                zlib.crc32(body).to_bytes(4, "little"),
                (len(body) & 0xFFFFFFFF).to_bytes(4, "little"),
            )
        )


def _plain(data: bytes) -> bytes:
    """Return a stored block, which starts and ends at a byte boundary."""
    if not data:
        return b""
    size = len(data)
    return b"\x00" + size.to_bytes(2, "little") + (size ^ 0xFFFF).to_bytes(2, "little") + data
