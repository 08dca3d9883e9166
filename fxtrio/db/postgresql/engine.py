"""PostgreSQL, through psycopg on trio."""

from __future__ import annotations

import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from copy import copy
from typing import Literal, Protocol
from weakref import WeakSet

import psycopg
import trio

from fxtrio.config import DatabaseConfig
from fxtrio.db.engine import DatabaseConnection, EngineSql, Locks, PoolStatistics, Result
from fxtrio.db.errors import DatabaseBusy, DatabaseUnusable
from fxtrio.db.migrations.scripts import statements_of
from fxtrio.db.pool import Pool
from fxtrio.db.postgresql.connecting import Connector
from fxtrio.db.postgresql.connection import WRITE_ERRORS, PostgresConnection, Work, is_alive
from fxtrio.db.postgresql.silence import end_silent
from fxtrio.db.writing import ROOM

POLL = 1.0
"""Interval of polling for changes by other processes where LISTEN does not work (seconds)."""

_PROBE_AFTER_IDLE = 10.0  # idle time after which a connection is probed, in seconds
_PROBE_TIMEOUT = 3.0  # for the response, in seconds
_LISTENING = 10.0  # between two questions to a connection that only listens, in seconds

_NOTIFY = "select set_config('synchronous_commit', 'off', true), pg_notify($1::text, '')"

_TRIAL = f"""
    begin;
    create temporary table fx_trial as
        select md5(n::text) as filler from generate_series(1, {ROOM // 64}) as n;
    rollback"""

_UNABLE = frozenset({"08", "25", "40", "53", "55", "57", "58", "XX"})
"""Classes of SQLSTATE: connection, state of transactions (read-only), rollback for others,
resources, locks, operator, system, damage."""

_CONFLICTS = ("40001", "40P01", "26000")
"""Serialization failure, deadlock, and a prepared statement that was dropped."""

_RESERVED = 1
"""Connections beside the pool that only housekeeping uses (count)."""

_UNAVAILABLE = ("08", "53", "57P", "58", "25006")
"""Beginnings of SQLSTATE: connection, resources (disk, memory, connections), operator, I/O,
and a server that only reads, such as one that is about to take over."""
_PREPARES = (
    "a pooler in front of it lends connections for one transaction, where prepared "
    "statements of several clients meet. Set 'database.prepare' to false, or use the pooler's "
    "session mode"
)

log = logging.getLogger("fx.db")


_ROUNDS = 8
"""Looks at two connections; where others use the pooler at the same time one may miss it."""

_LIMIT = 3.0
"""For all looks (seconds). A pooler with room for one session lets the second one wait."""

_PID = "select pg_backend_pid()"


@asynccontextmanager
async def open_postgres(settings: DatabaseConfig, *, safe_url: str) -> AsyncIterator[Postgres]:
    """Open a pool of connections to a server; the first one is opened at once.

    ``safe_url`` is the URL without its password. Raises DatabaseUnusable.
    """
    engine = Postgres(settings)
    try:
        await _look(engine, settings, safe_url)
        yield engine
    finally:
        engine.close()


async def _look(engine: Postgres, settings: DatabaseConfig, safe_url: str) -> None:
    """Connect for the first time. Raises DatabaseUnusable."""
    try:
        await engine.look()
    except DatabaseBusy as error:
        raise DatabaseUnusable(safe_url, error.cause) from error
    except psycopg.Error as error:
        raise DatabaseUnusable(safe_url, " ".join(str(error).split())) from error
    if engine.shared and settings.prepare:
        raise DatabaseUnusable(safe_url, _PREPARES)
    if engine.shared:
        log.warning(
            "database.url: %r is a pooler in transaction mode. LISTEN does not work there: "
            "fxtrio looks for jobs of other processes every %g s. Session settings and "
            "advisory locks do not last.",
            safe_url,
            POLL,
        )


SQL = EngineSql(
    real="double precision",
    blob="bytea",
    keyed_table="",
    has_table="select count(*) from pg_class where oid = to_regclass('{table}')",
    position="strpos",
    skip_locked=" for update skip locked",
    locks=Locks(
        wait="select pg_advisory_xact_lock({number})",
        attempt="select pg_try_advisory_xact_lock({number})",
        timeout="set local lock_timeout = {milliseconds}",
        idle="set local idle_in_transaction_session_timeout = 0",
    ),
    statements=statements_of,
    restore=None,
)


