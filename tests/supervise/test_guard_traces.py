"""Clients of HTTP/1.1 leave nothing behind in stock Hypercorn, if it is guarded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
import trio

from ..http1.frames import CLOSE, CONT, TEXT, WebSocket, frame, upgrade
from ..http1.support import Client
from ..http2.client import PATIENCE
from ..http2.servers import Target, target


async def _body_that_nobody_reads(client: Client) -> None:
    await client.send(b"POST /deaf HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    with suppress(trio.BrokenResourceError):  # it may close before it has seen all of it
        for _ in range(200):
            await client.send(b"3e8\r\n" + b"*" * 1000 + b"\r\n")
        assert (await client.line()).startswith(b"HTTP/1.1 200")


async def _answer_without_an_end(client: Client) -> None:
    await client.send(b"GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
    await client.more()


async def _idle_connection(client: Client) -> None:
    await client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert (await client.reply()).body == b"fine"
    await trio.sleep(0.1)  # for the server to have come to rest


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize(
    "behave",
    [
        _body_that_nobody_reads,
        _answer_without_an_end,
        _idle_connection,
    ],
)
async def test_nothing_is_left_of_a_client(
    guarded: bool, behave: Callable[[Client], Awaitable[None]]
) -> None:
    keep = ("--keep-alive", "30")
    async with target("stock", guarded=guarded, arguments=keep) as server:
        before = await server.state()
        async with await server.http1() as client:
            with trio.move_on_after(PATIENCE if guarded else 1) as patience:
                await behave(client)
            assert not (guarded and patience.cancelled_caught)
        assert await _is_as(server, before, PATIENCE if guarded else 0.5) is guarded


async def _is_as(server: Target, before: dict[str, object], seconds: float) -> bool:
    """Whether it comes to have what it had, within much less time than connections stay open."""
    with trio.move_on_after(seconds):
        while True:
            after = await server.state()
            if after["tasks"] <= before["tasks"] and after["files"] <= before["files"]:
                return True
            await trio.sleep(0.02)
    return False


@pytest.mark.parametrize("guarded", [False, True])
async def test_a_message_that_is_too_long_ends_a_websocket(guarded: bool) -> None:
    async with target("stock", guarded=guarded) as server:
        socket = WebSocket((await server.http1()).stream)
        async with socket:
            await socket.send(upgrade(b"/echo"))
            assert (await socket.reply()).status == 101
            for number in range(101):
                opcode = CONT if number else TEXT
                await socket.send(frame(opcode, b"*" * 10_000, fin=False))
            answer = await socket.frame()
            while answer.opcode != CLOSE:
                answer = await socket.frame()
            assert answer.code == 1009
            with trio.move_on_after(30 if guarded else 0.5) as waited:
                assert await socket.is_closed()
            assert waited.cancelled_caught is not guarded
