"""One connection to PostgreSQL, as the engine lends it."""

from __future__ import annotations

import select
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from enum import Enum
from itertools import count
from math import inf
from time import perf_counter
from typing import Any

import psycopg
import trio
from psycopg.pq import ConnStatus, TransactionStatus
from psycopg.types.json import Jsonb

from fxtrio.db.argument_errors import ABOVE_32, HALF_A_PAIR, NUL, find_invalid_argument
from fxtrio.db.engine import Cursor, Result, State
from fxtrio.db.errors import ArgumentInvalid
from fxtrio.db.postgresql.copy import Copy, open_copy
from fxtrio.db.postgresql.orphans import Orphans, ServerSession
from fxtrio.db.postgresql.psycopg_trio import StatementCursor, TrioConnection
from fxtrio.db.writing import Writing

WRITE_ERRORS = ("53100", "58030", "25006")
"""A full disk, an error of the disk, and a server that only reads (SQLSTATE)."""

_PART = 500  # rows of a stream at a time


class Work:
    """Counts running statements, and records rejected writes and orphaned sessions."""

    statements = 0

    def __init__(self) -> None:
        self.writing = Writing()
        self.orphans = Orphans()

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count one more for the length of the block."""
        self.statements += 1
        try:
            yield
        except psycopg.Error as error:
            self.note(error)
            raise
        finally:
            self.statements -= 1

    def note(self, error: Exception) -> None:
        """Take note of an error of the server."""
        if getattr(error, "sqlstate", None) in WRITE_ERRORS:
            self.writing.rejected = True


class PostgresConnection:
    """A `DatabaseConnection` of PostgreSQL, in autocommit mode."""

    pid = 0
    """Of the process that serves it; 0 while that is unknown."""

    _session: ServerSession | None = None
    """Its session on the server; None while that is unknown, and behind a pooler."""

    expires = inf
    """When it is too old to be lent again, on trio's clock (seconds)."""

    rests_since = -inf
    """When it was used last, on trio's clock (seconds)."""

    _sent_at: float | None = None
    """When its unanswered statement was sent, by `perf_counter`."""

    def __init__(self, raw: TrioConnection, work: Work) -> None:
        self.raw = raw
        self._work = work
        self._cursors = count()
        self._spare: StatementCursor | None = None
        self._encoding = raw.info.encoding
        self._poll = select.poll()
        self._poll.register(raw.pgconn.socket, select.POLLIN | select.POLLRDHUP)

    def take_session(self, pid: int, began: float) -> None:
        """Store the identity of its session."""
        self.pid = pid
        if self.raw.info.backend_pid == pid:  # else it is a pooler's, and others' soon
            self._session = ServerSession(pid, began)

    @property
    def state(self) -> State:
        """The transaction status according to libpq."""
        return _STATES.get(self.raw.pgconn.transaction_status, "gone")

    def came(self) -> int:
        """Return the events of its socket, from `select.poll`."""
        found = self._poll.poll(0)
        return found[0][1] if found else 0

    def owes(self, seconds: float) -> float | None:
        """Return when the statement was sent that has been silent for ``seconds``, or None."""
        sent_at = self._sent_at
        if (
            sent_at is None
            or perf_counter() - max(sent_at, self.raw.heard) < seconds
            or self.came()
        ):
            return None
        return sent_at

    async def run(self, sql: str, args: Sequence[Any] = ()) -> Result:
        """Run one statement."""
        try:
            return await self._run(sql, args)
        except psycopg.errors.InvalidSqlStatementName:
            # A pooler, or 'discard all', dropped the prepared statement. It has not run, but
            # earlier work of the transaction is lost.
            self.raw.forget_prepared()
            if self.state != "idle":
                raise
            return await self._run(sql, args)

    async def _run(self, sql: str, args: Sequence[Any]) -> Result:
        cursor, self._spare = self._spare or StatementCursor(self.raw), None
        self._work.statements += 1
        self._sent_at = perf_counter()
        try:
            await cursor.execute(sql, [*map(_adapted, args)] or None)
        except (psycopg.DataError, UnicodeEncodeError) as error:
            raise _argument_error([args], error) or error from error
        except psycopg.Error as error:
            self._work.note(error)
            raise
        finally:
            self._sent_at = None
            self._work.statements -= 1
        result = cursor.pgresult
        if result is None or not result.nfields:
            found = Result((), (), max(cursor.rowcount, 0))
        else:
            # Not `description`, whose objects are much more expensive.
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
            with self._counted():
                await cursor.executemany(sql, [[*map(_adapted, row)] for row in rows])
        except (psycopg.DataError, UnicodeEncodeError) as error:
            raise _argument_error(rows, error) or error from error
        return int(max(cursor.rowcount, 0))

    async def run_script(self, text: str) -> None:
        """Run several statements."""
        with self._counted():
            await self.raw.execute(text, prepare=False)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self._sent_at = perf_counter()
        try:
            with self._work.counted():
                yield
        finally:
            self._sent_at = None

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
        """Close it at once, and end its transaction on the server, which may not notice."""
        if self._session is not None and self.state != "idle":
            self._work.orphans.add(self._session)
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


def _argument_error(rows: Sequence[Sequence[Any]], error: Exception) -> ArgumentInvalid | None:
    """Return an error that names the argument, for a data error of psycopg or the server."""
    if isinstance(error, psycopg.errors.NumericValueOutOfRange):
        return find_invalid_argument(rows, ABOVE_32)
    return find_invalid_argument(rows, NUL, HALF_A_PAIR)


def is_alive(connection: PostgresConnection) -> bool:
    """Check without a round trip: a stopped server has closed the socket."""
    if trio.current_time() > connection.expires:
        return False
    pgconn = connection.raw.pgconn
    if pgconn.status != ConnStatus.OK:
        return False
    found = connection.came()
    if found & ~select.POLLIN:
        return False
    if found:  # a notice, or the final message of a server that stops
        try:
            pgconn.consume_input()
        except psycopg.OperationalError:
            return False
    return bool(pgconn.status == ConnStatus.OK)
