"""Many clients at once: what they get when the server ends, and what hostile ones cost."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import psutil
import trio

from fxtrio.http1 import ServerLimits

from ..http1.frames import WebSocket, close_frame, upgrade
from ..http1.support import Client
from .support import Running, serve

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


@asynccontextmanager
async def clients(running: Running, number: int, data: bytes) -> AsyncIterator[list[Client]]:
    """Open connections that each have sent ``data``."""
    async with AsyncExitStack() as stack:
        opened = []
        for _ in range(number):
            client = await running.connect()
            await stack.enter_async_context(client)
            await client.send(data)
            opened.append(client)
        yield opened


async def test_a_signal_to_the_group_lets_a_crowd_finish() -> None:
    slow = b"GET /slow?seconds=2 HTTP/1.1\r\nHost: a\r\n\r\n"
    big = b"GET /big HTTP/1.1\r\nHost: a\r\n\r\n"
    async with (
        serve(workers=2, shutdown=20.0, graceful=5.0) as running,
        clients(running, 500, upgrade(b"/talk")) as talkers,
        clients(running, 10, big) as deaf,
        clients(running, 200, slow) as waiting,
    ):
        for client in talkers:
            assert (await client.reply()).status == 101
        for client in deaf:
            assert await client.more()
        await running.wait_for("slow request", 200)
        began = time.monotonic()
        running.kill(signal.SIGTERM, group=True)
        async with trio.open_nursery() as nursery:
            for client in waiting:
                nursery.start_soon(_expect_done, client)
            for client in talkers:
                nursery.start_soon(_expect_going_away, client)
        assert await running.exit_code() == 0
        assert time.monotonic() - began < 20
        await running.wait_for("lifespan ended", 2)


async def _expect_done(client: Client) -> None:
    assert (await client.reply()).body == b"done"


async def _expect_going_away(client: Client) -> None:
    talker = WebSocket(client.stream)
    assert (await talker.frame()).code == 1001
    await talker.send(close_frame(1001))
    assert await talker.is_closed()


async def test_hostile_clients_are_gone_after_their_limits_and_cost_nobody_else() -> None:
    # The test process has a descriptor for each, too.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    limits = ServerLimits(header_time=3, idle_time=3, body_grace=3, write_stall=3)
    kinds = {
        b"": 60,
        GET: 60,
        b"GET / HTTP/1.1\r\nHost: a\r\nX: ": 60,
        b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc": 60,
        b"GET /big HTTP/1.1\r\nHost: a\r\n\r\n": 10,
    }
    try:
        async with serve(limits=limits) as running, AsyncExitStack() as stack:
            process = psutil.Process(running.process.pid)
            await running.get()
            files, memory = process.num_fds(), process.memory_info().rss
            for kind, number in kinds.items():
                await stack.enter_async_context(clients(running, number, kind))
            await running.wait_until(lambda: process.num_fds() > files + 200)
            began = time.monotonic()
            for _ in range(20):
                assert (await running.get()).status == 200
            assert time.monotonic() - began < 10
            await running.wait_until(lambda: process.num_fds() <= files)
            # 10 answers of 30 MB were under way; what the allocator keeps is far less.
            assert process.memory_info().rss - memory < 100e6
            assert "Traceback" not in running.log
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_requests_of_the_surviving_worker_are_not_lost_when_the_other_is_killed() -> None:
    async with serve(workers=2) as running:
        for kills in range(1, 4):
            victim = running.workers()[0]
            async with clients(running, 30, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n") as opened:
                owners = [int((await client.reply()).body) for client in opened]
                slow = b"GET /slow?seconds=0.3 HTTP/1.1\r\nHost: a\r\n\r\n"
                survivors = [
                    client for client, owner in zip(opened, owners, strict=True) if owner != victim
                ]
                for client in survivors:
                    await client.send(slow)
                os.kill(victim, signal.SIGKILL)
                for client in survivors:
                    assert (await client.reply()).body == b"done"
            await running.wait_for("was ended by SIGKILL", kills)
            await running.wait_for("Running on", 2 + kills)
