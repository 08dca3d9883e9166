"""Housekeeping has a place that requests cannot take."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import psycopg
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from fxtrio.db import Database, DatabaseBusy
from tests.db.engines import opened


async def hold(database: Database, until: trio.Event) -> None:
    async with database.transaction():
        await database.value("select 1")
        await until.wait()


async def test_it_waits_for_none_of_the_transactions_of_postgresql(
    postgres_url: str, tmp_path: Path
) -> None:
    release = trio.Event()
    with trio.fail_after(60):
        async with opened(postgres_url, tmp_path, pool=2, waiters=1) as database:
            async with trio.open_nursery() as nursery:
                for _ in range(3):
                    nursery.start_soon(hold, database, release)
                while database._engine._pool.statistics().waiting < 1:  # type: ignore[attr-defined]  # noqa: ASYNC110
                    await trio.sleep(0.01)
                with pytest.raises(DatabaseBusy):
                    await database.value("select 1")
                reserved = database.reserve()
                assert await reserved.value("select 1") == 1
                async with reserved.transaction():
                    assert await reserved.value("select 2") == 2
                release.set()


@pytest.mark.parametrize("kind", ["memory", "file"])
async def test_it_is_next_where_one_writes_at_a_time(kind: str, tmp_path: Path) -> None:
    order: list[str] = []

    async def write(database: Database, name: str) -> None:
        await database.execute("insert into notes values (1)")
        order.append(name)

    release = trio.Event()
    with trio.fail_after(60):
        async with opened(kind, tmp_path, waiters=2) as database:
            await database.execute("create table notes (n integer)")
            reserved = database.reserve()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(hold, database, release)
                await trio.sleep(0.2)
                for name in ("first", "second"):
                    nursery.start_soon(write, database, name)
                    await wait_all_tasks_blocked()
                for name in ("beat", "claim"):
                    nursery.start_soon(write, reserved, name)
                    await wait_all_tasks_blocked()
                with pytest.raises(DatabaseBusy):
                    await write(database, "one too many")
                release.set()
    assert order == ["beat", "claim", "first", "second"]


async def test_errors_that_are_no_fault_of_the_statement_are_recognised(
    tmp_path: Path, postgres_url: str
) -> None:
    async with opened("memory", tmp_path) as database:
        await database.execute("create table notes (n integer)")
        await database.execute("pragma max_page_count = 3")
        with pytest.raises(sqlite3.OperationalError) as full:
            await database.execute("insert into notes values (zeroblob(100000))")
        with pytest.raises(sqlite3.OperationalError) as wrong:
            await database.execute("select * from nothing")
        assert database.is_unavailable(full.value)
        assert database.is_unavailable(DatabaseBusy("busy"))
        assert not database.is_unavailable(wrong.value)
        assert not database.is_unavailable(ValueError())
    async with opened(postgres_url, tmp_path) as database:
        for error, unavailable in (
            (psycopg.errors.DiskFull(), True),
            (psycopg.errors.AdminShutdown(), True),
            (psycopg.errors.ReadOnlySqlTransaction(), True),
            (psycopg.OperationalError("lost"), True),
            (psycopg.errors.QueryCanceled(), False),
            (psycopg.errors.UndefinedTable(), False),
        ):
            assert database.is_unavailable(error) is unavailable, error
