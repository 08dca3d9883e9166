"""What HTTP/2 adds to an exchange: trailers, and the wait before a body is sent."""

from __future__ import annotations

from typing import Any

import h2.events
import trio

from fxtrio.server.http1 import ServerLimits

from ..http1 import frames
from ..http1.support import open_h2c_server, read_body, response
from ..http1.websocket_apps import echo
from .client import PATIENCE, Http2
from .exchanges import open_websocket


async def test_trailers_follow_the_body() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [], "trailers": True})
        await send({"type": "http.response.body", "body": b"*" * 100_000})
        await send({"type": "http.response.trailers", "headers": [(b"x-sum", b"1")]})

    async with open_h2c_server(app) as server, await server.connect() as plain:
        client = await Http2(plain.stream).begin()
        trailers = []
        note = client._note

        def noting(event: Any, acknowledge: bool) -> None:
            if isinstance(event, h2.events.TrailersReceived):
                trailers.append(dict(event.headers))
            note(event, acknowledge)

        client._note = noting  # type: ignore[method-assign]
        stream = await client.ask("/", "GET", ("te", "trailers"))
        answer = await client.answer(stream)
        assert (len(answer.body), answer.ended) == (100_000, True)
        assert trailers == [{b"x-sum": b"1"}]


async def test_a_client_that_expects_continue_gets_it() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await response(200, await read_body(receive))(scope, receive, send)

    async with open_h2c_server(app) as server, await server.connect() as plain:
        client = await Http2(plain.stream).begin()
        requested = trio.Event()
        note = client._note

        def noting(event: Any, acknowledge: bool) -> None:
            if isinstance(event, h2.events.InformationalResponseReceived):
                requested.set()
            else:
                note(event, acknowledge)

        client._note = noting  # type: ignore[method-assign]
        stream = await client.ask("/", "POST", ("expect", "100-continue"), end=False)
        with trio.fail_after(PATIENCE):
            while not requested.is_set():
                await client.read()
        client.h2.send_data(stream, b"body", end_stream=True)
        await client.flush()
        assert (await client.answer(stream)).body == b"body"


async def test_a_large_answer_goes_through_small_windows() -> None:
    body = bytes(range(256)) * 2000
    async with open_h2c_server(response(200, body)) as server, await server.connect() as plain:
        client = await Http2(plain.stream).begin(window=1000, wide=False)
        streams = [await client.ask() for _ in range(5)]
        for stream in streams:
            assert (await client.answer(stream)).body == body


async def _pings(client: Http2, stream: int) -> int:
    """Read once; return how many pings a WebSocket has had."""
    await client.read()
    return client.answers[stream].body.count(b"\x89\x02fx")


async def test_a_websocket_whose_client_answers_no_ping_is_cut_off() -> None:
    limits = ServerLimits(websocket_ping=0.1, websocket_pong=0.3)
    async with open_h2c_server(echo, limits=limits) as server, await server.connect() as plain:
        client = await Http2(plain.stream).begin()
        lively, silent = [await open_websocket(client, "/") for _ in range(2)]
        answered = 0
        with trio.fail_after(PATIENCE):
            while client.answers[silent].reset is None or answered < 8:
                if await _pings(client, lively) > answered:
                    answered += 1
                    client.h2.send_data(lively, frames.frame(frames.PONG, b"fx"))
                    await client.flush()
        assert client.answers[lively].reset is None
        assert client.answers[silent].body.count(b"\x89\x02fx") == 1
        client.h2.send_data(lively, frames.close_frame(1000))
        await client.flush()
        assert (await client.answer(lively)).ended


async def test_a_websocket_takes_as_much_ahead_as_its_backlog_allows() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await done.wait()

    taken = []
    for backlog in (64 * 1024, 300_000):
        done = trio.Event()
        limits = ServerLimits(websocket_backlog=backlog, websocket_ping=None)
        async with open_h2c_server(app, limits=limits) as server:
            async with await server.connect() as plain:
                client = await Http2(plain.stream).begin()
                stream = await open_websocket(client, "/")
                sent = 0
                with trio.move_on_after(1) as idle:  # nothing more is taken
                    while True:
                        while client.h2.local_flow_control_window(stream) >= 1100:
                            client.h2.send_data(stream, frames.frame(frames.BINARY, b"*" * 1000))
                            await client.flush()
                            sent += 1000
                        await client.read()
                        idle.deadline = trio.current_time() + 1
                taken.append(sent)
                done.set()
    assert 60_000 < taken[0] <= 66_000
    assert 200_000 < taken[1] <= 300_000
