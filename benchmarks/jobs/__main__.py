"""How many durable jobs a second two processes run, what one costs, and how late it begins.

    python -m benchmarks.jobs [--jobs 20000] [--times 300] [--engines sqlite,postgresql] [--json]

A job is a row that waits, is claimed, runs ``async def no_op(number): pass``, and is written
as done; an atomic one is done in a transaction of its own. All of them are there when the
time begins, and it ends when the last one has been written. Enqueuing is measured apart: one
statement each, one after the other, and all in one transaction. Latency is from the call of
``enqueue`` in a third process to the first line of the job, while nothing else is to do.
CPU time is that of all processes, the server's included. PostgreSQL waits for its disk, unless
``--no-sync`` leaves that out of the latency.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import attrs
import trio

from benchmarks import processes
from benchmarks.jobs.worker import JOBS, atomic_no_op, no_op, tell
from fx.jobs import Job
from fxtrio.config import DatabaseConfig
from fxtrio.db import Database, open_database
from tests.db.cluster import running_cluster
from tests.jobs.running import running

ROOT = Path(__file__).parents[2]
PROCESSES = 2
LIMIT = 600.0
"""For one engine (seconds)."""

Figures = dict[str, float]


@attrs.frozen
class Place:
    """A database to measure, and the process that serves it."""

    url: str
    server: int | None = None


@contextmanager
def open_place(engine: str, *, sync: bool) -> Iterator[Place]:
    """Give an empty database of a kind."""
    if engine == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield Place(f"sqlite:///{folder}/app.db")
    else:
        with running_cluster(fsync=sync) as cluster:
            yield Place(cluster.new_database(), cluster.pid)


@asynccontextmanager
async def workers(place: Place, each: int) -> AsyncIterator[list[trio.Process]]:
    """Run processes with ``each`` workers for the length of the block."""
    code = f"from benchmarks.jobs.worker import run; run({place.url!r}, {each})"
    started: list[trio.Process] = []
    try:
        for _ in range(PROCESSES):
            open_one = partial(trio.lowlevel.open_process, stdout=subprocess.PIPE, cwd=ROOT)
            started.append(await open_one([sys.executable, "-c", code]))
        for process in started:
            assert process.stdout is not None
            assert (await process.stdout.receive_some()).startswith(b"ready")
        await trio.sleep(0.5)  # they listen
        yield started
    finally:
        with trio.CancelScope(shield=True):
            for process in started:
                process.kill()
                await process.wait()


def cpu(place: Place, started: list[trio.Process]) -> tuple[float, float]:
    """Return the seconds of CPU so far, of the workers and of the server."""
    own = sum(processes.cpu_seconds(process.pid).total() for process in started)
    return own, processes.cpu_seconds(place.server).total() if place.server else 0.0


async def measure_enqueue(database: Database, jobs: int) -> Figures:
    """Return what one process enqueues a second."""
    figures = {}
    for name, count in (("one by one", jobs // 10), ("in a transaction", jobs)):
        used, began = time.process_time(), time.perf_counter()
        if name == "one by one":
            for number in range(count):
                await no_op.enqueue(number)
        else:
            async with database.transaction():
                for number in range(count):
                    await no_op.enqueue(number)
        figures[f"enqueue {name}, a second"] = count / (time.perf_counter() - began)
        figures[f"enqueue {name}, CPU µs"] = 1e6 * (time.process_time() - used) / count
    await database.execute("delete from fx_jobs")
    return figures


async def measure_rate(
    database: Database, place: Place, job: Job[[int]], jobs: int, each: int
) -> Figures:
    """Return what two processes run a second, and what a job costs."""
    async with workers(place, each) as started:
        before = cpu(place, started)
        async with database.transaction():
            for number in range(jobs):
                await job.enqueue(number)
            server = cpu(place, started)[1]
        began = time.time()
        sql = "select 1 from fx_jobs where state in ('waiting', 'running') limit 1"
        while await database.value(sql):  # noqa: ASYNC110  # no event tells
            await trio.sleep(0.1)
        ended = await database.value("select max(ended) from fx_jobs")
        after = cpu(place, started)
    states = await database.all(dict, "select distinct state, attempts, crashes from fx_jobs")
    assert states == [{"state": "done", "attempts": 1, "crashes": 0}], states
    await database.execute("delete from fx_jobs")
    name = job.name.rpartition(".")[2]
    return {
        f"{name}, a second": jobs / (ended - began),
        f"{name}, CPU µs of the workers": 1e6 * (after[0] - before[0]) / jobs,
        f"{name}, CPU µs of the server": 1e6 * (after[1] - server) / jobs,
    }


async def measure_latency(place: Place, times: int) -> Figures:
    """Return how late jobs begin in processes that have nothing else to do."""
    lateness: list[float] = []
    async with workers(place, 4) as started, trio.open_nursery() as nursery:

        async def read(process: trio.Process) -> None:
            assert process.stdout is not None
            async for part in process.stdout:
                lateness.extend(map(float, part.split()))
                if len(lateness) >= times:
                    nursery.cancel_scope.cancel()

        for process in started:
            nursery.start_soon(read, process)
        used, began = cpu(place, started), time.perf_counter()
        await trio.sleep(2)
        idle = sum(cpu(place, started)) - sum(used)
        share = 100 * idle / (time.perf_counter() - began)
        for _ in range(times):
            await tell.enqueue(time.time())
            await trio.sleep(random.uniform(0.03, 0.15))
        await trio.sleep(10)
    places = statistics.quantiles(lateness, n=100)
    return {
        "latency p50, ms": places[49],
        "latency p99, ms": places[98],
        "latency, longest, ms": max(lateness),
        "idle, CPU % of all processes": share,
    }


async def measure(place: Place, options: argparse.Namespace) -> Figures:
    """Return all figures of one database."""
    figures: Figures = {}
    with trio.fail_after(LIMIT):
        async with open_database(DatabaseConfig(url=place.url), ROOT) as database:
            async with running(database, *JOBS, workers=0):
                figures |= await measure_enqueue(database, options.jobs)
                for job, count in ((no_op, options.jobs), (atomic_no_op, options.jobs // 10)):
                    figures |= await measure_rate(database, place, job, count, options.workers)
                figures |= await measure_latency(place, options.times)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--times", type=int, default=300)
    parser.add_argument("--workers", type=int, default=4, help="of each of the two processes")
    parser.add_argument("--engines", default="sqlite,postgresql")
    parser.add_argument("--no-sync", action="store_true", help="PostgreSQL waits for no disk")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = {}
    for engine in options.engines.split(","):
        with open_place(engine, sync=not options.no_sync) as place:
            results[engine] = trio.run(measure, place, options)
    load = os.getloadavg()[0]
    if options.json:
        print(json.dumps({"load": load} | results))
        return
    print(f"load {load:.1f}")
    for engine, figures in results.items():
        for name, value in figures.items():
            print(f"{engine:12}{name:40}{value:>12,.1f}")


if __name__ == "__main__":
    main()
