"""Connections to PostgreSQL that go silent, through a proxy that spoils them."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import psycopg
import pytest
import trio
from trio.testing import MockClock

from fxtrio.config import DatabaseConfig
from fxtrio.db import Database, open_database
from fxtrio.db.postgresql import engine as postgres
from fxtrio.db.postgresql import silence
from fxtrio.db.postgresql.connecting import Connector
from fxtrio.db.postgresql.orphans import LIFE, Orphans, ServerSession
from tests.db.cluster import Cluster
from tests.tcp_proxy import Proxy, open_tcp_proxy

Fault = Literal["freeze", "drop", "half_close", "reset"]
FAULTS: tuple[Fault, ...] = ("freeze", "drop", "half_close", "reset")


@asynccontextmanager
async def behind_a_proxy(
    cluster: Cluster, url: str, root: Path, **settings: Any
) -> AsyncIterator[tuple[Database, Proxy]]:
    """A database through a proxy, looked after as in an app."""
    name = url.partition("@/")[2].partition("?")[0]
    with trio.fail_after(60):
        async with open_tcp_proxy(str(cluster.folder / ".s.PGSQL.5432")) as proxy:
            through = f"postgresql://fx@127.0.0.1:{proxy.port}/{name}"
            config = DatabaseConfig(url=through, **settings)
            async with open_database(config, root) as db, trio.open_nursery() as nursery:
                nursery.start_soon(db.watch)
                yield db, proxy
                nursery.cancel_scope.cancel()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """All waits are short."""
    for name in ("QUIET", "_LOOK", "_ON_ITS_WAY"):
        monkeypatch.setattr(silence, name, 0.2)
    monkeypatch.setattr(postgres, "_PROBE_AFTER_IDLE", 0.0)
    monkeypatch.setattr(postgres, "_PROBE_TIMEOUT", 0.3)
    monkeypatch.setattr(postgres, "_LISTENING", 0.3)


@pytest.mark.parametrize("fault", FAULTS)
async def test_connections_that_rest_are_replaced_without_an_error(
    cluster: Cluster, postgres_url: str, tmp_path: Path, hasty: None, fault: Fault
) -> None:
    async with behind_a_proxy(cluster, postgres_url, tmp_path) as (db, proxy):
        async with trio.open_nursery() as nursery:
            for _ in range(10):
                nursery.start_soon(db.execute, "select pg_sleep(0.05)")
        getattr(proxy, fault)()
        async with trio.open_nursery() as nursery:
            for _ in range(30):
                nursery.start_soon(db.value, "select 1")


@pytest.mark.parametrize("fault", ["freeze", "drop", "half_close"])
async def test_a_statement_whose_answer_is_lost_fails(
    cluster: Cluster, postgres_url: str, tmp_path: Path, hasty: None, fault: Fault
) -> None:
    async with behind_a_proxy(cluster, postgres_url, tmp_path) as (db, proxy):
        failed = trio.Event()

        async def ask() -> None:
            with pytest.raises(psycopg.OperationalError):
                await db.execute("select pg_sleep(0.5)")
            failed.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await trio.sleep(0.1)
            getattr(proxy, fault)()
            await failed.wait()
        assert await db.value("select 1") == 1


@pytest.mark.parametrize("fault", FAULTS)
async def test_the_locks_of_a_lost_connection_are_freed(
    cluster: Cluster, postgres_url: str, tmp_path: Path, hasty: None, fault: Fault
) -> None:
    """The server does not hear of it: between it and the proxy all is well."""
    settings = {"idle_transaction_timeout": 0.0}
    async with behind_a_proxy(cluster, postgres_url, tmp_path, **settings) as (db, proxy):
        await db.execute("create table stock (left_over integer)")
        await db.execute("insert into stock values (7)")
        with pytest.raises(psycopg.OperationalError):
            async with db.transaction():
                await db.execute("update stock set left_over = 6")
                getattr(proxy, fault)()
                await db.execute("select pg_sleep(0.5)")
        assert await db.execute("update stock set left_over = left_over - 2") == 1
        assert await db.value("select left_over from stock") == 5


async def test_sessions_that_nobody_looks_for_are_forgotten(autojump_clock: MockClock) -> None:
    orphans = Orphans()
    for number in range(3):  # as of channels, whose connections are looked after otherwise
        orphans.add(ServerSession(number, 1.0))
        await trio.sleep(LIFE)
    assert len(orphans) == 1


async def test_a_statement_that_takes_long_continues(
    cluster: Cluster, postgres_url: str, tmp_path: Path, hasty: None
) -> None:
    async with behind_a_proxy(cluster, postgres_url, tmp_path) as (db, _):
        async with db.transaction():
            assert await db.value("select 1 from pg_sleep(2)") == 1
            async with trio.open_nursery() as nursery:  # nor is one ended that only waits
                nursery.start_soon(trio.sleep, 0.7)


async def test_one_that_listens_notices_the_silence(
    cluster: Cluster, postgres_url: str, tmp_path: Path, hasty: None
) -> None:
    async with behind_a_proxy(cluster, postgres_url, tmp_path) as (db, proxy):

        def spoil() -> None:
            proxy.freeze()

        with pytest.raises((trio.TooSlowError, psycopg.OperationalError)):
            await db.listen("news", spoil)


async def test_the_kernel_ends_a_connection_whose_packets_nobody_acknowledges(
    cluster: Cluster, postgres_url: str, tmp_path: Path
) -> None:
    settings = {"tcp_user_timeout": 0.5, "pool": 1}
    async with behind_a_proxy(cluster, postgres_url, tmp_path, **settings) as (db, proxy):
        with pytest.raises(psycopg.OperationalError):
            async with db.transaction():
                await db.execute("select 1")
                proxy.drop()
                await db.execute("select 2")
        assert await db.value("select 1") == 1


async def test_both_sides_have_keepalives(cluster: Cluster, postgres_url: str) -> None:
    name = postgres_url.partition("@/")[2].partition("?")[0]
    async with open_tcp_proxy(str(cluster.folder / ".s.PGSQL.5432")) as proxy:
        url = f"postgresql://fx@127.0.0.1:{proxy.port}/{name}?keepalives_idle=7"
        connection = await Connector(url, DatabaseConfig(url=url)).connect()
        try:
            with socket.socket(fileno=connection.pgconn.socket) as own:
                options = [
                    own.getsockopt(socket.IPPROTO_TCP, option)
                    for option in (
                        socket.TCP_KEEPIDLE,
                        socket.TCP_KEEPINTVL,
                        socket.TCP_KEEPCNT,
                        socket.TCP_USER_TIMEOUT,
                    )
                ]
                own.detach()
            assert options == [7, 5, 3, 15_000]
        finally:
            connection.pgconn.finish()
    sql, args = Connector(url).of_session(150_000)
    assert sql.startswith("select pg_backend_pid(), ")
    assert "set_config('tcp_keepalives_idle', $1, false)" in sql
    assert args == ["15", "5", "3", "60000", "15000"]
