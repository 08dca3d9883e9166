"""Queries, streams and transactions of one database, for loaders, actions and jobs.

A context variable holds the current transaction, so code below an action needs no argument.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import trio

from fxtrio.db.engine import Cursor, Engine, EngineSql, PoolStatistics, Result
from fxtrio.db.errors import CommitUnknown, DatabaseBusy, TransactionConflict
from fxtrio.db.retrying import Conflicts, TransactionBlock, check_isolation
from fxtrio.db.rows import Stream, row_maker
from fxtrio.db.transaction import Transaction, check_inside, log_long, log_slow, opening_place
from fxtrio.isolation import Isolation
from fxtrio.spans import span

if TYPE_CHECKING:
    from fxtrio.db.postgresql.copy import Copy  # needs psycopg, which is an extra

Row = TypeVar("Row")

log = logging.getLogger("fx.db")

_current: ContextVar[Transaction | None] = ContextVar("fx-db", default=None)


class Database:
    """The database of an app. Created by `open_database`; valid until its block ends.

    ``$1``, ``$2`` … in a statement are placeholders for its arguments, on every engine. The
    engine's errors about a statement (``sqlite3.Error``, ``psycopg.Error``) propagate.
    Outside of a transaction each statement is its own transaction, and the connection is
    released at once. Raises DatabaseBusy when too many tasks wait for a connection.
    """

    def __init__(self, engine: Engine, *, log_after: float = inf, slow: float = inf) -> None:
        self._engine = engine
        self._slow = slow
        """A statement that takes longer is logged, without its values (seconds)."""

        self._retries = trio.Lock()
        self._log_after = log_after
        """A transaction that lasts longer is named in the log (seconds)."""

    @property
    def dialect(self) -> Literal["sqlite", "postgresql"]:
        """Which SQL it speaks."""
        return self._engine.name

    @property
    def sql(self) -> EngineSql:
        """What the framework's own statements need to know of that SQL."""
        return self._engine.sql

    @property
    def probe(self) -> str:
        """A query that costs next to nothing, and fails when the database cannot be read."""
        return self._engine.probe

    @property
    def under_way(self) -> int:
        """How many statements a server works at (count)."""
        return self._engine.under_way

    @property
    def most_connections(self) -> int | None:
        """How many connections to a server it may open in this process; None where none counts."""
        return self._engine.most_connections

    def statistics(self) -> dict[str, PoolStatistics]:
        """Return those of its pools: ``read`` and ``write`` of SQLite, ``all`` of PostgreSQL."""
        return self._engine.statistics()

    @property
    def alone(self) -> bool:
        """Whether no other process can see it: it is in memory."""
        return self._engine.alone

    async def listen(self, channel: str, call: Callable[[], None]) -> None:
        """Call ``call`` whenever another process may have written, until cancelled.

        Raises the engine's error when the connection is lost.
        """
        await self._engine.listen(channel, call)

    def is_away(self, error: BaseException) -> bool:
        """Whether an error means that the database is unreachable, or the connection was lost."""
        return isinstance(error, CommitUnknown) or self._engine.is_away(error)

    def cannot_work(self, error: BaseException) -> bool:
        """Whether an error means that the database currently cannot read or write.

        It is unreachable, full, locked, read-only or damaged; the statement is not the cause.
        """
        return isinstance(error, DatabaseBusy | CommitUnknown) or self._engine.cannot_work(error)

    def is_unavailable(self, error: BaseException) -> bool:
        """Whether any other statement would have failed as well.

        The database is unreachable, busy, full or read-only: the client may retry later.
        """
        return isinstance(error, DatabaseBusy | CommitUnknown) or self._engine.is_unavailable(error)

    def reserve(self) -> Database:
        """Return the same database with a place that the application cannot take.

        For housekeeping: its statements wait behind no request, and its transactions are its
        own. Valid as long as this one.
        """
        return Database(self._engine.reserve())

    def is_conflict(self, error: BaseException) -> bool:
        """Whether a transaction conflicted with others, and may commit when it is retried."""
        return isinstance(error, TransactionConflict) or self._engine.is_conflict(error)

    async def can_write(self) -> bool:
        """Whether it accepts writes: its disk is not full, and it is not read-only.

        Free until a write was rejected. Raises the engine's errors.
        """
        return await self._engine.can_write()

    async def watch(self) -> None:
        """Look after its connections until cancelled."""
        await self._engine.watch()

    async def notify(self, channel: str) -> None:
        """Notify the listeners in other processes."""
        await self._engine.notify(channel)

    async def all(self, row: type[Row], sql: str, *args: Any) -> list[Row]:
        """Return all rows: dicts, or objects of attrs, a dataclass or a pydantic model.

        Columns go to the attributes of their names. Raises RowMismatch when one is missing.
        """
        result = await self._run(sql, args)
        make = row_maker(row, result.names)
        return [make(values) for values in result.rows]

    async def one(self, row: type[Row], sql: str, *args: Any) -> Row | None:
        """Return the first row like `all`, or None."""
        result = await self._run(sql, args)
        if not result.rows:
            return None
        found: Row = row_maker(row, result.names)(result.rows[0])
        return found

    async def value(self, sql: str, *args: Any) -> Any:
        """Return the first column of the first row, or None."""
        result = await self._run(sql, args)
        return result.rows[0][0] if result.rows else None

    async def execute(self, sql: str, *args: Any) -> int:
        """Run a statement and return how many rows it changed."""
        return (await self._run(sql, args)).count

    async def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run a statement for each of ``rows``, all or none; return how many it changed."""
        listed = list(rows)
        transaction = self._current()
        if transaction is not None:
            with span("query", sql) as seen:
                count = await transaction.run_many(sql, listed)
                if seen is not None:
                    seen.values["rows"] = count
                return count
        async with self.transaction():
            return await self.executemany(sql, listed)

    async def run_script(self, text: str) -> None:
        """Run several statements without arguments, in the transaction around."""
        transaction = self._current()
        if transaction is not None:
            with span("query", text):
                await transaction.run_script(text)
            return
        async with self.transaction():
            await self.run_script(text)

    @asynccontextmanager
    async def stream(self, row: type[Row], sql: str, *args: Any) -> AsyncIterator[Stream[Row]]:
        """Stream the rows of a query, with some hundred in memory at a time.

        The block holds a connection. Iterate over its value with ``async for``; leaving the
        block early discards the remaining rows.
        """
        with span("query", sql):
            async with self._stream(row, sql, args) as stream:
                yield stream

    @asynccontextmanager
    async def _stream(
        self, row: type[Row], sql: str, args: Sequence[Any]
    ) -> AsyncIterator[Stream[Row]]:
        transaction = self._current()
        if transaction is not None:
            async with transaction.stream(sql, args) as cursor:
                yield Stream(cursor, row_maker(row, cursor.names))
        elif not self._engine.cursors_need_transactions:
            async with self._reading(sql, args) as found:
                yield Stream(found, row_maker(row, found.names))
        else:
            own = Transaction(self._engine)
            try:
                async with own.stream(sql, args) as cursor:
                    yield Stream(cursor, row_maker(row, cursor.names))
            except BaseException as error:
                await own.end(error)
                raise
            await own.end(None)

    @asynccontextmanager
    async def _reading(self, sql: str, args: Sequence[Any]) -> AsyncIterator[Cursor]:
        connection = await self._engine.acquire(sql)
        try:
            cursor = await connection.open_cursor(sql, args)
            if not cursor.detached:
                try:
                    yield cursor
                finally:
                    await cursor.close()
        finally:
            self._engine.release(connection)
        if cursor.detached:  # the block may last long, and keeps nobody else from the connection
            yield cursor

    @asynccontextmanager
    async def copy(self, sql: str) -> AsyncIterator[Copy]:
        """Run a COPY of PostgreSQL: ``copy … from stdin``, or ``copy … to stdout``.

        The block holds a connection. The data is committed as a whole when the block ends, or
        with the enclosing transaction; nothing is committed if the block raises or is cancelled.
        Raises CopyUnsupported on other engines, and CopyOpen if the block runs another
        statement in the same transaction.
        """
        with span("query", sql):
            async with self._copy(sql) as copy:
                yield copy

    @asynccontextmanager
    async def _copy(self, sql: str) -> AsyncIterator[Copy]:
        transaction = self._current()
        if transaction is not None:
            async with transaction.copy(sql) as copy:
                yield copy
            return
        own = Transaction(self._engine)
        try:
            async with own.copy(sql, whole=False) as copy:
                yield copy
        except BaseException as error:
            await own.end(error)
            raise
        await own.end(copy.left)

    def transaction(
        self, *, isolation: Isolation | None = None, retry: int = 0
    ) -> TransactionBlock:
        """Commit all that the block does, or nothing if it raises or is cancelled.

        A nested one is a savepoint. The transaction begins, and takes a connection, with the
        first statement. COMMIT and ROLLBACK are never interrupted. Raises TransactionAborted
        if the block caught an error after which the database cannot commit, and
        CommitUnknown if the connection is lost during COMMIT.

        ``isolation`` is PostgreSQL's isolation level; SQLite is always serializable. With
        ``retry`` it is a loop, ``async for attempt in db.transaction(retry=5):``, whose
        ``async with attempt:`` is retried after a conflict, at most that often: then
        TransactionConflict is raised. A nested one runs once. Raises ValueError for an
        unknown level.
        """
        check_isolation(isolation)
        return TransactionBlock(partial(self._transaction, isolation), retry, self._retries)

    @asynccontextmanager
    async def _transaction(
        self, isolation: Isolation | None, conflicts: Conflicts
    ) -> AsyncIterator[None]:
        outer = self._current()
        if outer is not None:
            check_inside(outer, isolation)
            async with outer.savepoint():
                yield
            return
        transaction = Transaction(self._engine, isolation=isolation, conflicts=conflicts)
        token = _current.set(transaction)
        place = opening_place() if self._log_after < inf else ""
        try:
            yield
        except BaseException as error:
            transaction.open = False
            await transaction.end(error)
            raise
        else:
            transaction.open = False
            await transaction.end(None)
        finally:
            _current.reset(token)
            if place:
                log_long(transaction, place, self._log_after)
        transaction.call_waiting()

    def after_commit(self, func: Callable[..., object], *args: Any) -> None:
        """Call ``func(*args)`` after the current transaction commits; at once without one.

        Its exceptions after a commit are logged. Raises TypeError for an async function: pass
        that to `enqueue`.
        """
        if inspect.iscoroutinefunction(func):
            raise TypeError(
                f"db.after_commit: {func.__qualname__} is async. Write "
                f"db.after_commit(enqueue, {func.__name__}, …), with enqueue of fx.tasks."
            )
        transaction = self._current()
        if transaction is None:
            func(*args)
        else:
            transaction.after.append((func, args))

    @property
    def in_transaction(self) -> bool:
        """Whether the running code is in a transaction."""
        return self._current() is not None

    @property
    def has_ended_transaction(self) -> bool:
        """Whether a statement ended the current transaction, as a COMMIT in a script does.

        Always False on an engine that may end a transaction itself after an error.
        """
        transaction = self._current()
        return (
            transaction is not None and not self._engine.ends_transactions and transaction.has_ended
        )

    def _current(self) -> Transaction | None:
        transaction = _current.get()
        if transaction is None or not transaction.open or transaction.engine is not self._engine:
            return None
        return transaction

    async def _run(self, sql: str, args: Sequence[Any]) -> Result:
        with span("query", sql) as seen:
            transaction = self._current()
            began = trio.current_time() if self._slow < inf else inf
            if transaction is not None:
                result = await transaction.run(sql, args)
            else:
                result = await self._run_alone(sql, args)
            if trio.current_time() - began > self._slow:
                log_slow(sql, trio.current_time() - began, max(result.count, len(result.rows)))
            if seen is not None:
                seen.values["rows"] = max(result.count, len(result.rows))
            return result

    async def _run_alone(self, sql: str, args: Sequence[Any]) -> Result:
        engine = self._engine
        connection = await engine.acquire(sql)
        try:
            return await connection.run(sql, args)
        finally:
            engine.release(connection)


def limited(database: Database, seconds: float) -> Database:
    """Return the same database, where no statement takes longer than ``seconds``.

    The wait for a connection counts, and `notify` is a statement. One that takes longer is
    cancelled, on the server as well, and raises trio.TooSlowError.
    """
    return _LimitedDatabase(database._engine, seconds)


class _LimitedDatabase(Database):
    def __init__(self, engine: Engine, seconds: float) -> None:
        super().__init__(engine)
        self._seconds = seconds

    async def notify(self, channel: str) -> None:
        with trio.fail_after(self._seconds):
            await super().notify(channel)

    async def _run(self, sql: str, args: Sequence[Any]) -> Result:
        with trio.fail_after(self._seconds):
            return await super()._run(sql, args)
