"""PostgreSQL, through psycopg on trio."""

from __future__ import annotations

import logging
import select
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from enum import Enum
from itertools import count
from typing import Any, Literal

import psycopg
import trio
from psycopg import AsyncRawCursor
from psycopg.pq import ConnStatus, TransactionStatus
from psycopg.types.json import Jsonb

from fxtrio.db.arguments import ABOVE_32, HALF_A_PAIR, NUL, refused
from fxtrio.db.copying import Copy, open_copy
from fxtrio.db.engine import Cursor, DatabaseConnection, Result, State
from fxtrio.db.faults import ArgumentRefused, DatabaseBusy, DatabaseUnusable
from fxtrio.db.pool import Pool
from fxtrio.db.psycopg_trio import StatementCursor, TrioConnection

CONNECT_TIMEOUT = 10.0
"""How long a server has to accept a connection (seconds)."""

_PART = 500  # rows of a stream at a time

_NOTIFY = "select set_config('synchronous_commit', 'off', true), pg_notify($1::text, '')"

_UNABLE = frozenset({"08", "25", "40", "53", "55", "57", "58", "XX"})
"""Classes of SQLSTATE: connection, state of transactions (read-only), rollback for others,
resources, locks, operator, system, damage."""

log = logging.getLogger("fx.db")


@asynccontextmanager
async def open_postgres(
    url: str, *, shown: str, size: int, waiters: int
) -> AsyncIterator[Postgres]:
    """Keep a pool of ``size`` connections to a server; the first one is tried at once.

    ``shown`` is the URL without its password. Raises DatabaseUnusable.
    """
    engine = Postgres(url, size=size, waiters=waiters)
    try:
        engine.release(await engine.acquire(reads=True))
    except DatabaseBusy as error:
        raise DatabaseUnusable(shown, error.cause) from error
    try:
        yield engine
    finally:
        engine.close()


class Postgres:
    """An `Engine`. Made by `open_postgres`; valid until its block ends."""

    name: Literal["postgresql"] = "postgresql"
    begin = "begin"

    def __init__(self, url: str, *, size: int, waiters: int) -> None:
        self.url = url
        self._work = Work()
        self._pool = Pool(self.open_connection, size=size, waiters=waiters, is_alive=_is_alive)

    @property
    def under_way(self) -> int:
        """How many statements the server works at."""
        return self._work.statements

    async def acquire(self, *, reads: bool) -> PostgresConnection:
        """Wait for a connection."""
        return await self._pool.acquire()

    def release(self, connection: DatabaseConnection) -> None:
        """Take a connection back."""
        assert isinstance(connection, PostgresConnection)
        self._pool.release(connection)

    @property
    def alone(self) -> bool:
        """A server has other clients."""
        return False

    async def listen(self, channel: str, call: Callable[[], None]) -> None:
        """LISTEN on a connection of its own."""
        connection = await self.open_connection()
        try:
            await connection.run(f"listen {channel}")
            call()  # for what came before
            async for _ in connection.raw.notifies():
                call()
        finally:
            connection.finish()

    def is_away(self, error: BaseException) -> bool:
        """Tell by what libpq or the server says about the connection (SQLSTATE 08 and 57P)."""
        told = error.__cause__ if isinstance(error, DatabaseBusy) else error
        if isinstance(told, trio.TooSlowError):
            return True
        if not isinstance(told, psycopg.OperationalError):
            return False
        return told.sqlstate is None or told.sqlstate.startswith(("08", "57P"))

    def cannot_work(self, error: BaseException) -> bool:
        """Tell by the class of what the server says, or that it says nothing any more."""
        if not isinstance(error, psycopg.Error):
            return False
        return self.is_away(error) or (error.sqlstate or "")[:2] in _UNABLE

    async def notify(self, channel: str) -> None:
        """NOTIFY, without a wait for the disk: nothing is lost that anybody would look for."""
        connection = await self.acquire(reads=False)
        try:
            await connection.run(_NOTIFY, (channel,))
        finally:
            self.release(connection)

    def close(self) -> None:
        """Close what is idle."""
        self._pool.close()

    async def open_connection(self) -> PostgresConnection:
        """Open a connection beside the pool, which is the caller's to finish."""
        try:
            with trio.fail_after(CONNECT_TIMEOUT), self._work.counted():
                raw = await TrioConnection.connect(
                    self.url, autocommit=True, cursor_factory=AsyncRawCursor
                )
        except trio.TooSlowError as error:
            raise DatabaseBusy(f"the server did not answer for {CONNECT_TIMEOUT:g} s") from error
        except psycopg.OperationalError as error:
            cause = " ".join(str(error).split())
            raise DatabaseBusy(f"the server accepts no connection ({cause})") from error
        return PostgresConnection(raw, self._work)


