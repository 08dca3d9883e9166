"""What durable jobs outlive, with real processes that are killed.

    python -m tests.jobs.endurance [--jobs 10000] [--kills 20] [--away 3,10] [--ticks 60]

The tests run the same in short. Each function asserts that nothing was lost, and returns
what happened.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import trio

from fxtrio.db import Database
from fxtrio.jobs import Job, JobRunner
from tests.db.cluster import Cluster, running_cluster
from tests.db.engines import opened
from tests.jobs.running import running
from tests.jobs.serving import build_sleepy, restart_server
from tests.jobs.worker import TABLES, at_least, exactly, lasting, tick

ROOT = Path(__file__).parents[2]
LIMIT = 600.0
"""For each (seconds)."""

Facts = dict[str, Any]


@asynccontextmanager
async def worker(url: str, *jobs: Job[Any]) -> AsyncIterator[trio.Process]:
    """A process that runs ``jobs``, killed at the end of the block if it still runs."""
    # As a module of its name, by which the jobs are known.
    called = ", ".join(repr(word) for word in (url, *(job.name for job in jobs)))
    words = [sys.executable, "-c", f"from tests.jobs.worker import run; run({called})"]
    process = await trio.lowlevel.open_process(words, stdout=subprocess.PIPE, cwd=ROOT)
    try:
        assert process.stdout is not None
        assert (await process.stdout.receive_some()).startswith(b"ready")
        yield process
    finally:
        with trio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.wait()
            assert process.stdout is not None
            await process.stdout.aclose()


async def fill(database: Database, runner: JobRunner, count: int, *jobs: Job[Any]) -> None:
    """Keep ``count`` jobs of each kind, as `enqueue` would one by one."""
    now = runner.now()
    sql = "insert into fx_jobs (name, queue, args, due, made) values ($1, 'default', $2, $3, $3)"
    for job in jobs:
        await database.executemany(sql, [(job.name, f"[[{n}],{{}}]", now) for n in range(count)])


async def wait_until_done(database: Database, every: float = 0.05) -> None:
    """Wait until no job waits or runs; no event tells."""
    sql = "select 1 from fx_jobs where state in ('waiting', 'running') limit 1"
    while await database.value(sql):  # noqa: ASYNC110
        await trio.sleep(every)


async def ended(database: Database) -> dict[str, int]:
    """Return how many jobs are in each state."""
    found = await database.all(dict, "select state, count(*) as n from fx_jobs group by state")
    return {row["state"]: row["n"] for row in found}


async def kill_at_work(database: Database, process: trio.Process) -> None:
    """Kill a process that runs a job, or when none is left: it is stopped while one looks."""
    while True:
        process.send_signal(signal.SIGSTOP)
        states = await ended(database)
        if "running" in states or "waiting" not in states:
            process.send_signal(signal.SIGKILL)
            return
        process.send_signal(signal.SIGCONT)
        await trio.sleep(0.005)


async def kill_processes(url: str, jobs: int, kills: int, seed: int) -> Facts:
    """Let processes work one after the other and kill them, the last one excepted."""
    chance = random.Random(seed)
    with trio.fail_after(LIMIT):
        async with opened(url, ROOT) as database:
            await database.run_script(TABLES)
            async with running(database, exactly, at_least, workers=0) as runner:
                await fill(database, runner, jobs, exactly, at_least)
                for _ in range(kills):
                    async with worker(url, exactly, at_least) as process:
                        await trio.sleep(chance.uniform(0, 0.15))
                        await kill_at_work(database, process)
                async with worker(url, exactly, at_least):
                    await wait_until_done(database)
            assert await ended(database) == {"done": 2 * jobs}
            assert await database.value("select count(*) from exact") == jobs
            assert await database.value("select count(distinct n) from touched") == jobs
            crashes = await database.value("select sum(crashes) from fx_jobs")
            doubled = await database.value("select count(*) from touched") - jobs
            assert 0 <= doubled <= crashes
    return {"jobs": 2 * jobs, "kills": kills, "lost": 0, "crashes": crashes, "doubled": doubled}


async def lose_server(cluster: Cluster, jobs: int, away: float) -> Facts:
    """Kill PostgreSQL in the middle of the work, and start it ``away`` seconds later."""
    url = cluster.new_database()
    with trio.fail_after(LIMIT):
        async with opened(url, ROOT) as database, AsyncExitStack() as stack:
            await database.run_script(TABLES)
            async with running(database, exactly, lasting, workers=0) as runner:
                processes = [
                    await stack.enter_async_context(worker(url, exactly, lasting)) for _ in range(2)
                ]
                await fill(database, runner, jobs, lasting, exactly)
                while not (done := (await ended(database)).get("done", 0)):  # noqa: ASYNC110
                    await trio.sleep(0.01)
                waiting = 2 * jobs - done
                await trio.to_thread.run_sync(cluster.crash)
                await trio.sleep(away)
                await trio.to_thread.run_sync(cluster.start)
                await wait_until_done(database)
                assert [process.returncode for process in processes] == [None, None]
            assert await ended(database) == {"done": 2 * jobs}
            assert await database.value("select count(*) from exact") == jobs
            assert await database.value("select count(distinct n) from touched") == jobs
            again = await database.value("select count(*) from touched") - jobs
    return {"jobs": 2 * jobs, "away": away, "left then": waiting, "lost": 0, "run again": again}


async def kill_a_scheduler(url: str, seconds: float) -> Facts:
    """Let three processes have one schedule, and kill one of them after half of the time."""
    with trio.fail_after(LIMIT):
        async with opened(url, ROOT) as database, AsyncExitStack() as stack:
            await database.run_script(TABLES)
            async with running(database, workers=0):
                processes = [await stack.enter_async_context(worker(url, tick)) for _ in range(3)]
                await trio.sleep(seconds / 2)
                processes[0].send_signal(signal.SIGKILL)
                await trio.sleep(seconds / 2)
                await stack.aclose()
            found = await database.all(dict, "select tick from ticked order by tick")
            jobs = await database.value("select count(*) from fx_jobs")
    ticks = [row["tick"] for row in found]
    assert ticks == list(range(ticks[0], ticks[0] + len(ticks)))  # none twice, none left out
    assert len(ticks) == jobs >= seconds / 2
    return {"seconds": seconds, "ticks": len(ticks), "twice": 0, "left out": 0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=10_000, help="for the kills, of both kinds")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--away", default="3,10", help="seconds without a server")
    parser.add_argument("--ticks", type=float, default=60, help="seconds of a schedule")
    parser.add_argument("--waiting", type=int, default=200, help="jobs at a restart of the server")
    options = parser.parse_args()

    def tell(name: str, work: Callable[[], Awaitable[Facts]]) -> None:
        facts = trio.run(work)
        print(f"{name:36}{', '.join(f'{key} {value}' for key, value in facts.items())}", flush=True)

    with running_cluster() as cluster, tempfile.TemporaryDirectory() as folder:

        def urls(name: str) -> Sequence[tuple[str, str]]:
            file = f"sqlite:///{folder}/{name}.db"
            return ("SQLite", file), ("PostgreSQL", cluster.new_database())

        for engine, url in urls("kills"):
            half = options.jobs // 2
            tell(f"kill -9, {engine}", partial(kill_processes, url, half, options.kills, 3))
        for away in map(float, options.away.split(",")):
            tell("PostgreSQL killed", partial(lose_server, cluster, 500, away))
        for engine, url in urls("ticks"):
            tell(
                f"one of three schedulers, {engine}", partial(kill_a_scheduler, url, options.ticks)
            )
        for name in ("SIGHUP", "SIGKILL"):
            root = build_sleepy(Path(folder, name))
            number = getattr(signal, name)
            tell(f"{name} to fx serve", partial(restart_server, root, options.waiting, 1.0, number))


if __name__ == "__main__":
    main()
