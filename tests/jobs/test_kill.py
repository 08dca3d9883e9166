"""Processes that are killed in the middle of their jobs."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from fxtrio.db import Database
from fxtrio.jobs import JobRunner
from tests.db.cluster import Cluster
from tests.db.engines import opened
from tests.docs.pages import ROOT
from tests.jobs.running import running
from tests.jobs.worker import TABLES, at_least, exactly

JOBS = 400
"""Of each kind."""

KILLS = 6


@asynccontextmanager
async def worker(url: str) -> AsyncIterator[trio.Process]:
    """A process with workers, killed at the end of the block if it still runs."""
    # As a module of its name, by which the jobs are known.
    words = [sys.executable, "-c", f"from tests.jobs.worker import run; run({url!r})"]
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


async def fill(database: Database, runner: JobRunner, count: int) -> None:
    """Keep ``count`` jobs of each kind, as `enqueue` would one by one."""
    now = runner.now()
    sql = "insert into fx_jobs (name, queue, args, due, made) values ($1, 'default', $2, $3, $3)"
    for job in (exactly, at_least):
        await database.executemany(sql, [(job.name, f"[[{n}],{{}}]", now) for n in range(count)])


async def left(database: Database) -> int:
    """Return how many jobs have not ended."""
    sql = "select count(*) from fx_jobs where state in ('waiting', 'running')"
    number: int = await database.value(sql)
    return number


async def kill_until_done(database: Database, url: str, kills: int, seed: int) -> None:
    """Let processes work one after the other and kill them, the last one excepted."""
    chance = random.Random(seed)
    for _ in range(kills):
        async with worker(url) as process:
            await trio.sleep(chance.uniform(0, 0.15))
            process.send_signal(signal.SIGKILL)
    async with worker(url):
        while True:
            if not await left(database):
                return
            await trio.sleep(0.05)


async def test_a_database_that_goes_away_costs_no_job(own_cluster: Cluster, tmp_path: Path) -> None:
    url = own_cluster.new_database()
    with trio.fail_after(60):
        async with opened(url, tmp_path) as database:
            await database.run_script(TABLES)
            async with running(database, exactly, at_least, workers=0) as runner:
                await fill(database, runner, JOBS)
                async with worker(url) as process:
                    await trio.sleep(0.2)
                    await trio.to_thread.run_sync(own_cluster.stop, signal.SIGQUIT)
                    await trio.sleep(0.5)
                    await trio.to_thread.run_sync(own_cluster.start)
                    while True:
                        if not await left(database):
                            break
                        await trio.sleep(0.05)
                    assert process.returncode is None
            ended = await database.all(dict, "select state, count(*) as n from fx_jobs group by 1")
            assert ended == [{"state": "done", "n": 2 * JOBS}]
            assert await database.value("select count(*) from exact") == JOBS


@pytest.mark.parametrize("engine", ["file", "postgresql"], indirect=True)
async def test_no_job_is_lost_and_atomic_ones_are_exact(engine: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/data/app.db" if engine == "file" else engine
    with trio.fail_after(60):
        async with opened(engine, tmp_path) as database:
            await database.run_script(TABLES)
            async with running(database, exactly, at_least, workers=0) as runner:
                await fill(database, runner, JOBS)
                await kill_until_done(database, url, KILLS, seed=3)

            ended = await database.all(dict, "select state, count(*) as n from fx_jobs group by 1")
            assert ended == [{"state": "done", "n": 2 * JOBS}]
            assert await database.value("select count(*) from exact") == JOBS
            assert await database.value("select count(distinct n) from touched") == JOBS
            crashes = await database.value("select sum(crashes) from fx_jobs")
            doubled = await database.value("select count(*) from touched") - JOBS
            assert 0 <= doubled <= crashes
            assert crashes > 0
