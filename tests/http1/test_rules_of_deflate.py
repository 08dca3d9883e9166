"""RFC 7692 by its sections, and the groups 12 and 13 of Autobahn: offers, windows, and frames."""

from __future__ import annotations

import random
import zlib

import pytest

from fxtrio.server.http1 import ServerLimits

from .frames import (
    BINARY,
    CLOSE,
    CONT,
    PING,
    PONG,
    TAIL,
    TEXT,
    WebSocket,
    bomb,
    close_frame,
    frame,
    upgrade,
)
from .support import Server, open_server
from .websocket_apps import echo

LIMITS = ServerLimits(websocket_compression=True, websocket_message=300_000)
PLAIN = "permessage-deflate"

OFFERS: dict[str, tuple[str, str | None]] = {
    "7.1 an offer": (PLAIN, PLAIN),
    "7.1 a name has no parameters of others": (f"{PLAIN}; x", None),
    "7.1 a value where none belongs": (f"{PLAIN}; server_no_context_takeover=1", None),
    "7.1 a value where none belongs, of the client": (
        f"{PLAIN}; client_no_context_takeover=x",
        None,
    ),
    "7.1 a parameter twice": (
        f"{PLAIN}; client_max_window_bits; client_max_window_bits",
        None,
    ),
    "7.1 takeover twice": (
        f"{PLAIN}; server_no_context_takeover; server_no_context_takeover",
        None,
    ),
    "7.1.1.1 the server forgets": (
        f"{PLAIN}; server_no_context_takeover",
        f"{PLAIN}; server_no_context_takeover",
    ),
    "7.1.1.2 the client forgets": (
        f"{PLAIN}; client_no_context_takeover",
        f"{PLAIN}; client_no_context_takeover",
    ),
    **{
        f"7.1.2.1 a window of {bits} bits for the server": (
            f"{PLAIN}; server_max_window_bits={bits}",
            f"{PLAIN}; server_max_window_bits={bits}",
        )
        for bits in range(9, 16)
    },
    "7.1.2.1 a window that zlib does not have": (f"{PLAIN}; server_max_window_bits=8", None),
    **{
        f"7.1.2.1 no window for the server: {value!r}": (
            f"{PLAIN}; server_max_window_bits{value}",
            None,
        )
        for value in ("", "=7", "=16", "=09", "=1e1", "=-9", "=x", '="16"')
    },
    "7.1.2.1 a window in quotes": (
        f'{PLAIN}; server_max_window_bits="10"',
        f"{PLAIN}; server_max_window_bits=10",
    ),
    **{
        f"7.1.2.2 a window of {bits} bits for the client": (
            f"{PLAIN}; client_max_window_bits={bits}",
            f"{PLAIN}; client_max_window_bits={bits}",
        )
        for bits in (8, 9, 15)
    },
    **{
        f"7.1.2.2 no window for the client: {value!r}": (
            f"{PLAIN}; client_max_window_bits{value}",
            None,
        )
        for value in ("=7", "=16", "=09", "=x")
    },
    "5.1 the first of several that can be agreed on": (
        f"{PLAIN}; server_max_window_bits=8, {PLAIN}; server_no_context_takeover, {PLAIN}",
        f"{PLAIN}; server_no_context_takeover",
    ),
    "9.1 nobody knows the extension": ("x-webkit-deflate-frame", None),
    "9.1 one is known": (f"x-unheard; y=z, {PLAIN}", PLAIN),
    "9.1 names are not alike": ("permessage-deflated", None),
}


def pack(data: bytes, bits: int = 15) -> bytes:
    packer = zlib.compressobj(wbits=-bits)
    return (packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH)).removesuffix(TAIL)


async def opened(server: Server, offer: str = PLAIN) -> tuple[WebSocket, str | None]:
    client = WebSocket((await server.connect()).stream)
    await client.send(upgrade(b"/", b"Sec-WebSocket-Extensions: " + offer.encode()))
    reply = await client.reply()
    assert reply.status == 101
    agreed = reply.get(b"sec-websocket-extensions")
    return client, None if agreed is None else agreed.decode()


