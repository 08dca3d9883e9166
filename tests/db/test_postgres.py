"""What only PostgreSQL does: cancel on the server, restart, respond slowly."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
import trio
from trio.testing import MockClock

from fx.db import db as current
from fx.testing import open_app
from fxtrio.cli.config import settings
from fxtrio.config import load_config
from fxtrio.db import (
    CommitUnknown,
    Database,
    DatabaseBusy,
    DatabaseUnusable,
    TransactionAborted,
)
from tests.db.cluster import Cluster
from tests.db.engines import opened
from tests.trees import page, write_tree

SLOW_COMMIT = """
create table slow (seconds float);
create function slowly() returns trigger language plpgsql as
  'begin perform pg_sleep(new.seconds); return null; end';
create constraint trigger slowly after insert on slow deferrable initially deferred
  for each row execute function slowly();
"""
RUNNING = "select count(*) from pg_stat_activity where query like '%pg_sleep%' and pid <> "
COMMITS = "from pg_stat_activity where query = 'commit' and state = 'active'"
MINE = "pg_backend_pid() and state = 'active'"


@pytest.fixture
def engine(postgres_url: str) -> str:
    return postgres_url


@pytest.fixture
async def slow(db: Database) -> AsyncIterator[Database]:
    """A database in which COMMIT takes as long as the rows of ``slow`` say."""
    await db.run_script(SLOW_COMMIT)
    yield db


async def wait_for(db: Database, count: int, sql: str = RUNNING + MINE) -> None:
    """Ask the server, which tells nobody by itself."""
    with trio.fail_after(10):
        while True:
            if await db.value(sql) == count:
                return
            await trio.sleep(0.01)


async def test_clients_that_leave_cancel_their_queries_on_the_server(db: Database) -> None:
    async with trio.open_nursery() as nursery:
        for _ in range(6):
            nursery.start_soon(db.execute, "select pg_sleep(60)")
        await wait_for(db, 6)
        nursery.cancel_scope.cancel()

    await wait_for(db, 0)
    assert await db.value("select count(*) from pg_stat_activity where state like 'idle in%'") == 0
    async with trio.open_nursery() as nursery:  # and the connections are fit for use
        for number in range(20):
            nursery.start_soon(db.value, "select $1::int", number)


async def test_a_commit_is_not_cut_in_two(slow: Database) -> None:
    with trio.CancelScope() as scope:
        async with slow.transaction():
            await slow.execute("insert into slow values (0.3)")
            scope.deadline = trio.current_time() + 0.1
    assert scope.cancel_called
    assert await slow.value("select count(*) from slow") == 1


async def test_a_connection_lost_in_a_commit_is_reported(slow: Database) -> None:
    async def cut() -> None:
        await wait_for(slow, 1, f"select count(*) {COMMITS}")
        await slow.execute(f"select pg_terminate_backend(pid) {COMMITS}")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(cut)
        with pytest.raises(CommitUnknown, match="may have been committed, or not"):
            async with slow.transaction():
                await slow.execute("insert into slow values (30)")

    assert await slow.value("select count(*) from slow") == 0


async def test_what_fails_at_the_commit_is_undone(db: Database) -> None:
    await db.run_script("create table a (id int unique deferrable initially deferred);")
    with pytest.raises(psycopg.errors.UniqueViolation):
        async with db.transaction():
            await db.executemany("insert into a values ($1)", [(1,), (1,)])

    assert await db.value("select count(*) from a") == 0


async def test_a_transaction_that_failed_is_never_reported_as_committed(db: Database) -> None:
    with pytest.raises(TransactionAborted):
        async with db.transaction():
            await db.execute("insert into notes values (1, 'a')")
            with pytest.raises(psycopg.errors.UndefinedTable):
                await db.execute("insert into nowhere values (1)")

    assert await db.value("select count(*) from notes") == 0


async def test_a_restart_costs_the_query_under_way_and_no_other(
    own_cluster: Cluster, tmp_path: Path
) -> None:
    url = own_cluster.new_database()
    with trio.fail_after(60):
        async with opened(url, tmp_path, pool=3) as db:
            lost: list[BaseException] = []

            async def long() -> None:
                with pytest.raises(psycopg.OperationalError) as caught:
                    await db.execute("select pg_sleep(60)")
                lost.append(caught.value)

            async with trio.open_nursery() as nursery:
                nursery.start_soon(long)
                await wait_for(db, 1)
                await trio.to_thread.run_sync(own_cluster.stop, signal.SIGQUIT)
            with pytest.raises(DatabaseBusy, match="accepts no connection"):
                await db.value("select 1")
            await trio.to_thread.run_sync(own_cluster.start)

            for _ in range(10):
                assert await db.value("select 1") == 1
            assert len(lost) == 1


async def test_no_server_at_the_start_is_named_without_the_password(tmp_path: Path) -> None:
    url = f"postgresql://me:secret@/x?host={tmp_path}&password=secret"

    with pytest.raises(DatabaseUnusable, match="No such file") as caught:
        async with opened(url, tmp_path):
            pass
    assert "secret" not in str(caught.value)
    printed_url = settings(load_config(tmp_path, environ={}, database__url=url))["database"]["url"]
    assert "secret" not in printed_url and str(tmp_path) in printed_url


PAGE = """
    import trio
    from fx.db import db

    @server
    async def load(request):
        await trio.sleep(1)
        return {"count": await db.value("select count(*) from notes")}

    @action(transaction=True)
    async def add(request):
        await db.execute("insert into notes values ('a')")
        await trio.sleep(1)
        return {}
    """


async def test_every_test_has_a_database_of_its_own(
    tmp_path: Path, cluster: Cluster, postgres_url: str, autojump_clock: MockClock
) -> None:
    files = {
        "pages/index.fxl": page(PAGE),
        "migrations/0001_notes.sql": "create table notes (text text);",
    }
    write_tree(tmp_path, files)
    for _ in range(2):
        async with open_app(tmp_path, database__url=postgres_url) as client:
            assert (await client.action("/", "add", {})).ok
            assert (await client.load_page("/")).data == {"count": 1}
            name = await current.value("select current_database()")
            assert name.startswith("fx_test_")
    assert trio.current_time() == 4  # the sleeps, and no wait for the server
    with psycopg.connect(postgres_url) as own:  # without a clock that jumps
        assert own.execute("select to_regclass('notes')").fetchone() == (None,)
        left = own.execute("select count(*) from pg_database where datname ~ '^fx_test'")
        assert left.fetchone() == (0,)
