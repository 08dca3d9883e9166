"""Messages of WebSockets that wait in a process: for their ends, or for their handlers."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
import trio

from fxtrio import receive_budget
from fxtrio.receive_budget import process_unreceived
from fxtrio.server.http1.websocket.stream import WsStream

from .frames import BINARY, CONT, WebSocket, close_frame, frame, open_websocket
from .support import PATIENCE, Server, open_server

CAPACITY = 1_000_000
PART = 300_000


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Send back how long each message is; below ``/deaf`` receive nothing of them."""
    await receive()
    await send({"type": "websocket.accept"})
    if scope["path"] == "/deaf":
        await trio.sleep(2)
        assert await receive() == {"type": "websocket.disconnect", "code": 1013, "reason": REASON}
        return
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": str(len(message["bytes"]))})


REASON = receive_budget.REASON


@asynccontextmanager
async def serving(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    monkeypatch.setattr(process_unreceived, "capacity", CAPACITY)
    monkeypatch.setattr(receive_budget, "ROUNDS", 2)
    with trio.fail_after(2 * PATIENCE):
        async with open_server(echo) as server:
            yield server
    assert (process_unreceived.used, process_unreceived._holders) == (0, set())


async def talk(client: WebSocket) -> None:
    """Send a message of some size, and have it counted."""
    for size in (10, 100_000):
        await client.send(frame(BINARY, b"*" * size))
        assert (await client.frame()).payload == str(size).encode()


@pytest.mark.parametrize("whole", [False, True], ids=["a part of a frame", "fragments"])
async def test_those_that_send_no_end_are_closed_and_others_continue(
    whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = process_unreceived.closed
    part = frame(BINARY, b"*" * PART, fin=not whole)
    part = part + frame(CONT, b"*", fin=False) if whole else part[:-1]
    async with serving(monkeypatch) as server, AsyncExitStack() as stack:
        healthy = await stack.enter_async_context(await open_websocket(server))
        clients = []
        for _ in range(6):
            client = await stack.enter_async_context(await open_websocket(server))
            await client.send(part)
            clients.append(client)
            await talk(healthy)
        while process_unreceived.closed < before + 2:
            await talk(healthy)
        assert process_unreceived.used <= CAPACITY
        ended = 0
        for client in clients:
            with trio.move_on_after(0.2):
                found = await client.frame()
                ended += 1
                assert (found.code, found.payload[2:].decode()) == (1013, REASON)
                assert await client.is_closed()
        assert 2 <= ended < 6
        await talk(healthy)


async def test_what_waits_for_a_handler_is_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(monkeypatch) as server, AsyncExitStack() as stack:
        deaf = await stack.enter_async_context(await open_websocket(server, b"/deaf"))
        await deaf.send(frame(BINARY, b"*" * 900_000))
        healthy = await stack.enter_async_context(await open_websocket(server))
        before = process_unreceived.closed
        while not process_unreceived.used:  # it is read when its handler has been away for a while
            await talk(healthy)
        await healthy.send(frame(BINARY, b"*" * 200_000)[:-1])
        while process_unreceived.closed == before:  # noqa: ASYNC110  # nobody is told
            await trio.sleep(0.05)
        assert (await deaf.frame()).code == 1013
        assert process_unreceived.used < 300_000


async def test_nothing_of_a_websocket_that_is_over_waits_for_the_garbage_collector() -> None:
    def alive() -> int:
        # isinstance would ask objects of other tests, of which some answer with an error.
        return sum(type(one) is WsStream for one in gc.get_objects())

    before = alive()
    gc.disable()
    try:
        async with open_server(echo) as server:
            for leaves in (True, False):
                async with await open_websocket(server) as client:
                    assert alive() == before + 1
                    if not leaves:
                        await client.send(close_frame(1000))
                        assert (await client.frame()).code == 1000
                with trio.fail_after(PATIENCE):
                    while alive() > before:  # noqa: ASYNC110  # nobody is told
                        await trio.sleep(0.002)
    finally:
        gc.enable()
