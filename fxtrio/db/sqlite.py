"""SQLite: one connection that writes, some that read, each in one worker thread at a time.

Readers see what was committed when they began and wait for no writer. A query whose task
is cancelled is interrupted. A database in memory has one connection, which runs in the event
loop: it waits for no disk, and is exact under every clock.
"""

from __future__ import annotations

import os
import random
import re
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import trio

from fxtrio.db.arguments import ABOVE_64, HALF_A_PAIR, refused
from fxtrio.db.engine import Cursor, DatabaseConnection, Result, State
from fxtrio.db.faults import CopyUnsupported, DatabaseBusy, DatabaseUnusable
from fxtrio.db.pool import Pool
from fxtrio.db.values import to_sqlite

BUSY_TIMEOUT = 5.0
"""How long a statement waits for a writer in another process (seconds)."""

_PAUSE = 0.02  # longest between two tries for a lock, in seconds
_STEPS = 10_000  # of SQLite's machine, some hundred microseconds, between two looks
_LOOK = 0.02  # between two looks whether another process has written, in seconds
_PART = 500  # rows of a stream at a time
_READS = re.compile(r"\s*(?:select|values|explain|with)\b", re.IGNORECASE)
_WRITES = re.compile(r"\b(?:insert|update|delete|replace)\b", re.IGNORECASE)

Answer = TypeVar("Answer")


@asynccontextmanager
async def open_sqlite(path: Path | None, *, size: int, waiters: int) -> AsyncIterator[Sqlite]:
    """Keep the database at ``path`` open; None is one in memory, gone after the block.

    The file and its folder are made on first use, for their owner alone. ``size`` counts
    the connections that read. Raises DatabaseUnusable.
    """
    engine = Sqlite(path, size=size, waiters=waiters)
    engine.release(await engine.acquire(reads=False))  # it is tried at once
    try:
        yield engine
    finally:
        engine.close()


class Sqlite:
    """An `Engine`. Made by `open_sqlite`; valid until its block ends."""

    name: Literal["sqlite"] = "sqlite"
    under_way = 0  # in threads, which are counted as such
    begin = "begin immediate"  # a lock that is asked for later may be refused for good

    def __init__(self, path: Path | None, *, size: int, waiters: int) -> None:
        self._path = path
        # Its own: slow queries do not take the threads of the application.
        self._threads = trio.CapacityLimiter(size + 1)
        self._writer = Pool(self._open_writer, size=1, waiters=waiters)
        self._readers = Pool(self._open_reader, size=size, waiters=waiters)

    async def acquire(self, *, reads: bool) -> SqliteConnection:
        """Wait for a turn to write, or for a connection that reads."""
        pool = self._readers if reads and self._path is not None else self._writer
        connection = await pool.acquire()
        connection.pool = pool
        return connection

    def release(self, connection: DatabaseConnection) -> None:
        """Take a connection back; a transaction that somebody left open is undone."""
        assert isinstance(connection, SqliteConnection)
        connection.undo()
        assert connection.pool is not None
        connection.pool.release(connection)

    @property
    def alone(self) -> bool:
        """Whether it is in memory."""
        return self._path is None

    async def listen(self, channel: str, call: Callable[[], None]) -> None:
        """Look at a number that SQLite changes with every write of another connection."""
        if self.alone:
            await trio.sleep_forever()
        connection = await self._open_reader()
        try:
            known: int | None = 0
            while True:
                found = connection.data_version()
                if found not in (known, None):
                    known = found
                    call()
                await trio.sleep(_LOOK)
        finally:
            connection.finish()

    def is_away(self, error: BaseException) -> bool:
        """Never: a file is there, or it is broken."""
        return False

    def cannot_work(self, error: BaseException) -> bool:
        """Tell a full disk, a lock or damage; the other classes are mistakes of who asks."""
        return isinstance(error, sqlite3.OperationalError) or type(error) is sqlite3.DatabaseError

    async def notify(self, channel: str) -> None:
        """Do nothing: those who listen look by themselves."""
        await trio.lowlevel.checkpoint()

    def close(self) -> None:
        """Close what is open."""
        self._readers.close()
        self._writer.close()

    async def _open_writer(self) -> SqliteConnection:
        return await self._open(reads=False)

    async def _open_reader(self) -> SqliteConnection:
        return await self._open(reads=True)

    async def _open(self, *, reads: bool) -> SqliteConnection:
        path = self._path
        if path is None:
            return SqliteConnection(_configured(":memory:", reads=False), None)
        try:
            raw = await trio.to_thread.run_sync(_open_file, path, reads, limiter=self._threads)
        except (OSError, sqlite3.Error) as error:
            raise DatabaseUnusable(str(path), str(error)) from error
        raw.set_progress_handler(_is_cancelled, _STEPS)
        return SqliteConnection(raw, self._threads)


