"""What a client says first: its preface and its settings (RFC 9113, 3.4), and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from fxtrio.server.http1.limits import ServerLimits

from .client import HEADERS, PATIENCE, PING, PREFACE, SETTINGS, ask, frame, head
from .servers import Kind, target

PROTOCOL_ERROR = 1

GARBAGE = {
    "one letter": b"g",
    "text": b"garbage that is no frame",
    "a request of HTTP/1.1": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "a frame that nobody knows": frame(0xBE, 0, 0, b"*" * 8),
    "the beginning of one": b"\x00\x00\x08\xbe",
    "a ping": frame(PING, 0, 0, bytes(8)),
    "a request": head(ask()),
    "half a header block": frame(HEADERS, 0, 1, b"\x82"),
    "the acknowledgement of settings": frame(SETTINGS, 1, 0),
    "settings of a stream": frame(SETTINGS, 0, 1),
    "settings that are no whole number of them": frame(SETTINGS, 0, 0, bytes(5)),
    "another preface": PREFACE,
}


@pytest.mark.parametrize(("kind", "secure"), [("fx", False), ("fx", True), ("stock", False)])
async def test_a_client_that_greets_and_then_sends_garbage_is_closed_at_once(
    kind: Kind, secure: bool
) -> None:
    async with target(kind, secure=secure) as server:
        for name, garbage in GARBAGE.items():
            async with await server.http2() as client:
                began = trio.current_time()
                await client.raw(PREFACE, garbage)
                assert await client.wait_goodbye() == PROTOCOL_ERROR, name
                # It did not wait for more: that would end with this limit.
                assert trio.current_time() - began < ServerLimits().header_time, name
        async with await server.http2() as client:
            await client.begin()
            assert (await client.get()).body == b"fine"


@pytest.mark.parametrize("kind", ["fx", "stock"])
async def test_a_preface_may_come_byte_by_byte(kind: Kind) -> None:
    async with target(kind) as server:
        async with await server.http2() as client:
            client.h2.initiate_connection()
            with trio.fail_after(PATIENCE):
                for byte in client.h2.data_to_send():
                    await client.raw(bytes([byte]))
            assert (await client.get()).body == b"fine"


@pytest.mark.parametrize(("setting", "spoken"), [("", False), ("h2c = true", True)])
async def test_http2_without_tls_is_off_under_hypercorn(
    setting: str, spoken: bool, tmp_path: Path
) -> None:
    settings = tmp_path / "hypercorn.toml"
    settings.write_text(f'errorlog = "-"\n{setting}\n')
    async with target("stock", arguments=("-c", str(settings))) as server:
        async with await server.http1() as client:
            await client.send(PREFACE + frame(SETTINGS, 0, 0))
            with trio.fail_after(PATIENCE):
                while len(client.buffer) < 9:
                    await client.more()
            assert client.buffer.startswith(b"HTTP/1.1 400 ") is not spoken
            assert spoken or await client.read_all()  # it is closed


async def test_over_tls_the_handshake_alone_leads_to_http2_under_hypercorn() -> None:
    async with target("stock", secure=True) as server:
        async with await server.http1() as client:
            await client.send(PREFACE + frame(SETTINGS, 0, 0))
            assert (await client.reply()).status == 400
            assert await client.is_closed()
        async with await server.http2() as multiplexed:
            await multiplexed.begin()
            assert (await multiplexed.get()).body == b"fine"