class Work:
    """Counts what a server works at."""

    statements = 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count one more for the length of the block."""
        self.statements += 1
        try:
            yield
        finally:
            self.statements -= 1


class PostgresConnection:
    """A `DatabaseConnection` of PostgreSQL, in autocommit mode."""

    def __init__(self, raw: TrioConnection, work: Work) -> None:
        self.raw = raw
        self._work = work
        self._cursors = count()
        self._spare: StatementCursor | None = None
        self._encoding = raw.info.encoding
        self._poll = select.poll()
        self._poll.register(raw.pgconn.socket, select.POLLIN | select.POLLRDHUP)

    @property
    def state(self) -> State:
        """What libpq knows of it."""
        return _STATES.get(self.raw.pgconn.transaction_status, "gone")

    def came(self) -> int:
        """Return what has happened to its socket, as `select.poll` tells it."""
        found = self._poll.poll(0)
        return found[0][1] if found else 0

    async def run(self, sql: str, args: Sequence[Any] = ()) -> Result:
        """Run one statement."""
        cursor, self._spare = self._spare or StatementCursor(self.raw), None
        self._work.statements += 1
        try:
            await cursor.execute(sql, [*map(_adapted, args)] or None)
        except (psycopg.DataError, UnicodeEncodeError) as error:
            raise _refused([args], error) or error from error
        finally:
            self._work.statements -= 1
        result = cursor.pgresult
        if result is None or not result.nfields:
            found = Result((), (), max(cursor.rowcount, 0))
        else:
            # Not `description`, whose objects tell far more.
            names = tuple(result.fname(n).decode(self._encoding) for n in range(result.nfields))
            rows = await cursor.fetchall()
            found = Result(names, rows, len(rows))
        cursor.forget()
        self._spare = cursor
        return found

    async def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> int:
        """Run one statement for each of ``rows``, in one go."""
        cursor = self.raw.cursor()
        try:
            with self._work.counted():
                await cursor.executemany(sql, [[*map(_adapted, row)] for row in rows])
        except (psycopg.DataError, UnicodeEncodeError) as error:
            raise _refused(rows, error) or error from error
        return int(max(cursor.rowcount, 0))

    async def run_script(self, text: str) -> None:
        """Run several statements."""
        with self._work.counted():
            await self.raw.execute(text, prepare=False)

    def copy(self, sql: str, *, whole: bool) -> AbstractAsyncContextManager[Copy]:
        """Run a COPY for the length of the block."""
        return open_copy(self.raw, sql, self._work.counted, _adapted, whole=whole)

    async def open_cursor(self, sql: str, args: Sequence[Any]) -> Cursor:
        """Declare a cursor and fetch its first rows."""
        name = f"fx_{next(self._cursors)}"
        await self.run(f"declare {name} no scroll cursor for {sql}", args)
        fetch = f"fetch {_PART} from {name}"
        return DeclaredCursor(self, name, fetch, await self.run(fetch))

    def finish(self) -> None:
        """Close it at once."""
        if self.raw.pgconn.status == ConnStatus.OK:
            trio.lowlevel.notify_closing(self.raw.pgconn.socket)
        self.raw.pgconn.finish()


class DeclaredCursor:
    """A `Cursor` of PostgreSQL, in the transaction in which it was declared."""

    detached = False

    def __init__(
        self, connection: PostgresConnection, name: str, fetch: str, first: Result
    ) -> None:
        self._connection = connection
        self._name = name
        self._fetch = fetch
        self._first: Sequence[Sequence[Any]] | None = first.rows
        self.names = first.names

    async def fetch(self) -> Sequence[Sequence[Any]]:
        """Return the next rows."""
        first, self._first = self._first, None
        if first is not None:
            return first
        return (await self._connection.run(self._fetch)).rows

    async def close(self) -> None:
        """Close it on the server, where that still takes statements."""
        if self._connection.state == "open":
            await self._connection.run(f"close {self._name}")


_STATES: dict[Any, State] = {
    TransactionStatus.IDLE: "idle",
    TransactionStatus.INTRANS: "open",
    TransactionStatus.INERROR: "failed",
}


def _adapted(value: Any) -> Any:
    """Return a value as psycopg takes it: a dict is JSON, a member of an Enum its value."""
    if isinstance(value, dict):
        return Jsonb(value)
    return value.value if isinstance(value, Enum) else value


def _refused(rows: Sequence[Sequence[Any]], error: Exception) -> ArgumentRefused | None:
    """Return the error that names an argument, for what psycopg or the server says of data."""
    if isinstance(error, psycopg.errors.NumericValueOutOfRange):
        return refused(rows, ABOVE_32)
    return refused(rows, NUL, HALF_A_PAIR)


def _is_alive(connection: PostgresConnection) -> bool:
    """Tell without a round trip: a server that has gone has closed the socket."""
    pgconn = connection.raw.pgconn
    if pgconn.status != ConnStatus.OK:
        return False
    found = connection.came()
    if found & ~select.POLLIN:
        return False
    if found:  # a notice, or the last words of a server that stops
        try:
            pgconn.consume_input()
        except psycopg.OperationalError:
            return False
    return bool(pgconn.status == ConnStatus.OK)
