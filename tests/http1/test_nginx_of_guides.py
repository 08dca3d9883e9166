"""The rules of nginx, set up as the documentation says, hold for clients that offer HTTP/2."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest
import trio

from .frames import upgrade
from .guides_nginx import PAGES, nginx_before
from .support import PATIENCE, Client, open_server


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        return
    forwarded = dict(scope["headers"]).get(b"x-forwarded-for", b"")
    body = b"%s %s %s" % (scope["path"].encode(), scope["http_version"].encode(), forwarded)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def offer(path: str) -> bytes:
    settings = base64.urlsafe_b64encode(b"\x00\x03\x00\x00\x00\x64").rstrip(b"=")
    return (
        b"GET %b HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 6.6.6.6\r\n"
        b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
        b"HTTP2-Settings: %b\r\n\r\n" % (path.encode(), settings)
    )


async def answer(client: Client) -> tuple[int, bytes]:
    """Return the status and body of nginx's next response."""
    with trio.fail_after(PATIENCE):
        status, length = int((await client.line()).split()[1]), 0
        while line := await client.line():
            name, _, value = line.partition(b": ")
            length = int(value) if name.lower() == b"content-length" else length
        return status, await client.exactly(length)


@pytest.mark.parametrize("page", PAGES)
async def test_a_client_that_offers_http2_stays_below_the_rules(page: str, tmp_path: Path) -> None:
    async with open_server(app) as server, nginx_before(server.port, page, tmp_path) as nginx:
        statuses = []
        for path in ("/open", "/denied", "/private", "/limited", "/limited"):
            async with Client(await trio.open_tcp_stream("127.0.0.1", nginx.port)) as client:
                await client.send(offer(path))
                status, body = await answer(client)
                statuses.append(status)
                if status == 200:  # the last address is the one that is believed
                    assert re.fullmatch(
                        rb"%b 1\.1 (6\.6\.6\.6, )?127\.0\.0\.1" % path.encode(), body
                    )
        assert statuses == [200, 403, 401, 200, 503]
    # nginx writes a line after its response.
    assert len(nginx.access_log.read_text().splitlines()) == 5


@pytest.mark.parametrize("page", PAGES)
async def test_websockets_pass(page: str, tmp_path: Path) -> None:
    async with open_server(app) as server, nginx_before(server.port, page, tmp_path) as nginx:
        for kind in (b"websocket", b"WebSocket"):
            async with Client(await trio.open_tcp_stream("127.0.0.1", nginx.port)) as client:
                await client.send(upgrade().replace(b"websocket", kind, 1))
                assert (await answer(client))[0] == 101
