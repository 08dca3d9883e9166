"""Clients of databases: Redis, PostgreSQL and SQLite."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from pathlib import Path

import trio

from benchmarks.libraries.model import Work
from fxtrio.asyncio_portal import AsyncioPortal, open_portal
from fxtrio.config import DatabaseConfig
from fxtrio.db import open_database
from tests.db.cluster import running_cluster
from tests.ports import free_port


@asynccontextmanager
async def coredis() -> AsyncIterator[Work]:
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""]
        process = subprocess.Popen(  # noqa: ASYNC220  # before anything else runs
            ["redis-server", *options], stdout=subprocess.DEVNULL
        )
        try:
            await _reachable(port)
            async with import_module("coredis").Redis(port=port, decode_responses=True) as client:
                stopped = 0

                async def call() -> None:
                    nonlocal stopped
                    await client.echo("before")
                    process.send_signal(signal.SIGSTOP)  # so that no answer comes
                    stopped += 1
                    try:
                        await client.echo("cancelled")
                    finally:
                        process.send_signal(signal.SIGCONT)

                async def begun(calls: int) -> None:
                    while stopped < calls:  # noqa: ASYNC110  # the answer is what may not come
                        await trio.sleep(0.002)

                async def quiet() -> bool:
                    return int((await client.info("clients"))["connected_clients"]) <= 2

                async def check() -> None:
                    if await client.echo("checked") != "checked":
                        raise AssertionError("an answer to something else")

                yield Work(call, begun, check, quiet)
        finally:
            process.kill()
            process.wait()


async def _reachable(port: int) -> None:
    while True:
        try:
            await (await trio.open_tcp_stream("127.0.0.1", port)).aclose()
            return
        except OSError:
            await trio.sleep(0.01)


@asynccontextmanager
async def psycopg() -> AsyncIterator[Work]:
    """As `fx.db` drives it: its waits are trio's."""
    sleeping = (
        "select count(*) from pg_stat_activity "
        "where state = 'active' and query = 'select pg_sleep(60)'"
    )
    with running_cluster() as cluster, tempfile.TemporaryDirectory() as folder:
        settings = DatabaseConfig(url=cluster.new_database())
        async with open_database(settings, Path(folder)) as database:

            async def under_way() -> int:
                return int(await database.value(sleeping))

            async def begun(calls: int) -> None:
                while not await under_way():  # noqa: ASYNC110  # the other side tells nobody
                    await trio.sleep(0.001)

            async def check() -> None:
                if await database.value("select 7") != 7:
                    raise AssertionError("an answer to something else")

            async def quiet() -> bool:
                return await under_way() == 0

            yield Work(lambda: database.value("select pg_sleep(60)"), begun, check, quiet)


@asynccontextmanager
async def aiosqlite() -> AsyncIterator[Work]:
    """Through the portal: it knows asyncio alone."""
    connect = import_module("aiosqlite").connect
    counted = 0

    async def count(rows: int) -> int:
        nonlocal counted
        async with connect(":memory:") as database:
            counted += 1
            series = "with recursive n(x) as (select 1 union all select x + 1 from n limit ?)"
            cursor = await database.execute(f"{series} select count(*) from n", [rows])
            [result] = await cursor.fetchone()
            return int(result)

    async with open_portal() as portal:

        async def begun(calls: int) -> None:
            while counted < calls:  # noqa: ASYNC110  # another thread counts
                await trio.sleep(0.0005)

        async def check() -> None:
            if await portal.call(partial(count, 10)) != 10:
                raise AssertionError("a wrong count")

        yield Work(lambda: portal.call(partial(count, 20_000)), begun, check, _no_tasks(portal))


def _no_tasks(portal: AsyncioPortal) -> Callable[[], Awaitable[bool]]:
    async def tasks() -> int:
        return len(asyncio.all_tasks())

    async def quiet() -> bool:
        return await portal.call(tasks) == 3  # the loop's own, and the two of this call

    return quiet
