"""Channels of an app with two server processes: every message reaches everybody, over Redis."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
import trio

from fxtrio.config import RealtimeConfig
from fxtrio.realtime.stores.backend import EPOCH_LIFE
from fxtrio.realtime.stores.redis import open_store_broker
from fxtrio.realtime.stores.store_presence import HEARTBEAT

from ..http1.frames import CLOSE, TEXT, WebSocket, frame, upgrade
from ..realtime.redis_server import RedisServer, running_redis
from ..realtime.test_replay import Recorder
from ..short import amount
from .support import Running, serve_project


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    with running_redis(tmp_path) as server:
        yield server


@asynccontextmanager
async def serve_rooms(project: Path, redis: RedisServer) -> AsyncIterator[Running]:
    environment = {"FX_REALTIME__BROKER": f"{redis.url}?prefix=test"}
    async with serve_project(project, workers=2, environment=environment) as running:
        yield running
        running.kill()
        assert await running.exit_code() == 0


@asynccontextmanager
async def members(running: Running, number: int) -> AsyncIterator[dict[str, list[WebSocket]]]:
    """Open WebSockets of the room, ``number`` on each worker, by process."""
    found: dict[str, list[WebSocket]] = {}
    async with AsyncExitStack() as stack:
        with trio.fail_after(30):
            while sorted(map(len, found.values())) != [number, number]:
                client = WebSocket((await running.connect()).stream)
                await client.send(upgrade(b"/room"))
                assert (await client.reply()).status == 101
                owner = (await client.frame()).payload.decode()
                sockets = found.setdefault(owner, [])
                if len(sockets) == number:
                    await client.stream.aclose()
                else:
                    sockets.append(await stack.enter_async_context(client))
        yield found


async def hear(client: WebSocket, until: int) -> list[str]:
    """Return what arrives, to the message that ends with ``until``, or to the end."""
    heard: list[str] = []
    while True:
        arrived = await client.frame()
        if arrived.opcode == CLOSE:
            return [*heard, f"closed with {arrived.code}"]
        assert arrived.opcode == TEXT
        heard.append(arrived.payload.decode())
        if heard[-1].endswith(f" {until}"):
            return heard


async def test_no_message_is_lost_between_two_workers(project: Path, redis: RedisServer) -> None:
    total = amount(200, long=1000)
    heard: dict[int, list[str]] = {}
    async with serve_rooms(project, redis) as running, members(running, 10) as room:
        one, two = room.values()

        async def listen(number: int, client: WebSocket) -> None:
            ends = 0
            heard[number] = []
            while ends < 2:  # both speakers have a last message
                heard[number] += await hear(client, total - 1)
                ends += 1

        async def speak(name: str, client: WebSocket) -> None:
            for number in range(total):
                await client.send(frame(TEXT, f"{name} {number}".encode()))

        async with trio.open_nursery() as nursery:
            for number, client in enumerate([*one, *two]):
                nursery.start_soon(listen, number, client)
            nursery.start_soon(speak, "one", one[0])
            nursery.start_soon(speak, "two", two[0])
    assert len(heard) == 20
    for lines in heard.values():
        assert len(lines) == 2 * total
        for name in ("one", "two"):
            own = [line for line in lines if line.startswith(name)]
            assert own == [f"{name} {number}" for number in range(total)]


async def test_rooms_work_again_after_redis_was_killed(project: Path, redis: RedisServer) -> None:
    async with serve_rooms(project, redis) as running, members(running, 2) as room:
        (speaker, silent), (other, _) = room.values()
        redis.kill()
        await running.wait_for("The broker is unreachable", 2)
        # Who publishes meanwhile learns it: its handler raises, and its socket is closed.
        await speaker.send(frame(TEXT, b"lost 0"))
        assert await hear(speaker, -1) == ["closed with 1013"]
        redis.start()
        await running.wait_for("The broker is reachable again", 2)
        # The others have kept their sockets and subscriptions.
        await silent.send(frame(TEXT, b"found 1"))
        assert await hear(silent, 1) == ["found 1"]
        assert await hear(other, 1) == ["found 1"]


async def test_a_client_that_connects_while_redis_is_down_gets_try_again_later(
    project: Path, redis: RedisServer
) -> None:
    async with serve_rooms(project, redis) as running:
        redis.kill()
        await running.wait_for("The broker is unreachable", 2)
        async with WebSocket((await running.connect()).stream) as client:
            await client.send(upgrade(b"/room"))
            assert (await client.reply()).status == 101
            with trio.fail_after(30):
                arrived = await client.frame()
            assert (arrived.opcode, arrived.code) == (CLOSE, 1013)
        redis.start()
        await running.wait_for("The broker is reachable again", 2)
        assert "Traceback" not in running.log


async def test_members_of_a_worker_that_was_killed_have_left_before_any_lease_is_over(
    project: Path, redis: RedisServer
) -> None:
    async with open_store_broker(RealtimeConfig(broker=f"{redis.url}?prefix=test")) as watching:
        async with serve_rooms(project, redis) as running, members(running, 3) as room:
            here = Recorder()
            await watching.subscribe("room", here)
            assert len(watching.members("room")) == 7
            os.kill(int(next(iter(room))), signal.SIGKILL)
            with trio.fail_after(EPOCH_LIFE - HEARTBEAT):
                while len(watching.members("room")) > 4:  # noqa: ASYNC110  # the network tells
                    await trio.sleep(0.01)
            await watching.unsubscribe("room", here)
            await running.wait_for("was ended by SIGKILL")