class Postgres:
    """An `Engine`. Created by `open_postgres`; valid until its block ends."""

    name: Literal["postgresql"] = "postgresql"
    sql = SQL
    isolation = "read committed"
    probe = "select 1"
    cursors_need_transactions = True
    ends_transactions = False
    shared = False
    """Whether a pooler lends connections for one transaction, as `look` has found."""

    def __init__(self, settings: DatabaseConfig) -> None:
        self.url = settings.url
        self._settings = settings
        self._connector = Connector(settings.url, settings)
        self._work = Work()
        self._first = False
        self._reserved: list[Postgres] = []
        self._open = WeakSet[PostgresConnection]()
        self._pool = self._make_pool(settings.pool, settings.waiters)

    def _make_pool(self, size: int, waiters: int) -> Pool[PostgresConnection]:
        return Pool(
            self.open_connection, size=size, waiters=waiters, is_alive=is_alive, probe=_responds
        )

    @property
    def under_way(self) -> int:
        """How many statements the server works at."""
        return self._work.statements

    async def look(self) -> None:
        """Connect for the first time, and detect a pooler in front of the server.

        Raises DatabaseBusy, and psycopg.Error.
        """
        connection = await self._connect()
        try:
            reported_pid = connection.raw.info.backend_pid
            self.shared = await lends_transactions(connection, reported_pid, self._connect)
        finally:
            connection.finish()
        self.release(await self.acquire())

    async def acquire(self, sql: str = "") -> PostgresConnection:
        """Wait for a connection."""
        return await self._pool.acquire(first=self._first)

    def release(self, connection: DatabaseConnection) -> None:
        """Take a connection back, and close it when it is too old."""
        assert isinstance(connection, PostgresConnection)
        connection.rests_since = trio.current_time()
        if connection.rests_since > connection.expires:
            connection.finish()
        self._pool.release(connection)

    def statistics(self) -> dict[str, PoolStatistics]:
        """Return those of the one pool."""
        return {"all": self._pool.statistics()}

    @property
    def most_connections(self) -> int | None:
        """The pools, and one connection that checks silent ones; None behind a pooler."""
        if self.shared:
            return None
        return self._settings.pool + _RESERVED * len(self._reserved) + 1

    @property
    def alone(self) -> bool:
        """A server has other clients."""
        return False

    async def listen(self, channel: str, call: Callable[[], None]) -> None:
        """LISTEN on a separate connection, which is probed now and then."""
        while self.shared:
            call()
            await trio.sleep(POLL)
        connection = await self.open_connection()
        try:
            await connection.run(f"listen {channel}")
            call()  # for changes before LISTEN
            while True:
                async for _ in connection.raw.notifies(timeout=_LISTENING):
                    call()
                with trio.fail_after(_PROBE_TIMEOUT):
                    await connection.run("select 1")
        finally:
            connection.finish()

    def begin(self, isolation: str | None) -> str:
        """Return the statement that begins a transaction."""
        return f"begin isolation level {isolation}" if isolation else "begin"

    def is_conflict(self, error: BaseException) -> bool:
        """Decide by the SQLSTATE."""
        return isinstance(error, psycopg.Error) and error.sqlstate in _CONFLICTS

    def is_away(self, error: BaseException) -> bool:
        """Decide by libpq's or the server's error about the connection (SQLSTATE 08 and 57P)."""
        root = error.__cause__ if isinstance(error, DatabaseBusy) else error
        if isinstance(root, trio.TooSlowError):
            return True
        if not isinstance(root, psycopg.OperationalError):
            return False
        return root.sqlstate is None or root.sqlstate.startswith(("08", "57P"))

    def cannot_work(self, error: BaseException) -> bool:
        """Tell by the class of what the server says, or that it says nothing any more."""
        if not isinstance(error, psycopg.Error):
            return False
        return self.is_away(error) or (error.sqlstate or "")[:2] in _UNABLE

    def is_unavailable(self, error: BaseException) -> bool:
        """Tell by the class of what the server says, or that it says nothing any more."""
        if self.is_away(error):
            return True
        return isinstance(error, psycopg.Error) and (error.sqlstate or "").startswith(_UNAVAILABLE)

    def reserve(self) -> Postgres:
        """Return the same with a connection of its own."""
        reserved = copy(self)
        reserved._pool = reserved._make_pool(_RESERVED, 0)
        reserved._first = True
        self._reserved.append(reserved)
        return reserved

    async def notify(self, channel: str) -> None:
        """NOTIFY without waiting for the disk: a lost notification is harmless."""
        if self.shared:  # no process can listen
            await trio.lowlevel.checkpoint()
            return
        connection = await self.acquire()
        try:
            await connection.run(_NOTIFY, (channel,))
        finally:
            self.release(connection)

    def close(self) -> None:
        """Close idle connections."""
        self._pool.close()
        for reserved in self._reserved:
            reserved._pool.close()

    async def can_write(self) -> bool:
        """Test after a rejected write whether a temporary table can be created and filled.

        Without the privilege for temporary tables, writes are assumed to work.
        """
        if not self._work.writing.rejected:
            await trio.lowlevel.checkpoint()
            return True
        connection = await self.acquire()
        try:
            await connection.run_script(_TRIAL)
        except psycopg.Error as error:
            if error.sqlstate in WRITE_ERRORS:
                return False
            if self.is_away(error):
                raise
        finally:
            self.release(connection)
        self._work.writing.rejected = False
        return True

    async def watch(self) -> None:
        """End connections whose responses were lost, until cancelled."""
        if not self.shared and not hasattr(trio.lowlevel.current_clock(), "jump"):
            await end_silent(
                lambda: [*self._open], self._connect, self._forget_idle, self._work.orphans
            )

    def _forget_idle(self) -> None:
        for engine in (self, *self._reserved):
            engine._pool.forget_idle()

    async def open_connection(self) -> PostgresConnection:
        """Open a connection beside the pool, which is the caller's to finish.

        Raises DatabaseBusy.
        """
        connection = await self._connect()
        if not self.shared:
            try:
                await self._set_up(connection)
            except BaseException:
                connection.finish()
                raise
        if self._first:
            # A plan that is kept is that of the table when it was small, until that is analysed.
            connection.raw.prepare_threshold = None
        self._open.add(connection)
        return connection

    async def _set_up(self, connection: PostgresConnection) -> None:
        """Give a session its settings. Raises DatabaseBusy."""
        limit = self._settings.connect_timeout
        sql, args = self._connector.of_session(connection.raw.info.server_version)
        try:
            with trio.fail_after(limit):
                connection.take_session(*(await connection.run(sql, args)).rows[0][:2])
        except trio.TooSlowError as error:
            raise DatabaseBusy(f"the server did not answer for {limit:g} s") from error
        except psycopg.OperationalError as error:
            raise DatabaseBusy(f"the server ended a new connection ({error})") from error

    async def _connect(self) -> PostgresConnection:
        with self._work.counted():
            raw = await self._connector.connect()
        connection = PostgresConnection(raw, self._work)
        lasts = self._settings.max_lifetime * random.uniform(0.9, 1)  # not all at once
        connection.expires = trio.current_time() + lasts
        return connection


