"""What a request with one query costs, beside uvicorn, uvloop and asyncpg; and who leaves.

    python -m benchmarks.database [--seconds 4] [--rounds 5] [--connections 32] [--json]

Both servers run in one process each, beside one PostgreSQL, and are loaded one after the
other in every round; figures are medians of the rounds. ``leaving`` is the time from the
moment when six clients are cancelled in the middle of a query until the server works at none.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path

import trio

from benchmarks import processes
from benchmarks.http.servers import peers_python, servers, serving
from benchmarks.load import run_wrk
from benchmarks.works import Call
from fxtrio.config import DatabaseConfig
from fxtrio.db import open_database
from tests.db.cluster import Cluster, running_cluster

APPS = {"ours": "ours", "uvicorn": "theirs"}
TABLE = """
create table people (id integer primary key, name text, email text);
insert into people select n, 'name ' || n, n || '@example.org' from generate_series(1, 1000) n;
"""
BODY = b'{"id": 7, "name": "name 7", "email": "7@example.org"}'
RUNNING = "select count(*) from pg_stat_activity where state = 'active' and query like '%pg_sleep%'"
CLIENTS = 6
LIMIT = 10.0
"""For the server to begin or end their queries (seconds)."""

Figures = dict[str, float]


def in_turn(cluster: Cluster, options: argparse.Namespace) -> dict[str, Figures]:
    """Return ``{server: figures}`` of both servers under load."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    known = servers(peers_python(), "benchmarks.http.databases")
    with ExitStack() as stack:
        running = {
            name: stack.enter_context(serving(known[name], app, body=BODY))
            for name, app in APPS.items()
        }
        call = Call(path="/", contains=("name 7",))
        for number in range(options.rounds + 1):
            for name, (port, pid) in running.items():
                before = processes.cpu_seconds(pid).total(), processes.cpu_seconds(cluster.pid)
                load = run_wrk(
                    f"http://127.0.0.1:{port}",
                    call,
                    headers={},
                    connections=options.connections,
                    seconds=options.seconds,
                )
                assert not load.errors, load.errors
                own = processes.cpu_seconds(pid).total() - before[0]
                server = processes.cpu_seconds(cluster.pid).total() - before[1].total()
                if number:  # the first warms up
                    found[name]["answers a second"].append(load.rate)
                    found[name]["CPU µs of the process"].append(1e6 * own / load.requests)
                    found[name]["CPU µs of PostgreSQL"].append(1e6 * server / load.requests)
                    found[name]["p99 ms"].append(load.p99)
    return {
        name: {key: statistics.median(values) for key, values in figures.items()}
        for name, figures in found.items()
    }


async def leaving(url: str, times: int) -> Figures:
    """Return how long the server goes on with the queries of clients that have left."""
    took = []
    async with open_database(DatabaseConfig(url=url), Path("/")) as database:

        async def wait_for(count: int) -> None:
            with trio.fail_after(LIMIT):
                await counted(count)

        async def counted(count: int) -> None:
            sql = f"{RUNNING} and pid <> pg_backend_pid()"
            while await database.value(sql) != count:  # noqa: ASYNC110  # no event tells
                await trio.sleep(0.001)

        for _ in range(times):
            async with trio.open_nursery() as nursery:
                for _ in range(CLIENTS):
                    nursery.start_soon(database.execute, "select pg_sleep(60)")
                await wait_for(CLIENTS)
                began = trio.current_time()
                nursery.cancel_scope.cancel()
            await wait_for(0)
            took.append(1000 * (trio.current_time() - began))
    return {
        "median ms": statistics.median(took),
        "longest ms": max(took),
        "times": float(times),
    }


async def prepare(url: str) -> None:
    """Make the table that is asked."""
    async with open_database(DatabaseConfig(url=url), Path("/")) as database:
        await database.run_script(TABLE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--times", type=int, default=30, help="that six clients leave")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with running_cluster() as cluster:
        url = cluster.new_database()
        os.environ["BENCH_DATABASE"] = url
        trio.run(prepare, url)
        figures = in_turn(cluster, options)
        figures["leaving"] = trio.run(leaving, url, options.times)
    if options.json:
        print(json.dumps({"load": os.getloadavg()[0]} | figures))
        return
    print(f"load {os.getloadavg()[0]:.1f}")
    for name, values in figures.items():
        for key, value in values.items():
            print(f"{name:12}{key:28}{value:>10,.1f}")


if __name__ == "__main__":
    main()
