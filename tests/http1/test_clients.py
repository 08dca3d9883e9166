"""Clients that other people wrote, against the server: each with its own reading of the RFCs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import httpx
import pytest
import trio
import trio_websocket
from websockets.exceptions import ConnectionClosedError
from websockets.sync.client import connect
from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection,
    CloseConnection,
    Ping,
    Pong,
    Request,
    TextMessage,
)
from wsproto.extensions import PerMessageDeflate

from fxtrio.server.http1 import ServerLimits

from .support import PATIENCE, echo, open_server
from .websocket_apps import echo as websocket_echo

DEFLATE = ServerLimits(websocket_compression=True)


async def test_httpx_gets_and_posts_over_one_connection() -> None:
    async def parts() -> AsyncIterator[bytes]:
        for number in range(20):
            yield b"%d" % number * 1000

    async with open_server(echo) as server:
        url = f"http://127.0.0.1:{server.port}"
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:
            for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
                answer = await client.request(method, "/a%20b?c=d")
                assert (answer.status_code, answer.headers["x-method"]) == (200, method)
                assert (answer.headers["x-path"], answer.headers["x-query"]) == ("/a b", "c=d")
            body = bytes(range(256)) * 4000
            assert (await client.post("/", content=body)).content == body
            answer = await client.post("/", content=parts())
            assert answer.content == b"".join(b"%d" % number * 1000 for number in range(20))
            answer = await client.post(
                "/", content=b"hi", headers={"Expect": "100-continue", "Connection": "close"}
            )
            assert (answer.content, answer.headers["connection"]) == (b"hi", "close")


@pytest.mark.parametrize("compression", [None, "deflate"])
async def test_websockets_talks_and_closes(compression: Any) -> None:
    def talk(port: int) -> None:
        address = f"ws://127.0.0.1:{port}/"
        with connect(address, compression=compression, close_timeout=PATIENCE) as client:
            assert bool(client.protocol.extensions) == (compression is not None)
            for sent in ("", "text", "🎈" * 30_000, b"", b"\xff" * 70_000):
                client.send(sent)
                assert client.recv(timeout=PATIENCE) == sent
            client.send(iter(["in ", "", "fragments"]))
            assert client.recv(timeout=PATIENCE) == "in fragments"
            assert client.ping().wait(PATIENCE)
            client.close(4001, "enough")
            assert client.close_code == 4001
        with connect(address, compression=compression) as client:
            client.send("x" * 2_000_000)
            with pytest.raises(ConnectionClosedError) as closed:
                client.recv(timeout=PATIENCE)
            assert closed.value.rcvd is not None and closed.value.rcvd.code == 1009

    async with open_server(websocket_echo, limits=DEFLATE) as server:
        await trio.to_thread.run_sync(partial(talk, server.port))


async def test_trio_websocket_talks_and_closes() -> None:
    async with open_server(websocket_echo, limits=DEFLATE) as server:
        address = f"ws://127.0.0.1:{server.port}/"
        with trio.fail_after(PATIENCE):
            async with trio_websocket.open_websocket_url(address) as client:
                for sent in ("", "text", b"\xff" * 70_000):
                    await client.send_message(sent)
                    assert await client.get_message() == sent
                await client.ping(b"hi")
                await client.aclose(4001, "enough")
                assert client.closed is not None and client.closed.code == 4001


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"client_no_context_takeover": True, "server_no_context_takeover": True},
        {"client_max_window_bits": 9, "server_max_window_bits": 9},
    ],
)
async def test_wsproto_talks_with_every_kind_of_compression(parameters: Any) -> None:
    client = WSConnection(ConnectionType.CLIENT)
    request = Request(host="a", target="/", extensions=[PerMessageDeflate(**parameters)])
    async with open_server(websocket_echo, limits=DEFLATE) as server:
        async with await server.connect() as stream:

            async def ask(event: Any) -> Any:
                """Return what comes back: an event, or the whole text of a message."""
                await stream.send(client.send(event))
                text = ""
                with trio.fail_after(PATIENCE):
                    while True:
                        client.receive_data(await stream.more())
                        for answer in client.events():
                            if not isinstance(answer, TextMessage):
                                return answer
                            text += answer.data
                            if answer.message_finished:
                                return text

            accepted = await ask(request)
            assert isinstance(accepted, AcceptConnection)
            assert accepted.extensions
            for _ in range(3):
                assert (
                    await ask(TextMessage("again and again " * 5000)) == "again and again " * 5000
                )
            pong = await ask(Ping(b"hi"))
            assert isinstance(pong, Pong)
            assert pong.payload == b"hi"
            closed = await ask(CloseConnection(code=4001, reason="enough"))
            assert isinstance(closed, CloseConnection)
            assert (closed.code, closed.reason) == (4001, "enough")
