"""The cases of the Autobahn test suite, by its numbers, and what RFC 6455 says besides.

Each row is what a client sends to an application that echoes, and all that it gets. It
is run in one write, byte by byte, and with compression agreed on.
"""

from __future__ import annotations

import struct
import zlib

import pytest
import trio

from fxtrio.server.http1 import ServerLimits

from .frames import (
    BINARY,
    CLOSE,
    CONT,
    PING,
    PONG,
    TEXT,
    WebSocket,
    close_frame,
    frame,
    upgrade,
)
from .support import PATIENCE, Server, open_server
from .websocket_apps import echo

Row = tuple[list[bytes], list[tuple[int, bytes]]]

BYE = close_frame(1000)
END = (CLOSE, struct.pack("!H", 1000))
HELLO = frame(TEXT, b"Hello")
HEARD = (TEXT, b"Hello")


def closed(code: int) -> tuple[int, bytes]:
    return CLOSE, struct.pack("!H", code)


BROKEN = closed(1002)
NO_TEXT = closed(1007)
SIZES = [0, 125, 126, 127, 128, 65535, 65536]


def pieces(opcode: int, parts: list[bytes]) -> list[bytes]:
    last = len(parts) - 1
    return [
        frame(CONT if number else opcode, part, fin=number == last)
        for number, part in enumerate(parts)
    ]


def framed(first: int, length: bytes, payload: bytes) -> bytes:
    """Return a frame whose length is written as ``length``, first byte included."""
    return bytes([first]) + bytes([length[0] | 0x80]) + length[1:] + b"\0\0\0\0" + payload


MESSAGES: dict[str, Row] = {
    **{f"1.1 text of {n}": ([frame(TEXT, b"*" * n)], [(TEXT, b"*" * n)]) for n in SIZES},
    **{
        f"1.2 binary of {n}": ([frame(BINARY, b"\xfe" * n)], [(BINARY, b"\xfe" * n)]) for n in SIZES
    },
    "9.3 a large message in fragments": (
        pieces(TEXT, [b"*" * 4096] * 64),
        [(TEXT, b"*" * 262_144)],
    ),
    "10.1 frames of the size of a packet": (
        pieces(BINARY, [b"*" * 1300] * 50),
        [(BINARY, b"*" * 65_000)],
    ),
    "5.3 a mask of zeros masks nothing": (
        [b"\x81\x85\0\0\0\0Hello"],
        [HEARD],
    ),
}

PINGS: dict[str, Row] = {
    "2.1 an empty ping": ([frame(PING)], [(PONG, b"")]),
    "2.2 a ping": ([frame(PING, b"Hello")], [(PONG, b"Hello")]),
    "2.3 a ping that is no text": ([frame(PING, b"\0\xff\xfe")], [(PONG, b"\0\xff\xfe")]),
    "2.4 the longest ping": ([frame(PING, b"\xfe" * 125)], [(PONG, b"\xfe" * 125)]),
    "2.5 a longer ping": ([frame(PING, b"\xfe" * 126)], [BROKEN]),
    "2.7 an empty pong": ([frame(PONG)], []),
    "2.8 a pong": ([frame(PONG, b"unsolicited")], []),
    "2.9 a ping after a pong": ([frame(PONG, b"x"), frame(PING, b"y")], [(PONG, b"y")]),
    "2.10 ten pings": (
        [frame(PING, b"%d" % n) for n in range(10)],
        [(PONG, b"%d" % n) for n in range(10)],
    ),
    "5.5 a longer pong": ([frame(PONG, b"*" * 126)], [BROKEN]),
    "5.5 a pong with an extended length": ([framed(0x8A, b"\x7e\0\x05", b"Hello")], [BROKEN]),
    "5.5 a ping that says it is huge": (
        [framed(0x89, b"\x7f" + b"\0" * 7 + b"\x7e", b"")],
        [BROKEN],
    ),
}

BITS: dict[str, Row] = {
    **{
        f"3 reserved bits {rsv} of opcode {opcode}": (
            [HELLO, frame(opcode, b"", rsv=rsv), HELLO],
            [HEARD, BROKEN],
        )
        for rsv in (1, 2, 3, 5, 6, 7)
        for opcode in (TEXT, BINARY, PING, PONG, CLOSE)
    },
    **{
        f"4 reserved opcode {opcode}": (
            [HELLO, frame(opcode, payload), HELLO],
            [HEARD, BROKEN],
        )
        for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)
        for payload in (b"", b"x")
    },
    **{
        f"5.1 opcode {opcode} without a mask": (
            [HELLO, frame(opcode, b"", masked=False)],
            [HEARD, BROKEN],
        )
        for opcode in (TEXT, BINARY, CONT, PING, PONG, CLOSE)
    },
    "5.2 a length of 125 in three bytes": ([framed(0x82, b"\x7e\0\x7d", b"*" * 125)], [BROKEN]),
    "5.2 a length of 126 in nine bytes": (
        [framed(0x82, b"\x7f" + b"\0" * 7 + b"\x7e", b"*" * 126)],
        [BROKEN],
    ),
    "5.2 a length of 65535 in nine bytes": (
        [framed(0x82, b"\x7f" + b"\0" * 6 + b"\xff\xff", b"*" * 65535)],
        [BROKEN],
    ),
    "5.2 a length with its highest bit": ([framed(0x82, b"\x7f\x80" + b"\0" * 7, b"")], [BROKEN]),
    "5.2 a length above the limit": (
        [framed(0x82, b"\x7f\x7f" + b"\xff" * 7, b"")],
        [closed(1009)],
    ),
}

