"""RFC 6455, section 4: which requests open a WebSocket, and what the others get."""

from __future__ import annotations

from typing import Any

import pytest

from fxtrio.server.http1 import ServerLimits

from .frames import KEY, TEXT, close_frame, frame, upgrade
from .support import open_server, response
from .websocket_apps import echo

DEFLATE = b"Sec-WebSocket-Extensions: permessage-deflate"

HANDSHAKES = {
    "4.1 another method": (upgrade().replace(b"GET", b"POST"), {200}),
    "4.1 an old version of HTTP": (upgrade().replace(b"1.1", b"1.0"), {200}),
    "4.2.1 no Upgrade": (upgrade().replace(b"Upgrade: websocket\r\n", b""), {200}),
    "4.2.1 another Upgrade": (upgrade().replace(b"websocket\r\n", b"websockets\r\n"), {200}),
    "4.2.1 no Connection": (upgrade().replace(b"Connection: Upgrade\r\n", b""), {200}),
    "4.2.1 another Connection": (upgrade().replace(b"n: Upgrade", b"n: keep-alive"), {200}),
    "4.2.1 no Host": (upgrade().replace(b"Host: a\r\n", b""), {400}),
    "4.2.1 no key": (upgrade().replace(b"Sec-WebSocket-Key: " + KEY + b"\r\n", b""), {400}),
    "4.2.1 an empty key": (upgrade(key=b""), {400}),
    "4.2.1 a key of 15 bytes": (upgrade(key=b"YWJjZGVmZ2hpamtsbW5v"), {400}),
    "4.2.1 a key of 17 bytes": (upgrade(key=b"YWJjZGVmZ2hpamtsbW5vcHE="), {400}),
    "4.2.1 a key that is no base64": (upgrade(key=b"#" * 24), {400}),
    "4.2.1 two keys": (upgrade(b"/", b"Sec-WebSocket-Key: " + KEY), {400}),
    "4.4 version 8": (upgrade(version=b"8"), {426}),
    "4.4 version 0": (upgrade(version=b"0"), {426}),
    "4.4 version 14": (upgrade(version=b"14"), {426}),
    "4.4 several versions": (upgrade(version=b"13, 8"), {426}),
    "4.4 no version": (upgrade().replace(b"Sec-WebSocket-Version: 13\r\n", b""), {426}),
    "4.2.1 a fragment in the target": (upgrade(b"/#a"), {400}),
    "4.1 a subprotocol that is no token": (upgrade(b"/", b"Sec-WebSocket-Protocol: a/b"), {400}),
    "9.1 extensions out of grammar": (upgrade(b"/", DEFLATE + b"; =1"), {400}),
    "4.2.1 lower case": (upgrade().replace(b": Up", b": up"), {101}),
    "4.2.1 upper case": (upgrade().replace(b"websocket\r\n", b"WebSocket\r\n"), {101}),
    "4.2.1 several options": (upgrade().replace(b"n: Up", b"n: keep-alive, Up"), {101}),
    "4.2.1 several protocols": (upgrade().replace(b": websocket", b": h2c, websocket"), {101}),
    "4.2.1 protocols in two fields": (upgrade(b"/", b"Upgrade: a"), {101}),
    "4.2.1 protocols in two fields, ours last": (
        upgrade().replace(b"Upgrade: w", b"Upgrade: a\r\nUpgrade: w"),
        {101},
    ),
    "4.1 a target with a host": (upgrade(b"http://a/b"), {101}),
    "4.1 an origin": (upgrade(b"/", b"Origin: http://b", b"Cookie: c=d"), {101}),
    "4.1 an extension that nobody knows": (upgrade(b"/", DEFLATE[:-7] + b"x; y=1"), {101}),
    "4.2.2 a body of no bytes": (upgrade(b"/", b"Content-Length: 0"), {101}),
}  # fmt: skip


@pytest.mark.parametrize("rule", HANDSHAKES)
async def test_a_handshake_is_taken_only_by_the_rules(rule: str) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await (echo if scope["type"] == "websocket" else response())(scope, receive, send)

    sent, statuses = HANDSHAKES[rule]
    async with (
        open_server(app, limits=ServerLimits(websocket_compression=True)) as server,
        await server.connect() as client,
    ):
        await client.send(sent)
        reply = await client.reply()
        assert reply.status in statuses
        if reply.status == 426:
            assert reply.get(b"sec-websocket-version") == b"13"
            assert reply.get(b"upgrade") == b"websocket"
            assert reply.get(b"connection") == b"close, upgrade"
        if reply.status == 101:
            await client.send(frame(TEXT, b"Hello") + close_frame(1000))
            assert b"Hello" in await client.read_all()


@pytest.mark.parametrize("kind", [b"Protocol", b"Extensions", b"Key"])
async def test_a_bad_header_is_a_short_line_in_the_log(kind: bytes) -> None:
    async with open_server(echo, limits=ServerLimits(websocket_compression=True)) as server:
        answer = await server.ask(upgrade(b"/", b"Sec-WebSocket-%b: %b" % (kind, b'"/' * 9000)))
        assert answer.startswith(b"HTTP/1.1 400 ")
        lines = [record.getMessage() for record in server.log.take(0)]
        (line,) = [line for line in lines if "rejected" in line]
        assert len(line) < 600


async def test_a_websocket_may_follow_other_requests() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await (echo if scope["type"] == "websocket" else response(200, b"plain"))(
            scope, receive, send
        )

    get = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    offered = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"
    async with open_server(app) as server, await server.connect() as client:
        await client.send(get + offered + upgrade() + frame(TEXT, b"Hello") + close_frame(1000))
        assert [(await client.reply()).body for _ in range(2)] == [b"plain"] * 2
        assert (await client.reply()).status == 101
        assert b"Hello" in await client.read_all()
