"""Clients that take their time: each is disconnected after its limit, and nothing of it is left."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from fxtrio.server.http1 import ServerLimits
from fxtrio.server.http1.worker_state import NEVER, Hub

from .support import echo, open_server, read_body, response

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"


async def test_a_client_that_sends_nothing_is_let_go() -> None:
    limits = ServerLimits(header_time=0.2)
    async with open_server(echo, limits=limits) as server, await server.connect() as client:
        assert await client.is_closed()


async def test_a_head_that_does_not_end_is_a_408() -> None:
    limits = ServerLimits(header_time=0.3)
    async with open_server(echo, limits=limits) as server, await server.connect() as client:
        await client.send(b"GET / HTTP/1.1\r\n")
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def drip() -> None:
                for _ in range(100):
                    await client.send(b"X: y\r\n")
                    await trio.sleep(0.05)

            reply = await client.reply()
            nursery.cancel_scope.cancel()
        assert (reply.status, reply.get(b"connection")) == (408, b"close")


async def test_a_head_that_came_with_another_request_has_no_more_time() -> None:
    limits = ServerLimits(header_time=0.3)
    async with open_server(echo, limits=limits) as server, await server.connect() as client:
        await client.send(GET + b"GET / HTTP/1.1\r\nHost")
        assert (await client.reply()).status == 200
        assert (await client.reply()).status == 408
        assert await client.is_closed()


async def test_an_idle_connection_is_let_go_without_a_word() -> None:
    limits = ServerLimits(idle_time=0.2)
    async with open_server(echo, limits=limits) as server, await server.connect() as client:
        await client.send(GET)
        assert (await client.reply()).status == 200
        assert await client.is_closed()


async def test_empty_lines_do_not_keep_a_connection_open() -> None:
    limits = ServerLimits(header_time=0.3, idle_time=60)
    async with open_server(echo, limits=limits) as server, await server.connect() as client:
        await client.send(GET)
        assert (await client.reply()).status == 200
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def drip() -> None:
                for _ in range(1000):
                    await client.send(b"\r\n")
                    await trio.sleep(0.05)

            assert await client.is_closed()
            nursery.cancel_scope.cancel()


async def test_time_between_requests_does_not_count_for_the_head() -> None:
    limits = ServerLimits(header_time=0.3)
    async with open_server(echo, limits=limits) as server, await server.connect() as client:
        for _ in range(2):
            await client.send(GET)
            assert (await client.reply()).status == 200
            await trio.sleep(1)


async def test_a_body_that_does_not_come_is_a_408() -> None:
    limits = ServerLimits(body_grace=0.2)
    async with open_server(echo, limits=limits) as server, await server.connect() as client:
        await client.send(POST)
        assert (await client.reply()).status == 408
        assert await client.is_closed()


async def test_a_body_below_the_rate_is_a_408_and_one_above_it_is_not() -> None:
    limits = ServerLimits(body_grace=0.2, body_rate=500)
    async with open_server(echo, limits=limits) as server:
        for size, status in ((200, 200), (5, 408)):  # far off the rate: the machine may be busy
            async with await server.connect() as client, trio.open_nursery() as nursery:
                await client.send(POST)

                async def drip(client: Any = client, size: int = size) -> None:
                    for _ in range(1000 // size):
                        await client.send(b"*" * size)
                        await trio.sleep(0.05)

                nursery.start_soon(drip)
                assert (await client.reply()).status == status
                nursery.cancel_scope.cancel()


async def test_time_that_the_application_takes_does_not_count_for_the_body() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await trio.sleep(0.5)
        body = await read_body(receive)
        await response(200, body)(scope, receive, send)

    limits = ServerLimits(body_grace=0.2)
    async with open_server(app, limits=limits) as server, await server.connect() as client:
        await client.send(POST + b"*" * 1000)
        assert len((await client.reply()).body) == 1000


async def test_a_client_that_does_not_read_is_cut_off() -> None:
    ended = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await response(200, b"*" * 20_000_000)(scope, receive, send)
        ended.set()

    limits = ServerLimits(write_stall=0.4)
    async with open_server(app, limits=limits) as server, await server.connect() as client:
        await client.send(GET)
        with trio.fail_after(5):
            await ended.wait()


async def test_an_application_learns_that_its_client_was_cut_off() -> None:
    left = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        async def wait_for_disconnect() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            left.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait_for_disconnect)
            await send({"type": "http.response.start", "status": 200, "headers": []})
            # Far more than the kernel takes; afterwards nothing is sent that could raise.
            body = b"*" * 20_000_000
            await send({"type": "http.response.body", "body": body, "more_body": True})

    limits = ServerLimits(write_stall=0.4)
    async with open_server(app, limits=limits) as server, await server.connect() as client:
        await client.send(GET)
        with trio.fail_after(5):
            await left.wait()


async def test_a_client_that_reads_slowly_is_not_cut_off() -> None:
    limits = ServerLimits(write_stall=0.4)
    app = response(200, b"*" * 12_000_000)
    async with open_server(app, limits=limits) as server, await server.connect() as client:
        client.stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, 65536)
        await client.send(GET)
        taken = 0
        while taken < 12_000_000:
            data = await client.stream.receive_some(1_000_000)
            assert data, f"cut off after {taken} bytes"
            taken += len(data)
            await trio.sleep(0.002)


async def test_connections_above_the_limit_wait_and_are_served_when_one_closes() -> None:
    limits = ServerLimits(connections=2)
    async with open_server(echo, limits=limits) as server:
        first, second = await server.connect(), await server.connect()
        for client in (first, second):
            await client.send(GET)
            assert (await client.reply()).status == 200
        async with await server.connect() as third:
            await third.send(GET)
            with trio.move_on_after(0.3) as waited:
                await third.reply()
            assert waited.cancelled_caught, "more connections than allowed"
            await first.send(GET)
            assert (await first.reply()).status == 200, "the others must not notice"
            await trio.aclose_forcefully(first.stream)
            assert (await third.reply()).status == 200
        await trio.aclose_forcefully(second.stream)


async def test_one_address_has_only_so_many_connections() -> None:
    limits = ServerLimits(connections_per_address=1)
    async with open_server(echo, limits=limits) as server:
        async with await server.connect() as first:
            await first.send(GET)
            assert (await first.reply()).status == 200
            async with await server.connect() as second:
                assert await second.is_closed()
        for _ in range(3):  # a place that was given back is a place
            await trio.testing.wait_all_tasks_blocked(0.02)
            assert (await server.ask(GET)).startswith(b"HTTP/1.1 200")


async def test_a_client_that_sends_when_the_server_stops_gets_a_last_answer() -> None:
    async with open_server(echo, graceful=10.0) as server, await server.connect() as client:
        await client.send(GET)
        assert (await client.reply()).get(b"connection") is None
        server.stop.set()
        with trio.fail_after(5), suppress(OSError):
            while True:  # until nobody can connect any more
                await trio.aclose_forcefully((await server.connect()).stream)
        await client.send(GET)
        assert (await client.reply()).get(b"connection") == b"close"
        assert await client.is_closed()


async def test_a_client_that_sends_nothing_when_the_server_stops_is_closed_soon() -> None:
    async with open_server(echo, graceful=60.0) as server, await server.connect() as client:
        await client.send(GET)
        await client.reply()
        server.stop.set()
        with trio.fail_after(30):
            assert await client.is_closed()


@pytest.mark.parametrize(("precision", "most"), [(0.25, 45), (1.0, 12)])
async def test_an_idle_server_looks_at_its_connections_as_often_as_is_precise(
    autojump_clock: MockClock, precision: float, most: int
) -> None:
    looks: list[float] = []

    def headers() -> list[tuple[bytes, bytes]]:
        looks.append(trio.current_time())
        return []

    hub = Hub(ServerLimits(precision=precision), headers=headers, graceful=1.0)
    with trio.move_on_after(10):
        await hub.run()
    assert most * 0.8 < len(looks) < most


class Resting:
    """A connection that has nothing to do for ten seconds at a time."""

    def __init__(self) -> None:
        self.deadline = NEVER
        self.looks: list[float] = []
        self.expired_at = self.left_at = NEVER

    def tick(self, now: float) -> float:
        self.looks.append(now)
        return min(now + 10, self.deadline)

    def expire(self) -> None:
        self.expired_at = trio.current_time()

    def leave(self) -> None:
        self.left_at = trio.current_time()


@asynccontextmanager
async def running_hub() -> AsyncIterator[tuple[Hub, Resting]]:
    hub, connection = Hub(ServerLimits(precision=0.25), headers=list, graceful=1.0), Resting()
    hub.enter(connection)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hub.run)
        yield hub, connection
        nursery.cancel_scope.cancel()


async def test_a_connection_that_needs_nothing_is_not_looked_at_until_it_does(
    autojump_clock: MockClock,
) -> None:
    async with running_hub() as (_, connection):
        await trio.sleep(32)
    assert len(connection.looks) == 4
    gaps = [after - before for before, after in pairwise(connection.looks)]
    assert all(10 <= gap <= 10.5 for gap in gaps)


async def test_a_connection_that_is_woken_retains_its_deadline(autojump_clock: MockClock) -> None:
    async with running_hub() as (hub, connection):
        await trio.sleep(3)
        connection.deadline = hub.now + 2
        hub.wake(connection)
        await trio.sleep(4)
    assert 5 <= connection.expired_at <= 5.5


async def test_a_connection_that_ended_is_not_looked_at(autojump_clock: MockClock) -> None:
    async with running_hub() as (hub, connection):
        await trio.sleep(3)
        hub.exit(connection)
        hub.wake(connection)
        await trio.sleep(30)
    assert len(connection.looks) == 1


async def test_a_connection_that_is_not_looked_at_learns_of_the_shutdown(
    autojump_clock: MockClock,
) -> None:
    async with running_hub() as (hub, connection):
        await trio.sleep(3)
        hub.close()
    assert connection.left_at == 3
