"""Commands to Redis on connections that are thrown away: those of channels, and of rate limits."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trio
from limits import parse
from trio.testing import wait_all_tasks_blocked

from fxtrio.config import RealtimeConfig
from fxtrio.db.postgresql.psycopg_trio import TrioConnection
from fxtrio.policy import redis_counts
from fxtrio.policy.redis_counts import open_redis_counts
from fxtrio.realtime.stores.redis_client import (
    UNREACHABLE,
    Client,
    RedisCommands,
    RedisServer,
    open_commands,
)
from tests.realtime.redis_server import RedisServer as Running
from tests.realtime.redis_server import running_redis
from tests.serve.test_own_threads import all_threads_held
from tests.short import amount
from tests.tcp_proxy import Proxy, open_tcp_proxy


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Running]:
    with running_redis(tmp_path) as server:
        yield server


def sockets_to(port: int) -> list[socket.socket]:
    """Return copies of this process's connections to a port."""
    found = []
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208  # none of them is opened
        with suppress(OSError):
            one = socket.socket(fileno=os.dup(int(name)))
            if one.family == socket.AF_INET and one.getpeername()[1] == port:
                found.append(one)
            else:
                one.close()
    return found


async def test_the_system_watches_over_connections_to_redis(redis: Running) -> None:
    server = RedisServer(redis.url, RealtimeConfig(broker=redis.url), answer_timeout=5)
    with trio.fail_after(30):
        async with open_commands(server) as commands:
            await commands.ask(lambda client: client.ping())
            sockets = sockets_to(urlsplit(redis.url).port or 0)
            assert sockets
            for one in sockets:
                with one:
                    found = [
                        one.getsockopt(socket.IPPROTO_TCP, option)
                        for option in (
                            socket.TCP_KEEPIDLE,
                            socket.TCP_KEEPINTVL,
                            socket.TCP_KEEPCNT,
                            socket.TCP_USER_TIMEOUT,
                        )
                    ]
                    assert found == [15, 5, 3, 15_000]
                    assert one.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


async def test_a_host_is_found_while_the_application_holds_all_threads(redis: Running) -> None:
    named = redis.url.replace("127.0.0.1", "localhost")  # which may be ::1, where nobody listens
    server = RedisServer(named, RealtimeConfig(broker=named), answer_timeout=5)
    async with all_threads_held(), open_commands(server) as commands:
        assert await commands.ask(lambda client: client.ping())


@asynccontextmanager
async def commands_through_proxy(redis: Running) -> AsyncIterator[tuple[RedisCommands, Proxy]]:
    async with open_tcp_proxy(urlsplit(redis.url).port or 0) as proxy:
        url = f"redis://127.0.0.1:{proxy.port}"
        settings = RealtimeConfig(broker=url, connect_timeout=30)
        server = RedisServer(url, settings, answer_timeout=300)
        async with open_commands(server) as commands:
            await commands.ask(lambda client: client.ping())
            yield commands, proxy


async def test_callers_that_leave_while_it_connects_cost_no_connection(redis: Running) -> None:
    with trio.fail_after(120):  # a command without a connection waits for longer
        async with commands_through_proxy(redis) as (commands, proxy):
            proxy.hold()
            proxy.reset()
            async with trio.open_nursery() as nursery:
                for _ in range(100):  # more than the pool has places
                    nursery.start_soon(commands.ask, lambda client: client.ping())
                await wait_all_tasks_blocked(0.1)
                nursery.cancel_scope.cancel()
            proxy.restore()
            assert await commands.ask(lambda client: client.ping())


async def test_connections_that_break_under_way_are_replaced(redis: Running) -> None:
    async def send(client: Client) -> None:
        async with client.pipeline(transaction=False) as pipe:
            pipe.ping()
            pipe.ping()

    async def ask(commands: RedisCommands) -> None:
        with suppress(*UNREACHABLE):
            await commands.ask(send)

    with trio.fail_after(120):
        async with commands_through_proxy(redis) as (commands, proxy):
            for number in range(0, 60, amount(2, long=1)):
                async with trio.open_nursery() as nursery:
                    for _ in range(20):
                        nursery.start_soon(ask, commands)
                    for _ in range(number):  # which is at another point each time
                        await trio.lowlevel.checkpoint()
                    proxy.reset()
            assert await commands.ask(lambda client: client.ping())


async def test_a_look_at_a_name_that_hangs_holds_up_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    release = threading.Event()

    def hang(*_: object, **__: object) -> list[object]:
        release.wait(30)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    settings = RealtimeConfig(broker="redis://nowhere.test", connect_timeout=0.2)
    server = RedisServer("redis://nowhere.test", settings, answer_timeout=0.2)
    try:
        with trio.fail_after(20):
            async with open_commands(server) as commands:
                with pytest.raises(UNREACHABLE):
                    await commands.ask(lambda client: client.ping())
            with trio.move_on_after(0.2) as scope:
                await TrioConnection.connect("postgresql://nowhere.test/shop")
            assert scope.cancelled_caught
    finally:
        release.set()


@pytest.mark.parametrize("fault", ["freeze", "drop", "half_close", "reset"])
async def test_rate_limits_are_counted_together_again_after_a_silence(
    redis: Running, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr(redis_counts, "_ANSWER_LIMIT", 0.3)
    monkeypatch.setattr(redis_counts, "_PAUSE", 0.0)
    settings = RealtimeConfig()
    item = parse("1000/hour")
    with trio.fail_after(60):
        async with (
            open_tcp_proxy(urlsplit(redis.url).port or 0) as proxy,
            open_redis_counts(f"redis://127.0.0.1:{proxy.port}", settings) as counts,
            open_redis_counts(redis.url, settings) as others,
        ):
            await counts.hit(item, "ada")
            getattr(proxy, fault)()
            for _ in range(500):  # which none of the counts of this process alone comes to
                await others.hit(item, "ada")
            with trio.fail_after(20):
                while (await counts.hit(item, "ada")).remaining > 500:
                    await trio.lowlevel.checkpoint()
