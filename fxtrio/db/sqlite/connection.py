"""One connection to SQLite, as the engine lends it."""

from __future__ import annotations

import json
import random
import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any, TypeVar
from uuid import UUID

import trio

from fxtrio.db.argument_errors import ABOVE_64, HALF_A_PAIR, find_invalid_argument
from fxtrio.db.engine import Cursor, Result, State
from fxtrio.db.errors import CopyUnsupported, DatabaseBusy
from fxtrio.db.pool import Pool
from fxtrio.db.writing import Writing

BUSY_TIMEOUT = 5.0
"""How long a statement waits for a writer in another process (seconds)."""

_PAUSE = 0.02  # longest between two tries for a lock, in seconds
_PART = 500  # rows of a stream at a time
_WRITE_ERRORS = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY})

Outcome = TypeVar("Outcome")


_PLAIN = frozenset({str, int, float, bytes, bool, type(None)})

_CONVERSIONS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    ((datetime, date, time), lambda value: value.isoformat()),
    ((UUID, Decimal), str),
    ((list, tuple, dict), lambda value: json.dumps(value, separators=(",", ":"))),
)


class SqliteConnection:
    """A `DatabaseConnection` of SQLite."""

    pool: Pool[SqliteConnection] | None = None
    """The pool to return it to; set while it is lent."""

    def __init__(
        self,
        raw: sqlite3.Connection,
        threads: trio.CapacityLimiter | None,
        check_file: Callable[[], None] | None = None,
        writing: Writing | None = None,
    ) -> None:
        self._raw = raw
        self._threads = threads
        self._check_file = check_file
        """Raises DatabaseReplaced if a commit went to a file that was replaced."""

        self._writing = writing or Writing()

    @property
    def state(self) -> State:
        """SQLite has no transactions that failed: it has taken them back already."""
        return "open" if self._raw.in_transaction else "idle"

    async def run(self, sql: str, args: Sequence[Any] = ()) -> Result:
        """Run one statement; wait for a writer of another process, `BUSY_TIMEOUT` at most."""
        values = _named(args)

        def work() -> Result:
            cursor = self._raw.execute(sql, values)
            rows = cursor.fetchall()
            names = tuple(column[0] for column in cursor.description or ())
            return Result(names, rows, len(rows) if names else max(cursor.rowcount, 0))

        try:
            result = await self._patiently(work)
        except (OverflowError, UnicodeEncodeError) as error:
            raise find_invalid_argument([args], ABOVE_64, HALF_A_PAIR) or error from error
        if self._check_file is not None and not self._raw.in_transaction:
            self._check_file()
        return result

    async def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> int:
        """Run one statement for each of ``rows``."""
        values = [_named(row) for row in rows]
        try:
            return await self._patiently(
                lambda: max(self._raw.executemany(sql, values).rowcount, 0)
            )
        except (OverflowError, UnicodeEncodeError) as error:
            raise find_invalid_argument(rows, ABOVE_64, HALF_A_PAIR) or error from error

    async def run_script(self, text: str) -> None:
        """Run the statements of ``text`` one by one, within the transaction that is open."""
        parts = statements(text)
        if not self._raw.in_transaction:  # a statement that waits for a writer is run again
            for statement in parts:
                await self.run(statement)
            return

        def work() -> None:
            for statement in parts:
                self._raw.execute(statement).fetchall()

        await self._patiently(work)

    def copy(self, sql: str, *, whole: bool) -> AbstractAsyncContextManager[Any]:
        """Raise CopyUnsupported."""
        raise CopyUnsupported(sql)

    async def open_cursor(self, sql: str, args: Sequence[Any]) -> Cursor:
        """Run a query whose rows are fetched in parts.

        In memory all rows are read at once: the one connection is not held meanwhile.
        """
        if self._threads is None:
            return LoadedRows(await self.run(sql, args))
        values = _named(args)
        try:
            cursor = await self._patiently(lambda: self._raw.execute(sql, values))
        except (OverflowError, UnicodeEncodeError) as error:
            raise find_invalid_argument([args], ABOVE_64, HALF_A_PAIR) or error from error
        return SqliteCursor(cursor, self._patiently)

    def data_version(self) -> int | None:
        """Return a number that changes with every write of another connection.

        Read from shared memory in some microseconds, which is less than a thread would take;
        None while another process has locked that.
        """
        try:
            found: int = self._raw.execute("pragma data_version").fetchone()[0]
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            return None
        return found

    def finish(self) -> None:
        """Close it."""
        self._raw.close()

    def undo(self) -> None:
        """Roll back a transaction that was begun by a statement and left open."""
        if self._raw.in_transaction:
            self._raw.rollback()

    async def _patiently(self, work: Callable[[], Outcome]) -> Outcome:
        deadline = trio.current_time() + BUSY_TIMEOUT
        pause = 0.001
        while True:
            began = self._raw.in_transaction
            try:
                if self._threads is not None:
                    return await trio.to_thread.run_sync(work, limiter=self._threads)
                await trio.lowlevel.checkpoint()
                return work()
            except sqlite3.OperationalError as error:
                code = error.sqlite_errorcode & 0xFF
                if code in _WRITE_ERRORS:
                    self._writing.rejected = True
                if code == sqlite3.SQLITE_INTERRUPT:
                    await trio.lowlevel.checkpoint_if_cancelled()
                if code != sqlite3.SQLITE_BUSY or began:
                    raise
                if trio.current_time() >= deadline:
                    raise DatabaseBusy(f"another process writes for {BUSY_TIMEOUT:g} s") from error
            await trio.sleep(random.uniform(0.5, 1) * pause)
            pause = min(2 * pause, _PAUSE)


