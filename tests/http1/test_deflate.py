"""permessage-deflate (RFC 7692)."""

from __future__ import annotations

import zlib

import pytest
import trio

from fxtrio.server.http1 import ServerLimits

from .frames import BINARY, CLOSE, CONT, TAIL, TEXT, WebSocket, bomb, frame, upgrade
from .support import Server, open_server
from .websocket_apps import echo as websocket_echo

DEFLATE = ServerLimits(websocket_compression=True, websocket_message=100_000)
OFFER = b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"


def deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return (packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH)).removesuffix(TAIL)


def inflate(data: bytes) -> bytes:
    return zlib.decompressobj(wbits=-15).decompress(data + TAIL)


async def open_deflated(server: Server, offer: bytes = OFFER) -> tuple[WebSocket, bytes | None]:
    client = WebSocket((await server.connect()).stream)
    await client.send(upgrade(b"/", offer))
    reply = await client.reply()
    assert reply.status == 101
    return client, reply.get(b"sec-websocket-extensions")


async def test_compression_is_off_unless_it_is_turned_on() -> None:
    async with open_server(websocket_echo) as server:
        client, agreed = await open_deflated(server)
        assert agreed is None
        await client.send(frame(TEXT, deflate(b"x"), rsv=4))
        assert (await client.frame()).code == 1002
        await trio.aclose_forcefully(client.stream)


async def test_messages_are_compressed_in_both_directions() -> None:
    async with open_server(websocket_echo, limits=DEFLATE) as server:
        client, agreed = await open_deflated(server)
        assert agreed is not None and agreed.startswith(b"permessage-deflate")
        async with client:
            for sent in (
                frame(TEXT, deflate(b"Hello" * 1000), rsv=4),
                frame(TEXT, b"Hello" * 1000),
                frame(TEXT, deflate(b"Hello" * 1000)[:7], rsv=4, fin=False)
                + frame(CONT, deflate(b"Hello" * 1000)[7:]),
            ):
                client_side = sent
                await client.send(client_side)
                answer = await client.frame()
                assert answer.rsv == 4
                assert len(answer.payload) < 100
            await client.send(frame(BINARY, deflate(b""), rsv=4))
            assert (await client.frame()).opcode == BINARY


@pytest.mark.parametrize(
    "offer",
    [
        b"Sec-WebSocket-Extensions: permessage-deflate; unheard",
        b"Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=99",
        b"Sec-WebSocket-Extensions: x-unheard",
    ],
)
async def test_an_offer_that_cannot_be_agreed_to_is_declined(offer: bytes) -> None:
    async with open_server(websocket_echo, limits=DEFLATE) as server:
        client, agreed = await open_deflated(server, offer)
        assert agreed is None
        async with client:
            await client.send(frame(TEXT, b"plain"))
            assert (await client.frame()).payload == b"plain"


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (frame(TEXT, b"\xff" * 20, rsv=4), 1002),
        (frame(CONT, b"", rsv=4), 1002),
        (frame(TEXT, deflate(b"a"), rsv=4, fin=False) + frame(CONT, b"", rsv=4), 1002),
        (frame(BINARY, deflate(b"*" * 100_001), rsv=4), 1009),
        (frame(BINARY, bomb(50_000_000), rsv=4), 1009),
        (frame(TEXT, deflate(b"\xff"), rsv=4), 1007),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else "frames",
)
async def test_bad_or_exploding_compression_is_closed(sent: bytes, code: int) -> None:
    async with open_server(websocket_echo, limits=DEFLATE) as server:
        client, _ = await open_deflated(server)
        async with client:
            await client.send(sent)
            answer = await client.frame()
            assert (answer.opcode, answer.code) == (CLOSE, code)


async def test_a_message_up_to_the_limit_after_inflation_is_taken() -> None:
    async with open_server(websocket_echo, limits=DEFLATE) as server:
        client, _ = await open_deflated(server)
        async with client:
            await client.send(frame(BINARY, deflate(b"*" * 100_000), rsv=4))
            answer = await client.frame()
            assert inflate(answer.payload) == b"*" * 100_000
