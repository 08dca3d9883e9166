"""Behind pgbouncer: what is shared is found out at the start, and no statement is another's."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import trio

from fxtrio.config import DatabaseConfig, RealtimeConfig
from fxtrio.db import Database, DatabaseUnusable, open_database
from fxtrio.db.errors import PoolerUnsuitable
from fxtrio.db.postgresql.budget import warn_of_budget
from fxtrio.db.postgresql.engine import Postgres
from fxtrio.realtime.stores.postgres import open_store_broker
from tests.db.bouncer import running_bouncer, through
from tests.db.cluster import Cluster
from tests.db.engines import opened


@pytest.fixture(scope="module")
def transactions(cluster: Cluster) -> Iterator[Path]:
    with running_bouncer(cluster, "transaction") as folder:
        yield folder


@pytest.fixture(scope="module")
def sessions(cluster: Cluster) -> Iterator[Path]:
    with running_bouncer(cluster, "session", size=10) as folder:
        yield folder


async def test_a_pooler_of_transactions_is_rejected_while_statements_are_prepared(
    transactions: Path, postgres_url: str, tmp_path: Path
) -> None:
    with (
        trio.fail_after(30),
        pytest.raises(DatabaseUnusable, match=r"Set 'database\.prepare' to false"),
    ):
        async with opened(through(transactions, postgres_url), tmp_path):
            raise AssertionError


@pytest.mark.parametrize(("size", "round_robin"), [(1, 0), (2, 1), (5, 0), (5, 1)])
async def test_it_is_found_however_it_chooses_its_connections(
    cluster: Cluster, postgres_url: str, size: int, round_robin: int
) -> None:
    with (
        trio.fail_after(30),
        running_bouncer(cluster, "transaction", size=size, round_robin=round_robin) as folder,
    ):
        url = through(folder, postgres_url)
        for _ in range(5):
            engine = Postgres(DatabaseConfig(url=url, prepare=False))
            await engine.look()
            engine.close()
            assert engine.shared


async def test_a_pooler_of_sessions_is_a_server_like_any_other(
    sessions: Path, postgres_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with trio.fail_after(30):
        async with opened(through(sessions, postgres_url), tmp_path) as db:
            for _ in range(10):
                assert await db.value("select $1::int", 7) == 7
            prepared = "select count(*) from pg_prepared_statements"
            assert await db.value(prepared) > 0
            heard = trio.Event()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(db.listen, "news", heard.set)
                await heard.wait()
                nursery.cancel_scope.cancel()
    assert not [one for one in caplog.records if one.levelno >= logging.WARNING]


async def test_without_prepared_statements_it_works_and_says_what_does_not(
    transactions: Path, postgres_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with trio.fail_after(60):
        async with opened(through(transactions, postgres_url), tmp_path, prepare=False) as db:
            await db.execute("create table money (id int, cents int)")
            await db.executemany("insert into money values ($1, $2)", [(1, 100), (2, 100)])
            async with trio.open_nursery() as nursery:
                for number in range(30):
                    nursery.start_soon(_transfer, db, number % 2)
            assert await db.value("select sum(cents) from money") == 200
            async with db.stream(dict, "select * from money order by id") as rows:
                assert [row["id"] async for row in rows] == [1, 2]
            looked = trio.Event()
            async with trio.open_nursery() as nursery:  # which hears nothing, and looks instead
                nursery.start_soon(db.listen, "news", looked.set)
                await looked.wait()
                looked = trio.Event()
                nursery.cancel_scope.cancel()
            await db.notify("news")
    assert "LISTEN does not work" in caplog.text


async def _transfer(db: Database, way: int) -> None:
    async with db.transaction():
        cents = 5 if way else -5
        await db.execute("update money set cents = cents - $1 where id = 1", cents)
        await db.execute("update money set cents = cents + $1 where id = 2", cents)


async def test_no_statement_runs_that_another_client_has_prepared(
    transactions: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the pooler was not found out: it is an error at most, and never silence."""
    url = through(transactions, postgres_url)
    first, second = (Postgres(DatabaseConfig(url=url, pool=1)) for _ in range(2))
    with trio.fail_after(30):
        one, other = await first.acquire(), await second.acquire()
        try:
            await one.run("create table money (id int, cents int)")
            await one.run("create table notes (id int)")
            await one.run("insert into money values (1, 0)")
            await one.run("insert into notes values (1)")
            for _ in range(20):
                await other.run("delete from notes where id = $1 and id < 0", (1,))
                found = await one.run("update money set cents = cents + 1 where id = $1", (1,))
                assert found.count == 1
            assert (await other.run("select cents from money")).rows == [(20,)]
            assert (await other.run("select id from notes")).rows == [(1,)]
        finally:
            one.finish()
            other.finish()


async def test_channels_reject_a_pooler_that_they_would_hear_nothing_through(
    transactions: Path, postgres_url: str
) -> None:
    with trio.fail_after(30), pytest.RaisesGroup(PoolerUnsuitable, flatten_subgroups=True):
        async with open_store_broker(RealtimeConfig(broker=through(transactions, postgres_url))):
            raise AssertionError


async def test_a_lost_prepared_statement_is_prepared_again(
    postgres_url: str, tmp_path: Path
) -> None:
    async with opened(postgres_url, tmp_path, pool=1) as db:
        for _ in range(8):
            await db.value("select $1::int", 1)
        await db.value("select pg_catalog.set_config('fx.x', '1', false)")
        await _deallocate(db)
        assert await db.value("select $1::int", 2) == 2

        for _ in range(8):
            await db.value("select $1::int", 1)
        await _deallocate(db)
        with pytest.raises(psycopg.errors.InvalidSqlStatementName):
            async with db.transaction():  # what it did before is lost, so it must fail
                await db.execute("select 2")
                await db.value("select $1::int", 2)
        assert await db.value("select $1::int", 3) == 3


async def _deallocate(db: Database) -> None:
    """As a pooler does behind our back: in a block of code, which psycopg does not see."""
    await db.execute("do $$ begin execute 'deallocate all'; end $$")


async def test_a_connection_has_the_settings_of_the_session(
    postgres_url: str, tmp_path: Path
) -> None:
    async with opened(postgres_url, tmp_path, idle_transaction_timeout=7) as db:
        assert await db.value("show idle_in_transaction_session_timeout") == "7s"
    url = f"{postgres_url}&options=-c%20idle_in_transaction_session_timeout%3D9s"
    async with opened(url, tmp_path) as db:
        assert await db.value("show idle_in_transaction_session_timeout") == "9s"


async def test_old_connections_are_replaced(postgres_url: str, tmp_path: Path) -> None:
    settings = DatabaseConfig(url=postgres_url, pool=1, max_lifetime=1e-6)
    async with open_database(settings, tmp_path) as db:
        pids = {await db.value("select pg_backend_pid()") for _ in range(3)}
    assert len(pids) == 3


async def test_processes_that_may_want_too_many_connections_are_reported_at_the_start(
    postgres_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(postgres_url, tmp_path) as db:
        await warn_of_budget(db, processes=8, beside=0)
        assert not caplog.records
        db.reserve()
        await warn_of_budget(db, processes=8, beside=1)
    assert "104 of 97 connections may be needed (8 worker processes, 13 each)" in caplog.text
