"""How a WebSocket is opened or refused: RFC 6455, section 4, and ASGI on top of it."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing
from websockets.utils import accept_key

from .frames import (
    KEY,
    TEXT,
    close_frame,
    frame,
    open_websocket,
    upgrade,
)
from .support import open_server
from .websocket_apps import Recorder, echo


@pytest.mark.parametrize(
    ("request_head", "status"),
    [
        (upgrade(version=b"8"), 426),
        (upgrade(key=b"short"), 400),
        (upgrade(key=b"not base64 at all !!!!=="), 400),
        (upgrade(b"/", b"Sec-WebSocket-Key: " + KEY), 400),
        (upgrade().replace(b"Sec-WebSocket-Key: " + KEY + b"\r\n", b""), 400),
        (upgrade().replace(b"Sec-WebSocket-Version: 13\r\n", b""), 426),
        (upgrade(b"/", b"Content-Length: 1"), 400),
        (upgrade(b"/", b"Sec-WebSocket-Protocol: a b"), 400),
    ],
)
async def test_a_bad_handshake_is_rejected(request_head: bytes, status: int) -> None:
    async with open_server(echo) as server, await server.connect() as client:
        await client.send(request_head)
        reply = await client.reply()
        assert reply.status == status
        assert reply.get(b"sec-websocket-version") == (b"13" if status == 426 else None)
        assert await client.is_closed()


@pytest.mark.parametrize("line", [b"POST / HTTP/1.1", b"GET / HTTP/1.0"])
async def test_what_cannot_be_a_websocket_is_an_ordinary_request(line: bytes) -> None:
    from .support import response

    async with open_server(response(200, b"plain")) as server, await server.connect() as client:
        await client.send(upgrade().replace(b"GET / HTTP/1.1", line))
        assert (await client.reply()).body == b"plain"


async def test_the_answer_proves_that_the_key_was_read() -> None:
    async with open_server(echo) as server, await server.connect() as client:
        await client.send(upgrade().replace(b"Connection: Upgrade", b"connection: x, uPGRADE"))
        reply = await client.reply()
        assert reply.status == 101
        assert reply.get(b"sec-websocket-accept") == accept_key(KEY.decode()).encode()
        assert reply.get(b"upgrade") == b"websocket"
        assert reply.get(b"connection") == b"Upgrade"
        assert reply.get(b"sec-websocket-extensions") is None


async def test_frames_sent_with_the_handshake_are_not_lost() -> None:
    async with open_server(echo) as server, await server.connect() as client:
        await client.send(upgrade() + frame(TEXT, b"eager") + close_frame(1000))
        assert b"eager" in await client.read_all()


async def test_a_receive_that_began_before_the_accept_gets_what_comes_after_it() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()

        async def pump() -> None:
            message = await receive()
            await send({"type": "websocket.send", "text": message["text"]})

        async with trio.open_nursery() as nursery:
            nursery.start_soon(pump)
            await trio.testing.wait_all_tasks_blocked()
            await send({"type": "websocket.accept"})

    async with open_server(app) as server, await open_websocket(server) as client:
        await client.send(frame(TEXT, b"later") + close_frame(1000))
        assert b"later" in await client.read_all()


async def test_the_application_chooses_among_the_offered_subprotocols() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        assert scope["subprotocols"] == ["one", "two", "three"]
        await send(
            {"type": "websocket.accept", "subprotocol": "two", "headers": [(b"X-Set", b"1")]}
        )

    async with open_server(app) as server, await server.connect() as client:
        head = upgrade(b"/", b"Sec-WebSocket-Protocol: one, two", b"Sec-WebSocket-Protocol: three")
        await client.send(head)
        reply = await client.reply()
        assert reply.get(b"sec-websocket-protocol") == b"two"
        assert reply.get(b"x-set") == b"1"


async def test_the_scope_describes_the_request() -> None:
    app = Recorder()
    async with open_server(app, root_path="/root") as server:
        async with await open_websocket(server, b"/a%20b?c=d"):
            pass
    scope = app.scope
    assert (scope["path"], scope["raw_path"], scope["query_string"]) == ("/a b", b"/a%20b", b"c=d")
    assert (scope["scheme"], scope["http_version"], scope["root_path"]) == ("ws", "1.1", "/root")
    assert scope["client"][0] == "127.0.0.1"


async def test_a_rejected_websocket_is_a_403() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.close", "code": 4000})

    async with open_server(app) as server, await server.connect() as client:
        await client.send(upgrade())
        assert (await client.reply()).status == 403
        assert await client.is_closed()


async def test_a_denial_is_a_whole_response() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert "websocket.http.response" in scope["extensions"]
        await receive()
        start = {"type": "websocket.http.response.start", "status": 401}
        await send({**start, "headers": [(b"www-authenticate", b"Basic")]})
        await send({"type": "websocket.http.response.body", "body": b"who ", "more_body": True})
        await send({"type": "websocket.http.response.body", "body": b"are you?"})
        assert (await receive())["type"] == "websocket.disconnect"

    async with open_server(app) as server, await server.connect() as client:
        await client.send(upgrade())
        reply = await client.reply()
        assert (reply.status, reply.body) == (401, b"who are you?")
        assert reply.get(b"www-authenticate") == b"Basic"
        assert await client.is_closed()


async def test_an_application_that_does_not_answer_is_a_500() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()

    async with open_server(app) as server, await server.connect() as client:
        await client.send(upgrade())
        assert (await client.reply()).status == 500