class SqliteConnection:
    """A `DatabaseConnection` of SQLite."""

    pool: Pool[SqliteConnection] | None = None
    """Which it goes back to; set while it is lent."""

    def __init__(self, raw: sqlite3.Connection, threads: trio.CapacityLimiter | None) -> None:
        self._raw = raw
        self._threads = threads

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
            return await self._patiently(work)
        except (OverflowError, UnicodeEncodeError) as error:
            raise refused([args], ABOVE_64, HALF_A_PAIR) or error from error

    async def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> int:
        """Run one statement for each of ``rows``."""
        values = [_named(row) for row in rows]
        try:
            return await self._patiently(
                lambda: max(self._raw.executemany(sql, values).rowcount, 0)
            )
        except (OverflowError, UnicodeEncodeError) as error:
            raise refused(rows, ABOVE_64, HALF_A_PAIR) or error from error

    async def run_script(self, text: str) -> None:
        """Run the statements of ``text`` one by one, within the transaction that is open."""
        for statement in statements(text):
            await self.run(statement)

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
            raise refused([args], ABOVE_64, HALF_A_PAIR) or error from error
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
        """Roll back what was begun by hand and never ended."""
        if self._raw.in_transaction:
            self._raw.rollback()

    async def _patiently(self, work: Callable[[], Answer]) -> Answer:
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


@lru_cache(maxsize=1000)  # which is cheaper than another look at a long statement
def reads_only(sql: str) -> bool:
    """Tell whether a statement certainly changes nothing."""
    return _READS.match(sql) is not None and _WRITES.search(sql) is None


def statements(text: str) -> list[str]:
    """Return the statements of a script, each with its semicolon and the comments before it."""
    found: list[str] = []
    begun = ""
    for part in re.split(r"(?<=;)", text):
        begun += part
        if sqlite3.complete_statement(begun):
            found.append(begun)
            begun = ""
    without_comments = re.sub(r"--[^\n]*|/\*.*?\*/", "", begun, flags=re.DOTALL)
    return [*found, begun] if without_comments.strip() else found


def _named(args: Sequence[Any]) -> dict[str, Any]:
    """Return arguments as SQLite takes them: ``$1`` is a parameter of the name "1"."""
    return {str(number): to_sqlite(value) for number, value in enumerate(args, 1)}


def _is_cancelled() -> bool:
    """Tell SQLite, in its worker thread, to give up: whoever asked is cancelled."""
    try:
        trio.from_thread.check_cancelled()
    except trio.Cancelled:
        return True
    except RuntimeError:  # not in a thread of trio's: it is being closed
        return False
    return False


def _open_file(path: Path, reads: bool) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Only a file that is not there yet: a process that closes any descriptor of a file loses
    # its locks (POSIX), and another one would remove the log under connections that use it.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    return _configured(str(path), reads=reads)


def _configured(name: str, *, reads: bool) -> sqlite3.Connection:
    # The time is for the change to WAL; later, tasks wait and not threads.
    raw = sqlite3.connect(name, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
    try:
        raw.execute("pragma journal_mode = wal")
        raw.execute("pragma synchronous = normal")
        raw.execute("pragma foreign_keys = on")
        raw.execute(f"pragma query_only = {'on' if reads else 'off'}")
        raw.execute("pragma busy_timeout = 0")
    except BaseException:
        raw.close()
        raise
    return raw
