"""`--ca-certs`: only clients with a certificate from those authorities get in."""

from __future__ import annotations

import ssl
from contextlib import suppress
from pathlib import Path

import pytest
import trio

from ..http1.support import PATIENCE
from .support import Running, serve

CERTIFICATE = Path(__file__).parents[1] / "http1" / "certificate.pem"
CLIENTS = Path(__file__).parent / "clients"
"""``authority.pem``, a certificate and key from it, and a pair from another authority."""


async def ask(running: Running, pair: str | None, version: ssl.TLSVersion) -> bytes:
    """Return the first line of the answer; empty when the server ends the handshake."""
    context = ssl.create_default_context(cafile=CERTIFICATE)
    context.minimum_version = context.maximum_version = version
    if pair is not None:
        context.load_cert_chain(CLIENTS / pair)
    plain = await trio.open_tcp_stream("127.0.0.1", running.port)
    stream = trio.SSLStream(plain, context, server_hostname="localhost", https_compatible=True)
    data = b""
    async with stream:
        # In TLS 1.3 the client's part of the handshake is over before the server has judged.
        with trio.fail_after(PATIENCE), suppress(trio.BrokenResourceError):
            await stream.do_handshake()
            await stream.send_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            data = b"".join([part async for part in stream])
    return data.partition(b"\r\n")[0]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("workers", [1, 2])
async def test_only_clients_with_a_certificate_of_the_authority_are_answered(
    version: ssl.TLSVersion, workers: int
) -> None:
    async with serve(
        certfile=str(CERTIFICATE), ca_certs=str(CLIENTS / "authority.pem"), workers=workers
    ) as running:
        for pair in (None, "foreign.pem"):
            assert await ask(running, pair, version) == b""
        assert await ask(running, "known.pem", version) == b"HTTP/1.1 200 OK"
        running.kill()
        assert await running.exit_code() == 0
