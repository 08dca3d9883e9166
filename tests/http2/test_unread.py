"""Answers for which a client gives no room: how much of them is kept, and for whom."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from h2.config import H2Configuration
from h2.connection import H2Connection

from fxtrio.http1 import ServerLimits
from fxtrio.http2 import admission
from fxtrio.http2.admission import CONNECTION_HELD, Admission, Held, process_held

from ..http1.support import Server, open_server
from .client import PATIENCE, RESET, Answer, Http2, frame

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


class Unread:
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
            now = (self.app.started, self.app.ended, process_held.bytes)
            calm = calm + 1 if now == before else 0
            before = now
            async with self.client() as other:
                assert (await other.get()).body == b"fine"


@asynccontextmanager
async def serving(limits: ServerLimits | None = None) -> AsyncIterator[Unread]:
    app = Counting()
    with trio.fail_after(2 * PATIENCE):
        async with open_server(app, limits=limits) as server:
            yield Unread(app, server)
        assert process_held.bytes == 0


async def test_a_request_whose_client_left_at_once_is_dropped_only_if_it_had_to_wait() -> None:
    connection = H2Connection(H2Configuration(client_side=False))
    held = Held()
    turns = Admission(connection, held)
    assert await turns.wait_turn(1, left=lambda: True)
    held.add(CONNECTION_HELD + 1)
    assert not await turns.wait_turn(1, left=lambda: True)


async def test_an_application_ends_when_its_whole_answer_has_been_handed_over() -> None:
    async with serving() as server, server.client(window=0) as client:
        stream = await client.ask(f"/{ANSWER}")
        await server.settle()
        assert (server.app.ended, process_held.bytes) == (1, ANSWER)
        client.h2.increment_flow_control_window(ANSWER, stream)
        await client.flush()
        assert len((await client.answer(stream)).body) == ANSWER


async def test_a_connection_with_much_unread_gets_no_further_application() -> None:
    async with serving() as server, server.client(window=0) as client:
        streams = [await client.ask(f"/{ANSWER}") for _ in range(STREAMS)]
        await server.settle()
        assert CONNECTION_HELD < process_held.bytes < CONNECTION_HELD + 9 * ANSWER
        assert server.app.started < STREAMS
        for stream in streams:
            client.h2.increment_flow_control_window(ANSWER, stream)
        await client.flush()
        for stream in streams:
            answer = await client.answer(stream)
            assert (len(answer.body), answer.ended) == (ANSWER, True)
        assert server.app.started == STREAMS


async def test_few_large_answers_are_made_at_a_time_for_a_client_without_room() -> None:
    async with serving() as server, server.client(window=0) as client:
        streams = [await client.ask("/300000") for _ in range(STREAMS)]
        await server.settle()
        assert server.app.started == 8
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
            assert process_held.bytes > CONNECTION_HELD
        if end == "reset":
            await client.raw(*(frame(RESET, 0, stream, bytes(4)) for stream in streams))
            await server.settle()
            assert (process_held.bytes, server.app.started < STREAMS) == (0, True)
            stream = await client.ask("/0")
            assert (await client.answer(stream)).ended


async def test_a_full_process_refuses_those_who_read_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "PROCESS_HELD", 10 * ANSWER)
    async with serving() as server, server.client(window=0) as client:
        streams = [await client.ask(f"/{ANSWER}") for _ in range(STREAMS)]
        await server.settle()
        assert process_held.bytes <= (10 + 9) * ANSWER
        refused = await client.answer(await client.ask("/0"))
        assert refused.reset == REFUSED_STREAM
        async with server.client() as other:
            assert len((await other.get("/500000")).body) == 500_000
        for stream in streams:
            if client.answers.get(stream, Answer()).reset is None:
                client.h2.increment_flow_control_window(ANSWER, stream)
        await client.flush()
        for stream in streams:
            answer = await client.answer(stream)
            assert len(answer.body) == ANSWER or answer.reset == REFUSED_STREAM
        assert (await client.answer(await client.ask("/0"))).ended
