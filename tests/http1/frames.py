"""WebSocket frames as a client makes them, by hand, and a client that speaks them."""

from __future__ import annotations

import base64
import os
import struct
import zlib

import attrs
import trio

from .support import PATIENCE, Client, Server

CONT, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
KEY = base64.b64encode(b"sixteen bytes ok")
TAIL = b"\x00\x00\xff\xff"
"""What each message of permessage-deflate ends with, and is sent without."""


def bomb(size: int) -> bytes:
    """Return so many zeros (bytes, a multiple of a million), packed without making them all."""
    packer = zlib.compressobj(wbits=-15)
    million = packer.compress(bytes(1_000_000)) + packer.flush(zlib.Z_FULL_FLUSH)
    return (million * (size // 1_000_000)).removesuffix(TAIL)


def frame(
    opcode: int,
    payload: bytes = b"",
    *,
    fin: bool = True,
    rsv: int = 0,
    masked: bool = True,
    mask: bytes | None = None,
) -> bytes:
    first = (0x80 if fin else 0) | (rsv << 4) | opcode
    second = 0x80 if masked else 0
    if len(payload) < 126:
        head = struct.pack("!BB", first, second | len(payload))
    elif len(payload) < 65536:
        head = struct.pack("!BBH", first, second | 126, len(payload))
    else:
        head = struct.pack("!BBQ", first, second | 127, len(payload))
    if not masked:
        return head + payload
    mask = mask or os.urandom(4)
    long = (mask * (len(payload) // 4 + 1))[: len(payload)]
    data = int.from_bytes(payload, "big") ^ int.from_bytes(long, "big")
    return head + mask + data.to_bytes(len(payload), "big")


def close_frame(code: int, reason: bytes = b"") -> bytes:
    return frame(CLOSE, struct.pack("!H", code) + reason)


@attrs.frozen
class Frame:
    opcode: int
    payload: bytes
    fin: bool
    rsv: int

    @property
    def code(self) -> int | None:
        assert self.opcode == CLOSE
        return struct.unpack("!H", self.payload[:2])[0] if self.payload else None


def upgrade(path: bytes = b"/", *lines: bytes, version: bytes = b"13", key: bytes = KEY) -> bytes:
    return b"\r\n".join(
        [
            b"GET %b HTTP/1.1" % path,
            b"Host: a",
            b"Upgrade: websocket",
            b"Connection: Upgrade",
            b"Sec-WebSocket-Version: " + version,
            b"Sec-WebSocket-Key: " + key,
            *lines,
            b"",
            b"",
        ]
    )


class WebSocket(Client):
    async def frame(self) -> Frame:
        with trio.fail_after(PATIENCE):
            first, second = await self.exactly(2)
            assert not second & 0x80, "a server must not mask"
            size = second & 0x7F
            if size == 126:
                (size,) = struct.unpack("!H", await self.exactly(2))
                assert size > 125
            elif size == 127:
                (size,) = struct.unpack("!Q", await self.exactly(8))
                assert size > 65535
            payload = await self.exactly(size)
        return Frame(first & 0x0F, payload, bool(first & 0x80), (first >> 4) & 7)


async def open_websocket(server: Server, path: bytes = b"/", *lines: bytes) -> WebSocket:
    client = WebSocket((await server.connect()).stream)
    await client.send(upgrade(path, *lines))
    reply = await client.reply()
    assert reply.status == 101, reply
    return client