async def _responds(connection: PostgresConnection) -> bool:
    """Whether a connection that was idle for a while still reaches the server."""
    if trio.current_time() - connection.rests_since < _PROBE_AFTER_IDLE:
        return True
    try:
        with trio.fail_after(_PROBE_TIMEOUT):
            await connection.run("select 1")
    except (psycopg.Error, trio.TooSlowError):
        return False
    return True


class PoolerConnection(Protocol):
    """A connection, as far as it is needed here."""

    async def run(self, sql: str) -> Result:
        """Run one statement."""
        ...

    def finish(self) -> None:
        """Close it."""
        ...


# Under a pooler that lends connections for one transaction at a time, prepared statements, LISTEN
# and settings of one client affect another one. Checked once, when the database is opened.
async def lends_transactions(
    first: PoolerConnection, reported_pid: int, open_one: Callable[[], Awaitable[PoolerConnection]]
) -> bool:
    """Whether sessions are shared. ``reported_pid`` is the process id at the start of ``first``.

    Without a pooler that is the id of its backend, and no further query is needed. With one,
    a second connection looks for the same backend while the first is open: an exclusive
    session's backend can neither be shared nor change.
    """
    pid = await _ask(first)
    if pid == reported_pid:
        return False
    with trio.move_on_after(_LIMIT):
        second = await open_one()
        try:
            for _ in range(_ROUNDS):
                await second.run("begin")
                try:
                    if await _ask(second) == pid or await _ask(first) != pid:
                        return True
                finally:
                    with trio.CancelScope(shield=True), trio.move_on_after(1):
                        await second.run("rollback")
        finally:
            second.finish()
    return False


async def _ask(connection: PoolerConnection) -> int:
    found: int = (await connection.run(_PID)).rows[0][0]
    return found
