"""Many clients at once: what they get when the server ends, and what hostile ones cost."""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import psutil
import trio

from fxtrio.server.http1 import ServerLimits

from ..http1.frames import WebSocket, close_frame, upgrade
from ..http1.support import Client
from ..short import amount
from .kills import kill_workers
from .support import Running, serve, serve_project

KILLS = int(os.environ.get("KILLS", amount(4, long=12)))
"""``python -m tests.supervise.kills`` does 24 by itself."""

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


async def test_a_signal_to_the_group_lets_a_crowd_finish(project: Path, tmp_path: Path) -> None:
    slow = b"GET /api/slow?seconds=1.5 HTTP/1.1\r\nHost: a\r\n\r\n"
    big = b"GET /api/big HTTP/1.1\r\nHost: a\r\n\r\n"
    end_of_jobs = tmp_path / "end"
    environment = {
        "FX_TIMEOUTS__SHUTDOWN": "10",
        "FX_TASKS__DRAIN_TIMEOUT": "3",
        "END_OF_JOBS": str(end_of_jobs),
    }
    async with (
        serve_project(project, workers=2, environment=environment) as running,
        clients(running, 500, upgrade(b"/talk")) as talkers,
        clients(running, 10, big) as deaf,
    ):
        for client in talkers:
            assert (await client.reply()).status == 101
        for client in deaf:
            assert await client.more()
        full = await _fill_queues(running)
        assert sorted(full.values()) == [(1000, 4), (1000, 4)]
        async with clients(running, 200, slow) as waiting:
            await running.wait_for("slow request", 200)
            running.kill(signal.SIGTERM, group=True)
            async with trio.open_nursery() as nursery:
                for client in waiting:
                    nursery.start_soon(_expect_done, client)
                for client in talkers:
                    nursery.start_soon(_expect_going_away, client)
        end_of_jobs.touch()
        await running.wait_for("a job had its end", 8)  # while the queues drain
        assert await running.exit_code() == 0
        # The next four of each queue had begun.
        await running.wait_for(r"Job \S*\.sleep was cancelled: the shutdown reached its time", 8)
        await running.wait_for(r"Dropped at shutdown before they could run: \S*sleep \(996\)", 2)


async def _fill_queues(running: Running) -> dict[int, tuple[int, int]]:
    """Fill the queues of both workers; return how many jobs wait and run, by process."""
    full: dict[int, tuple[int, int]] = {}
    with trio.fail_after(30):
        while len(full) < 2:
            counts = json.loads((await running.get("/api/fill")).body)
            full[counts["pid"]] = (counts["waiting"], counts["running"])
    return full


async def _expect_done(client: Client) -> None:
    reply = await client.reply()
    assert (reply.status, reply.body) == (200, b"done")


async def _expect_going_away(client: Client) -> None:
    talker = WebSocket(client.stream)
    assert (await talker.frame()).code == 1001
    await talker.send(close_frame(1001))
    assert await talker.is_closed()


async def test_hostile_clients_are_disconnected_at_their_limits_and_cost_no_other() -> None:
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
            for _ in range(20):
                assert (await running.get()).status == 200
            await running.wait_until(lambda: process.num_fds() <= files)
            # 10 answers of 30 MB were under way, and what the allocator keeps is less than that.
            assert process.memory_info().rss - memory < 200e6
            assert "Traceback" not in running.log
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_kills_under_load_lose_nothing_on_the_surviving_worker() -> None:
    costs = await kill_workers(KILLS)

    assert (costs.kills, len(costs.seconds)) == (KILLS, KILLS)
    assert costs.lost == []
    assert costs.refused == 0
    assert costs.connections > costs.cut