class Inflater:
    """Reads compressed messages with no more window than was agreed on."""

    def __init__(self, bits: int, *, forget: bool) -> None:
        self._bits, self._forget = bits, forget
        self._decoder = zlib.decompressobj(wbits=-bits)

    def read(self, data: bytes) -> bytes:
        if self._forget:
            self._decoder = zlib.decompressobj(wbits=-self._bits)
        return self._decoder.decompress(data + TAIL)


@pytest.mark.parametrize("rule", OFFERS)
async def test_an_offer_is_accepted_and_followed(rule: str) -> None:
    offer, expected = OFFERS[rule]
    dice = random.Random(1)
    text = b"".join(b"%d " % dice.randrange(1000) for _ in range(12_000))
    async with open_server(echo, limits=LIMITS) as server:
        client, agreed = await opened(server, offer)
        if expected is not None and "client_max_window_bits" not in offer:
            assert agreed is not None
            assert "client_max_window_bits" not in agreed  # 7.1.2.2: it was not offered
        assert agreed == expected
        async with client:
            server_bits = client_bits = 15
            for parameter in (agreed or "").split("; "):
                name, _, value = parameter.partition("=")
                server_bits = int(value) if name == "server_max_window_bits" else server_bits
                client_bits = int(value) if name == "client_max_window_bits" else client_bits
            reader = Inflater(server_bits, forget="server_no" in (agreed or ""))
            for _ in range(3):  # the same again: with takeover it is a reference to before
                if agreed is None:
                    await client.send(frame(TEXT, text))
                    assert (await client.frame()).payload == text
                    continue
                await client.send(frame(TEXT, pack(text, max(client_bits, 9)), rsv=4))
                answer = await client.frame()
                assert (answer.rsv, answer.opcode) == (4, TEXT)
                assert reader.read(answer.payload) == text


HELLO = bytes.fromhex("f248cdc9c90700")
BYE = close_frame(1000)
END = (CLOSE, b"\x03\xe8")
HEARD = (TEXT, b"Hello")
FRAMES: dict[str, tuple[list[bytes], list[tuple[int, bytes]]]] = {
    "7.2.3.1 a message": ([frame(TEXT, HELLO, rsv=4)], [HEARD]),
    "7.2.3.1 a message in two frames": (
        [frame(TEXT, HELLO[:3], rsv=4, fin=False), frame(CONT, HELLO[3:])],
        [HEARD],
    ),
    "7.2.3.2 a message that refers to the one before": (
        [frame(TEXT, HELLO, rsv=4), frame(TEXT, bytes.fromhex("f200110000"), rsv=4)],
        [HEARD, HEARD],
    ),
    "7.2.3.3 a message without compression": (
        [frame(TEXT, bytes.fromhex("000500faff48656c6c6f00"), rsv=4)],
        [HEARD],
    ),
    "7.2.3.4 messages that end with a final block": (
        [frame(TEXT, bytes.fromhex("f348cdc9c9070000"), rsv=4)] * 3 + [frame(TEXT, HELLO, rsv=4)],
        [HEARD] * 4,
    ),
    "7.2.3.4 a final block in two frames": (
        [
            frame(TEXT, bytes.fromhex("f348cdc9c90700"), rsv=4, fin=False),
            *(frame(CONT, b"\x00"), frame(TEXT, HELLO, rsv=4)),
        ],
        [HEARD] * 2,
    ),
    "7.2.3.4 a final block and nothing else": (
        [frame(TEXT, bytes.fromhex("f348cdc9c90700"), rsv=4), frame(TEXT, HELLO, rsv=4)],
        [HEARD] * 2,
    ),
    "7.2.3.4 data after the final block": (
        [frame(TEXT, bytes.fromhex("f348cdc9c90700") + b"*" * 99, rsv=4)],
        [(CLOSE, b"\x03\xea")],
    ),
    "7.2.3.4 frames after the final block": (
        [
            frame(TEXT, bytes.fromhex("f348cdc9c90700"), rsv=4, fin=False),
            *[frame(CONT, b"*" * 9, fin=False)] * 9,
        ],
        [(CLOSE, b"\x03\xea")],
    ),
    "7.2.3.5 two blocks": (
        [frame(TEXT, bytes.fromhex("f248050000 00ffffcac9c90700"), rsv=4)],
        [HEARD],
    ),
    "7.2.3.6 an empty message": ([frame(TEXT, b"\x00", rsv=4)], [(TEXT, b"")]),
    "7.2.3.6 an empty message in fragments": (
        [frame(BINARY, b"", rsv=4, fin=False), frame(CONT, b"", fin=False), frame(CONT, b"\x00")],
        [(BINARY, b"")],
    ),
    "6 a message need not be compressed": (
        [frame(TEXT, b"Hello"), frame(TEXT, HELLO, rsv=4), frame(TEXT, b"Hello")],
        [HEARD] * 3,
    ),
    "6.1 a ping in between is not compressed": (
        [frame(TEXT, HELLO[:3], rsv=4, fin=False), frame(PING, b"p"), frame(CONT, HELLO[3:])],
        [(PONG, b"p"), HEARD],
    ),
    "6.1 a ping is never compressed": ([frame(PING, HELLO, rsv=4)], [(CLOSE, b"\x03\xea")]),
    "6.1 a close is never compressed": ([frame(CLOSE, HELLO, rsv=4)], [(CLOSE, b"\x03\xea")]),
    "6.1 only the first fragment says so": (
        [frame(TEXT, HELLO[:3], rsv=4, fin=False), frame(CONT, HELLO[3:], rsv=4)],
        [(CLOSE, b"\x03\xea")],
    ),
    "6.1 a later fragment cannot say so": (
        [frame(TEXT, b"Hel", fin=False), frame(CONT, HELLO, rsv=4)],
        [(CLOSE, b"\x03\xea")],
    ),
    "6.1 the other bits stay reserved": ([frame(TEXT, HELLO, rsv=6)], [(CLOSE, b"\x03\xea")]),
    "7.2.2 what cannot be inflated": ([frame(TEXT, b"\xff" * 20, rsv=4)], [(CLOSE, b"\x03\xea")]),
    "7.2.2 what is no text": ([frame(TEXT, pack(b"\xff"), rsv=4)], [(CLOSE, b"\x03\xef")]),
    "7.2.2 a reference to before the beginning": (
        [frame(TEXT, bytes.fromhex("f200110000"), rsv=4)],
        [(CLOSE, b"\x03\xea")],
    ),
    "8 a bomb in one frame": (
        [frame(BINARY, bomb(30_000_000), rsv=4)],
        [(CLOSE, b"\x03\xf1")],
    ),
    "8 a bomb in fragments": (
        [
            frame(BINARY, b"", rsv=4, fin=False),
            *(frame(CONT, bomb(30_000_000)[:20_000], fin=False), frame(CONT, b"")),
        ],
        [(CLOSE, b"\x03\xf1")],
    ),
}


