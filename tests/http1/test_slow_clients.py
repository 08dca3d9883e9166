"""Messages in pieces: whatever way the network cuts them, they are the same messages."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

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
from .rules import NEXT, chunked, get, head, post
from .support import PATIENCE, Client, Server, echo, open_server, read_body
from .websocket_apps import echo as websocket_echo

REQUESTS = {
    "fields": get(b"Cookie: a=b; c", b"X-Empty:", b"Accept: */*"),
    "absolute": get(target=b"http://b:81/c%20d?e"),
    "asterisk": head(b"OPTIONS * HTTP/1.1", b"Host: [::1]:80"),
    "old": head(b"GET / HTTP/1.0", b"Connection: keep-alive"),
    "newer": head(b"GET / HTTP/1.2", b"Host: a"),
    "length": post(b"hello", b"Content-Length: 5"),
    "chunks": chunked(b'3;a="b;\\"c"\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: x\r\n\r\n'),
    "expecting": post(b"hello", b"Expect: 100-continue", b"Content-Length: 5"),
    "empty lines": b"\r\n\r\n" + get(),
    "upgrade": post(b"hello", b"Connection: upgrade", b"Upgrade: a", b"Content-Length: 5"),
    "upgrade in chunks": post(
        b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        *(b"Connection: upgrade", b"Upgrade: h2c", b"Transfer-Encoding: chunked"),
    ),
    "like HTTP/2": head(b"PROPFIND / HTTP/1.1", b"Host: a"),
}


async def answers(server: Server, pieces: list[bytes], count: int = 2) -> list[Any]:
    """Return the answers to what comes in these pieces, each sent when nobody moves any more."""
    async with await server.connect() as client:
        client.stream.setsockopt(trio.socket.IPPROTO_TCP, trio.socket.TCP_NODELAY, 1)
        for piece in pieces:
            await client.send(piece)
            await trio.testing.wait_all_tasks_blocked()
        found: list[Any] = []
        while len(found) < count:
            reply = await client.reply()
            if reply.status != 100:
                found.append(
                    (reply.status, reply.get(b"x-method"), reply.get(b"x-path"), reply.body)
                )
        return found


@pytest.mark.parametrize("name", ["absolute", "chunks", "expecting", "upgrade in chunks"])
async def test_a_request_may_be_cut_anywhere(name: str) -> None:
    sent = REQUESTS[name] + NEXT
    async with open_server(echo) as server:
        whole = await answers(server, [sent])
        assert [status for status, *_ in whole] == [200, 200]
        for place in range(1, len(sent)):
            assert await answers(server, [sent[:place], sent[place:]]) == whole, place


@pytest.mark.parametrize("name", REQUESTS)
async def test_a_request_may_come_byte_by_byte(name: str) -> None:
    sent = REQUESTS[name] + NEXT
    async with open_server(echo) as server:
        whole = await answers(server, [sent])
        assert await answers(server, [bytes([byte]) for byte in sent]) == whole


@pytest.mark.parametrize(
    "sent",
    [
        get(b"X : y"),
        get(b"X: y", b" z"),
        get(b"Host: b"),
        post(b"abc", b"Content-Length: 3", b"Content-Length: 4"),
        post(b"0\r\n\r\n", b"Content-Length: 3", b"Transfer-Encoding: chunked"),
        post(b"0\r\n\r\n", b"Transfer-Encoding: gzip"),
        chunked(b"3\r\nabcd\r\n0\r\n\r\n"),
        chunked(b"3;a\nb\r\nabc\r\n0\r\n\r\n"),
        head(b"GET / HTTP/3.0", b"Host: a"),
        b"GET / HTTP/1.1\nHost: a\n\n",
    ],
)
async def test_an_invalid_request_is_rejected_however_it_is_split(sent: bytes) -> None:
    async with open_server(echo) as server:
        ((status, *_),) = await answers(server, [sent], 1)
        assert status in (400, 505)
        for place in range(1, len(sent), 3):
            async with await server.connect() as client:
                for piece in (sent[:place], sent[place:]):
                    await client.send(piece)
                    await trio.testing.wait_all_tasks_blocked()
                assert (await client.reply()).status == status
                assert await client.is_closed()


FRAMES = (
    frame(TEXT, "κόσμε".encode())
    + frame(BINARY, b"*" * 130)
    + frame(TEXT, b"fr", fin=False)
    + frame(PING, b"p")
    + frame(CONT, b"ag")
    + close_frame(1000, b"bye")
)


async def frames_after(server: Server, pieces: list[bytes]) -> list[tuple[int, bytes]]:
    client: Client = await server.connect()
    async with WebSocket(client.stream) as socket:
        for piece in pieces:
            await socket.send(piece)
            await trio.testing.wait_all_tasks_blocked()
        assert (await socket.reply()).status == 101
        found: list[tuple[int, bytes]] = []
        while not found or found[-1][0] != CLOSE:
            answer = await socket.frame()
            found.append((answer.opcode, answer.payload))
        assert await socket.is_closed()
        return found


async def test_a_websocket_may_be_cut_anywhere() -> None:
    sent = upgrade() + FRAMES
    async with open_server(websocket_echo) as server:
        whole = await frames_after(server, [sent])
        assert sorted(opcode for opcode, _ in whole) == [TEXT, TEXT, BINARY, CLOSE, PONG]
        # Inside the long frame and inside the request there is nothing new in every byte.
        for place in sorted({*range(1, len(sent), 16), *range(len(sent) - 60, len(sent))}):
            found = await frames_after(server, [sent[:place], sent[place:]])
            assert sorted(found) == sorted(whole), place
        found = await frames_after(server, [bytes([byte]) for byte in sent])
        assert sorted(found) == sorted(whole)


async def test_a_request_may_come_while_the_one_before_is_answered() -> None:
    go = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        if scope["path"] == "/":
            await go.wait()
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": scope["path"].encode()})

    async with open_server(app) as server, await server.connect() as client:
        for piece in (get(), *(bytes([byte]) for byte in NEXT)):
            await client.send(piece)
            await trio.testing.wait_all_tasks_blocked()
        go.set()
        with trio.fail_after(PATIENCE):
            assert [(await client.reply()).body for _ in range(2)] == [b"/", b"/next"]