FRAGMENTS: dict[str, Row] = {
    "5.1 a ping in fragments": ([frame(PING, b"a", fin=False), frame(CONT, b"b")], [BROKEN]),
    "5.2 a pong in fragments": ([frame(PONG, b"a", fin=False), frame(CONT, b"b")], [BROKEN]),
    "7 a close in fragments": ([frame(CLOSE, b"", fin=False)], [BROKEN]),
    "5.3 a text in two": (pieces(TEXT, [b"Hel", b"lo"]), [HEARD]),
    "5.5 empty fragments": (pieces(TEXT, [b"", b"Hello", b"", b""]), [HEARD]),
    "5.5 nothing in fragments": (pieces(BINARY, [b"", b"", b""]), [(BINARY, b"")]),
    "5.6 a ping in between": (
        [frame(TEXT, b"Hel", fin=False), frame(PING, b"p"), frame(CONT, b"lo")],
        [(PONG, b"p"), HEARD],
    ),
    "5.9 a continuation of nothing": ([frame(CONT, b"a"), HELLO], [BROKEN]),
    "5.11 an unfinished continuation of nothing": ([frame(CONT, b"a", fin=False)], [BROKEN]),
    "5.15 a continuation of what is finished": (
        [*pieces(TEXT, [b"Hel", b"lo"]), frame(CONT, b"c", fin=False), HELLO],
        [HEARD, BROKEN],
    ),
    "5.18 a text inside a text": ([frame(TEXT, b"a", fin=False), HELLO], [BROKEN]),
    "5.18 a binary inside a text": ([frame(TEXT, b"a", fin=False), frame(BINARY)], [BROKEN]),
    "5.18 a text inside a binary": ([frame(BINARY, b"a", fin=False), HELLO], [BROKEN]),
    "5.19 pings between fragments": (
        [
            *(frame(TEXT, b"a", fin=False), frame(CONT, b"b", fin=False), frame(PING, b"1")),
            *(frame(CONT, b"c", fin=False), frame(PING, b"2"), frame(CONT, b"d")),
        ],
        [(PONG, b"1"), (PONG, b"2"), (TEXT, b"abcd")],
    ),
}

VALID = {
    "6.2.1 three scripts": "Hello-µ@ßöäüàá-UTF-8!!".encode(),
    "6.5 greek": "κόσμε".encode(),
    "6.6 a byte order mark": b"\xef\xbb\xbfHello",
    "6.7 the first of each length": "\0\x80ࠀ𐀀".encode(),
    "6.9 the last of each length": b"\x7f\xdf\xbf\xef\xbf\xbf\xf4\x8f\xbf\xbf",
    "6.11 around the surrogates": b"\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbd",
    "6.22 no characters": b"\xef\xbf\xbe\xef\xbf\xbf\xf0\x9f\xbf\xbe\xf4\x8f\xbf\xbf",
}
INVALID = {
    "6.3 a surrogate": b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80edited",
    "6.8 of five bytes": b"\xf8\x88\x80\x80\x80",
    "6.8 of six bytes": b"\xfc\x84\x80\x80\x80\x80",
    "6.10 above Unicode": b"\xf4\x90\x80\x80",
    "6.12 a continuation alone": b"\x80",
    "6.12 many continuations": b"\xbf\x80" * 30,
    "6.13 beginnings alone": b"\xc0 \xdf \xe0 \xef \xf0 \xf7 ",
    "6.14 cut short at two": b"\xdf",
    "6.14 cut short at three": b"\xef\xbf",
    "6.14 cut short at four": b"\xf0\x90\x80",
    "6.15 all cut short": b"\xc0\xe0\x80\xf0\x80\x80",
    "6.16 impossible bytes": b"\xfe\xfe\xff\xff",
    "6.17 a slash in two bytes": b"\xc0\xaf",
    "6.18 the longest too long": b"\xc1\xbf",
    "6.18 too long in three": b"\xe0\x9f\xbf",
    "6.18 too long in four": b"\xf0\x8f\xbf\xbf",
    "6.19 a NUL in two bytes": b"\xc0\x80",
    "6.20 the last surrogate": b"\xed\xbf\xbf",
    "6.21 paired surrogates": b"\xed\xa0\x80\xed\xb0\x80",
}
TEXTS: dict[str, Row] = {
    **{rule: ([frame(TEXT, text)], [(TEXT, text)]) for rule, text in VALID.items()},
    **{
        f"{rule}, byte by byte": (
            pieces(TEXT, [bytes([byte]) for byte in text]),
            [(TEXT, text)],
        )
        for rule, text in VALID.items()
    },
    **{rule: ([frame(TEXT, text), HELLO], [NO_TEXT]) for rule, text in INVALID.items()},
    **{
        f"{rule}, byte by byte": (pieces(TEXT, [bytes([byte]) for byte in text]), [NO_TEXT])
        for rule, text in INVALID.items()
    },
    "6.4 it is said before the message ends": (
        [frame(TEXT, b"ok", fin=False), frame(CONT, b"\xf4\x90", fin=False)],
        [NO_TEXT],
    ),
    "6.1 binary need not be text": ([frame(BINARY, b"\xff\xc0")], [(BINARY, b"\xff\xc0")]),
    "6.1 binary in fragments, either": (
        pieces(BINARY, [b"\xff", b"\xc0"]),
        [(BINARY, b"\xff\xc0")],
    ),
}

