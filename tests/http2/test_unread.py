"""Answers for which a client gives no room: how much of them is buffered, and for whom."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from h2.config import H2Configuration
from h2.connection import H2Connection

from fxtrio import receive_budget
from fxtrio.receive_budget import process_unreceived
from fxtrio.send_budget import Unread, process_unsent
from fxtrio.server.http1 import ServerLimits
from fxtrio.server.http2.backpressure import CONNECTION_HELD, Admission

from ..http1 import frames as websocket
from ..http1.support import Server, open_h2c_server
from .client import PATIENCE, RESET, Http2, frame
from .exchanges import open_websocket

REFUSED_STREAM = 7
ANSWER = 30_000
STREAMS = 60


class Counting:
    """An application whose path is the length of its answer; counts itself."""

    def __init__(self) -> None:
        self.started = 0
        self.ended = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/":
            await self._answer(send, b"fine")
            return
        self.started += 1
        try:
            await self._answer(send, b"*" * int(scope["path"][1:]))
        finally:
            self.ended += 1

    async def _answer(self, send: Any, body: bytes) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})


class Unreading:
    """A server and clients of it."""

    def __init__(self, app: Counting, server: Server) -> None:
        self.app = app
        self._server = server

    @asynccontextmanager
    async def client(self, window: int | None = None) -> AsyncIterator[Http2]:
        async with await self._server.connect() as plain:
            client = await Http2(plain.stream).begin(window=window)
            yield client

    async def settle(self) -> None:
        """Wait until the server has done all it will do."""
        before = (-1, -1, -1)
        calm = 0
        while calm < 20:
            now = (self.app.started, self.app.ended, process_unsent.used)
            calm = calm + 1 if now == before else 0
            before = now
            async with self.client() as other:
                assert (await other.get()).body == b"fine"

    async def keep_asking(self) -> None:
        """Ask for what is small, again and again, as another client."""
        while True:
            async with self.client() as other:
                assert (await other.get()).body == b"fine"
            await trio.sleep(0.05)


@asynccontextmanager
async def serving(limits: ServerLimits | None = None) -> AsyncIterator[Unreading]:
    app = Counting()
    with trio.fail_after(2 * PATIENCE):
        async with open_h2c_server(app, limits=limits) as server:
            yield Unreading(app, server)
        assert process_unsent.used == 0


async def test_a_request_whose_client_left_at_once_is_dropped_only_if_it_had_to_wait() -> None:
    connection = H2Connection(H2Configuration(client_side=False))
    turns = Admission(connection, Unread("", lambda: None))
    assert await turns.wait_turn(1, left=lambda: True)
    turns.queued = CONNECTION_HELD + 1
    assert not await turns.wait_turn(1, left=lambda: True)


async def test_an_application_ends_when_its_whole_answer_has_been_handed_over() -> None:
    async with serving() as server, server.client(window=0) as client:
        stream = await client.ask(f"/{ANSWER}")
        await server.settle()
        assert (server.app.ended, process_unsent.used) == (1, ANSWER)
        client.h2.increment_flow_control_window(ANSWER, stream)
        await client.flush()
        assert len((await client.answer(stream)).body) == ANSWER


async def test_a_connection_with_much_unread_gets_no_further_application() -> None:
    async with serving() as server, server.client(window=0) as client:
        streams = [await client.ask(f"/{ANSWER}") for _ in range(STREAMS)]
        await server.settle()
        assert CONNECTION_HELD < process_unsent.used < CONNECTION_HELD + 9 * ANSWER
        assert server.app.started < STREAMS
        for stream in streams:
            client.h2.increment_flow_control_window(ANSWER, stream)
        await client.flush()
        for stream in streams:
            answer = await client.answer(stream)
            assert (len(answer.body), answer.ended) == (ANSWER, True)
        assert server.app.started == STREAMS


async def test_few_large_responses_are_produced_at_a_time_for_a_client_without_window() -> None:
    async with serving() as server, server.client(window=0) as client:
        streams = [await client.ask("/300000") for _ in range(STREAMS)]
        await server.settle()
        assert server.app.started == 3
        last = streams[-1]
        client.h2.increment_flow_control_window(300_000, last)
        await client.flush()
        assert len((await client.answer(last)).body) == 300_000


@pytest.mark.parametrize("end", ["reset", "leave", "stall"])
async def test_what_waits_is_released_however_its_stream_ends(end: str) -> None:
    limits = ServerLimits(write_stall=0.2 if end == "stall" else 30)
    async with serving(limits) as server, server.client(window=0) as client:
        streams = [await client.ask(f"/{ANSWER}") for _ in range(STREAMS)]
        if end == "stall":
            for stream in streams:
                assert (await client.answer(stream)).reset is not None
            assert server.app.ended == STREAMS
        else:
            await server.settle()
            assert process_unsent.used > CONNECTION_HELD
        if end == "reset":
            await client.raw(*(frame(RESET, 0, stream, bytes(4)) for stream in streams))
            await server.settle()
            assert (process_unsent.used, server.app.started < STREAMS) == (0, True)
            stream = await client.ask("/0")
            assert (await client.answer(stream)).ended


async def test_a_full_process_rejects_those_who_read_nothing_and_then_cuts_them_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process_unsent, "capacity", 10 * ANSWER)
    async with serving() as server, server.client(window=0) as client:
        for _ in range(STREAMS):
            await client.ask(f"/{ANSWER}")
        while not process_unsent.is_full:  # noqa: ASYNC110  # nobody is told
            await trio.sleep(0.002)
        rejected = await client.answer(await client.ask("/0"))
        assert rejected.reset == REFUSED_STREAM
        async with server.client() as other:
            assert len((await other.get("/500000")).body) == 500_000
        async with trio.open_nursery() as nursery:
            nursery.start_soon(server.keep_asking)  # whoever comes looks at who is too slow
            await client.wait_goodbye()
            nursery.cancel_scope.cancel()
        while process_unsent.used:  # noqa: ASYNC110  # the last answer to keep_asking is still sent
            await trio.sleep(0.002)


async def test_a_large_answer_counts_whole_though_a_part_is_queued() -> None:
    async with serving() as server, server.client(window=0) as client:
        stream = await client.ask("/300000")
        await server.settle()
        assert 300_000 < process_unsent.used < 300_000 + 64 * 1024
        client.h2.increment_flow_control_window(300_000, stream)
        await client.flush()
        assert len((await client.answer(stream)).body) == 300_000


async def test_what_the_socket_does_not_take_counts_though_the_windows_are_open() -> None:
    async with serving() as server, server.client(window=2**30) as client:
        for _ in range(8):
            await client.ask("/3000000")
        await server.settle()
        assert process_unsent.used > 4 * 3_000_000


async def test_a_websocket_whose_messages_have_no_room_in_the_process_is_reset(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process_unreceived, "capacity", 200_000)
    monkeypatch.setattr(receive_budget, "ROUNDS", 1)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": "taken"})

    with trio.fail_after(2 * PATIENCE):
        async with open_h2c_server(app) as server, await server.connect() as plain:
            client = await Http2(plain.stream).begin()
            large, small = [await open_websocket(client, "/") for _ in range(2)]
            part = websocket.frame(websocket.BINARY, b"*" * 50_000, fin=False)
            for _ in range(5):
                for start in range(0, len(part), 10_000):
                    while client.h2.local_flow_control_window(large) < 10_000:
                        await client.read()
                    client.h2.send_data(large, part[start : start + 10_000])
                    await client.flush()
                part = b"\0" + part[1:]  # a continuation
            before = process_unreceived.closed
            while process_unreceived.closed == before:
                client.h2.send_data(small, websocket.frame(websocket.BINARY, b"*"))
                await client.flush()
                await client.read()
            assert (await client.answer(large)).reset is not None
            assert (process_unreceived.used, client.answers[small].ended) == (0, False)
