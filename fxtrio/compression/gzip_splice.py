"""One gzip body of pieces that were deflated before: what is kept is compressed once.

A stored response is the same for everybody but for a nonce here and there, and for a number
at its end. Deflate has blocks of plain bytes for these, so all else is compressed once and
only a checksum is computed for each visitor (RFC 1951, 3.2.4; RFC 1952). Neither zstd nor
Brotli can be put together so.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import attrs

STORED = "fx.stored"
"""Key in the ASGI scope of a request that is answered with a `StoredBody`."""

_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_END = b"\x03\x00"
_LEVEL = 9
_RAW = -15


def deflate_pieces(pieces: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return each piece deflated by itself, to its last byte, and without an end."""
    made = []
    for piece in pieces:
        deflate = zlib.compressobj(_LEVEL, wbits=_RAW)
        made.append(deflate.compress(piece) + deflate.flush(zlib.Z_SYNC_FLUSH))
    return tuple(made)


@attrs.frozen(eq=False)
class StoredBody:
    """A body as it is sent to one visitor, and what it was made of."""

    body: bytes
    pieces: Sequence[bytes]
    """Deflated, by `deflate_pieces`."""

    between: bytes
    """What stands between two pieces, at most 65,535 bytes."""

    tail: bytes
    """What stands behind the last one, at most as long."""

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
    """Return a block of plain bytes, which begins and ends with a whole byte."""
    if not data:
        return b""
    size = len(data)
    return b"\x00" + size.to_bytes(2, "little") + (size ^ 0xFFFF).to_bytes(2, "little") + data