CLOSES: dict[str, Row] = {
    "7.1.1 a message before": ([HELLO, BYE], [HEARD, END]),
    "7.1.2 two closes": ([BYE, BYE], [END]),
    "7.1.3 a ping after it": ([BYE, frame(PING)], [END]),
    "7.1.4 a text after it": ([BYE, HELLO], [END]),
    "7.1.5 the end of a message after it": (
        [frame(TEXT, b"a", fin=False), BYE, frame(CONT, b"b")],
        [END],
    ),
    "7.1.6 a large message before it": (
        [frame(TEXT, b"*" * 65_000), HELLO, BYE, frame(PING)],
        [(TEXT, b"*" * 65_000), HEARD, END],
    ),
    "7.1 noise after it": ([BYE, b"\xff" * 200], [END]),
    "7.3.1 without a code": ([frame(CLOSE)], [(CLOSE, b"")]),
    "7.3.2 half a code": ([frame(CLOSE, b"\x03")], [BROKEN]),
    "7.3.4 with a reason": ([close_frame(1000, b"Hello")], [(CLOSE, END[1] + b"Hello")]),
    "7.3.5 the longest reason": ([close_frame(1000, b"*" * 123)], [(CLOSE, END[1] + b"*" * 123)]),
    "7.3.6 a longer reason": ([close_frame(1000, b"*" * 124)], [BROKEN]),
    "7.5.1 a reason that is no text": ([close_frame(1000, INVALID["6.3 a surrogate"])], [NO_TEXT]),
    **{
        f"7.7 code {code}": ([close_frame(code)], [closed(code)])
        for code in (
            *(1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014),
            *(3000, 3999, 4000, 4999),
        )
    },
    **{
        f"7.9 code {code}": ([close_frame(code)], [BROKEN])
        for code in (0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535)
    },
}

CASES = MESSAGES | PINGS | BITS | FRAGMENTS | TEXTS | CLOSES
LIMITS = ServerLimits(websocket_compression=True)
DEFLATE = b"Sec-WebSocket-Extensions: permessage-deflate"


async def talk(server: Server, sent: list[bytes], mode: str) -> list[tuple[int, bytes]]:
    """Return all frames that come back, up to the end of the connection."""
    inflate = zlib.decompressobj(wbits=-15)
    client = WebSocket((await server.connect()).stream)
    async with client:
        await client.send(upgrade(b"/", *([DEFLATE] if mode == "deflate" else [])))
        reply = await client.reply()
        assert reply.status == 101
        assert (reply.get(b"sec-websocket-extensions") is not None) == (mode == "deflate")
        data = b"".join(sent)
        try:
            for start in range(0, len(data), 1 if mode == "bytes" else len(data)):
                await client.send(data[start : start + (1 if mode == "bytes" else len(data))])
                if mode == "bytes" and start < 500:
                    await trio.lowlevel.checkpoint()
        except trio.BrokenResourceError:
            assert mode == "bytes"  # closed in the middle
        found: list[tuple[int, bytes]] = []
        with trio.fail_after(PATIENCE):
            while not found or found[-1][0] != CLOSE:
                answer = await client.frame()
                payload = answer.payload
                assert answer.fin
                if answer.opcode in (TEXT, BINARY):
                    assert answer.rsv == (4 if mode == "deflate" else 0)
                    if mode == "deflate":
                        payload = inflate.decompress(payload + b"\0\0\xff\xff")
                else:
                    assert answer.rsv == 0
                if answer.opcode == CLOSE and payload[:2] in (BROKEN[1], NO_TEXT[1], b"\x03\xf1"):
                    payload = payload[:2]  # our reasons are our own
                found.append((answer.opcode, payload))
            assert await client.is_closed()
        return found


@pytest.mark.parametrize("rule", CASES)
async def test_a_websocket_keeps_to_the_rules(rule: str) -> None:
    sent, expected = CASES[rule]
    if not expected or expected[-1][0] != CLOSE:
        sent, expected = [*sent, BYE], [*expected, END]
    async with open_server(echo, limits=LIMITS) as server:
        for mode in ("whole", "bytes", "deflate"):
            if mode != "bytes" or sum(map(len, sent)) < 2000:
                found = await talk(server, sent, mode)
                assert found == expected, f"{mode}: {found}"
        assert not [line for line in server.log.take(0) if "\n" in line.getMessage()]
