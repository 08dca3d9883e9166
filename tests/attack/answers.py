"""What a server sent over one connection, read without trust in its framing. No I/O."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator

import attrs
from hpack import Decoder, HPACKError

from ..http1.frames import CLOSE
from ..http2.client import CONTINUATION, DATA, END_HEADERS, HEADERS
from .cases import Protocol

_GZIP = re.compile(rb"\x1f\x8b\x08")
_MOST_INFLATED = 10_000_000  # bytes of one member
_HEAD = re.compile(rb"HTTP/1\.1 (\d{3}) [^\r\n]*\r\n(.*?)\r\n\r\n", re.DOTALL)


@attrs.frozen
class Answer:
    """Everything that came back. ``text`` is all bodies, one after the other, or all bytes.

    What was sent as gzip stands in it a second time, as it was before.
    """

    statuses: tuple[int, ...]
    """Of final and interim responses; 503 only where it says when to come back as -503."""

    codes: tuple[int, ...]
    """Of close frames of a WebSocket."""

    text: bytes
    forged: bool = False
    """Whether a response has a header that a client has made up (`X-Forged`)."""

    @property
    def failures(self) -> tuple[int, ...]:
        """The statuses that say that the server is at fault.

        What it does not know how to do (501, 505) is the client's mistake, and 503 with
        `Retry-After` is what a full queue or budget is documented to be answered with.
        """
        return tuple(
            status for status in self.statuses if status >= 500 and status not in (501, 505)
        )


def read_answer(protocol: Protocol, data: bytes) -> Answer:
    """Return what the bytes of a connection mean."""
    if protocol == "http2":
        return _read_http2(data)
    heads = list(_HEAD.finditer(data))
    statuses = tuple(
        _status(int(head[1]), b"\nretry-after:" in b"\n" + head[2].lower()) for head in heads
    )
    codes: tuple[int, ...] = ()
    if protocol == "websocket" and heads and heads[0][1] == b"101":
        codes = tuple(_close_codes(data[heads[0].end() :]))
    forged = any(b"\nx-forged:" in b"\n" + head[2].lower() for head in heads)
    return Answer(statuses, codes, data + _inflated(data), forged)


def _status(status: int, says_when: bool) -> int:
    return -503 if status == 503 and says_when else status


def _close_codes(data: bytes) -> Iterator[int]:
    while len(data) >= 2:
        opcode, size, start = data[0] & 0x0F, data[1] & 0x7F, 2
        if size >= 126:
            start = 4 if size == 126 else 10
            size = int.from_bytes(data[2:start])
        if opcode == CLOSE and size >= 2 and len(data) >= start + 2:
            yield struct.unpack("!H", data[start : start + 2])[0]
        data = data[start + size :]


def _read_http2(data: bytes) -> Answer:
    statuses: list[int] = []
    forged = False
    bodies = block = b""
    decoder = Decoder()
    while len(data) >= 9:
        size, kind, flags = int.from_bytes(data[:3]), data[3], data[4]
        payload, data = data[9 : 9 + size], data[9 + size :]
        if kind == DATA:
            bodies += payload
        elif kind in (HEADERS, CONTINUATION):
            block += payload
            if flags & END_HEADERS:
                try:
                    fields = dict(decoder.decode(block, raw=True))
                except HPACKError:
                    break  # cut off by us, when we had waited long enough
                block = b""
                forged |= b"x-forged" in fields
                if b":status" in fields:
                    statuses.append(_status(int(fields[b":status"]), b"retry-after" in fields))
    return Answer(tuple(statuses), (), bodies + _inflated(bodies), forged)


def _inflated(data: bytes) -> bytes:
    """Return what the gzip members in it hold, as far as they can be read."""
    found = []
    for member in _GZIP.finditer(data):
        try:
            reader = zlib.decompressobj(wbits=31)
            found.append(reader.decompress(data[member.start() :], _MOST_INFLATED))
        except zlib.error:  # only looks like one, or is cut by chunks
            continue
    return b"".join(found)
