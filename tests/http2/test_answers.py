"""What HTTP/2 adds to an exchange: trailers, and the wait before a body is sent."""

from __future__ import annotations

from typing import Any

import h2.events
import trio

from ..http1.support import open_server, read_body, response
from .client import PATIENCE, Http2


async def test_trailers_follow_the_body() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [], "trailers": True})
        await send({"type": "http.response.body", "body": b"*" * 100_000})
        await send({"type": "http.response.trailers", "headers": [(b"x-sum", b"1")]})

    async with open_server(app) as server, await server.connect() as plain:
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


async def test_a_client_that_waits_to_be_asked_for_its_body_is_asked() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await response(200, await read_body(receive))(scope, receive, send)

    async with open_server(app) as server, await server.connect() as plain:
        client = await Http2(plain.stream).begin()
        asked = trio.Event()
        note = client._note

        def noting(event: Any, acknowledge: bool) -> None:
            if isinstance(event, h2.events.InformationalResponseReceived):
                asked.set()
            else:
                note(event, acknowledge)

        client._note = noting  # type: ignore[method-assign]
        stream = await client.ask("/", "POST", ("expect", "100-continue"), end=False)
        with trio.fail_after(PATIENCE):
            while not asked.is_set():
                await client.read()
        client.h2.send_data(stream, b"body", end_stream=True)
        await client.flush()
        assert (await client.answer(stream)).body == b"body"


async def test_a_large_answer_goes_through_small_windows() -> None:
    body = bytes(range(256)) * 2000
    async with open_server(response(200, body)) as server, await server.connect() as plain:
        client = await Http2(plain.stream).begin(window=1000, wide=False)
        streams = [await client.ask() for _ in range(5)]
        for stream in streams:
            assert (await client.answer(stream)).body == body