@pytest.mark.parametrize("rule", FRAMES)
async def test_compressed_frames_keep_to_the_rules(rule: str) -> None:
    sent, expected = FRAMES[rule]
    if expected[-1][0] != CLOSE:
        sent, expected = [*sent, BYE], [*expected, END]
    reader = Inflater(15, forget=False)
    async with open_server(echo, limits=LIMITS) as server:
        client, agreed = await opened(server)
        assert agreed == PLAIN
        async with client:
            await client.send(b"".join(sent))
            found: list[tuple[int, bytes]] = []
            while not found or found[-1][0] != CLOSE:
                answer = await client.frame()
                payload = reader.read(answer.payload) if answer.rsv else answer.payload
                assert answer.rsv == (4 if answer.opcode in (TEXT, BINARY) else 0)
                found.append((answer.opcode, payload[:2] if answer.opcode == CLOSE else payload))
            assert await client.is_closed()
    assert found == expected


@pytest.mark.parametrize("size", [16, 64, 256, 1024, 4096, 8192, 16384, 32768, 65536, 131072])
async def test_messages_of_all_sizes_are_compressed_both_ways(size: int) -> None:
    """Autobahn 12.1 to 13.7, with fewer messages."""
    dice = random.Random(size)
    reader = Inflater(15, forget=False)
    packer = zlib.compressobj(wbits=-15)
    async with open_server(echo, limits=LIMITS) as server:
        client, _ = await opened(server)
        async with client:
            for _ in range(10):
                text = bytes(dice.choices(b"abcdefgh ", k=size))
                packed = packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH)
                await client.send(frame(TEXT, packed.removesuffix(TAIL), rsv=4))
                assert reader.read((await client.frame()).payload) == text