class SqliteCursor:
    """A `Cursor` of SQLite."""

    detached = False

    def __init__(self, raw: sqlite3.Cursor, run: Callable[[Callable[[], Any]], Any]) -> None:
        self._raw = raw
        self._run = run
        self.names = tuple(column[0] for column in raw.description or ())

    async def fetch(self) -> Sequence[Sequence[Any]]:
        """Return the next rows."""
        rows: list[Sequence[Any]] = await self._run(lambda: self._raw.fetchmany(_PART))
        return rows

    async def close(self) -> None:
        """Forget the rest."""
        self._raw.close()


class LoadedRows:
    """A `Cursor` whose rows have been read."""

    detached = True

    def __init__(self, result: Result) -> None:
        self.names = result.names
        self._rows = result.rows

    async def fetch(self) -> Sequence[Sequence[Any]]:
        """Return all rows, and none the next time."""
        await trio.lowlevel.checkpoint()
        rows, self._rows = self._rows, ()
        return rows

    async def close(self) -> None:
        """Forget the rest."""
        self._rows = ()


def statements(text: str) -> list[str]:
    """Return the statements of a script, each with its semicolon and the comments before it."""
    found: list[str] = []
    begun = ""
    for part in re.split(r"(?<=;)", text):
        begun += part
        if sqlite3.complete_statement(begun):
            found.append(begun)
            begun = ""
    without_comments = re.sub(r"--[^\n]*+|/\*.*?(?:\*/|\Z)", "", begun, flags=re.DOTALL)
    return [*found, begun] if without_comments.strip() else found


def _named(args: Sequence[Any]) -> dict[str, Any]:
    """Return arguments as SQLite takes them: ``$1`` is a parameter of the name "1"."""
    return {str(number): to_sqlite(value) for number, value in enumerate(args, 1)}


def to_sqlite(value: Any) -> Any:
    """Return a value as SQLite stores it.

    Dates and times are text in ISO 8601, UUID and Decimal are text, lists and dicts are
    JSON, a member of an Enum is its value. Other values are passed to SQLite, which may reject
    them.
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Enum):
        return to_sqlite(value.value)
    for kind, convert in _CONVERSIONS:
        if isinstance(value, kind):
            return convert(value)
    return value
