"""SQLite: one connection that writes, some that read, each in one worker thread at a time.

Readers see a snapshot of committed data and never wait for a writer. Cancelling a task
interrupts its query. A database in memory has one connection, which runs in the event
loop: it does not wait for a disk, and is deterministic under a test clock.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import Literal

import attrs
import trio

from fxtrio.db.engine import DatabaseConnection, EngineSql, PoolStatistics
from fxtrio.db.errors import DatabaseReplaced, DatabaseUnusable
from fxtrio.db.pool import Pool
from fxtrio.db.sqlite.connection import BUSY_TIMEOUT, SqliteConnection, statements
from fxtrio.db.writing import ROOM, Writing, try_folder

_FILE = 1.0  # between two looks whether the file is the same, in seconds
_STEPS = 10_000  # of SQLite's machine, some hundred microseconds, between two looks
_LOOK = 0.02  # between two looks whether another process has written, in seconds
_READS = re.compile(r"\s*(?:select|values|explain|with)\b", re.IGNORECASE)
_WRITES = re.compile(r"\b(?:insert|update|delete|replace)\b", re.IGNORECASE)

_UNAVAILABLE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
    }
)


log = logging.getLogger("fx.db")


@asynccontextmanager
async def open_sqlite(path: Path | None, *, size: int, waiters: int) -> AsyncIterator[Sqlite]:
    """Open the database at ``path``; None is one in memory, dropped after the block.

    The file and its folder are created on first use, readable by their owner only. ``size``
    is the number of reading connections. Raises DatabaseUnusable.
    """
    engine = Sqlite(path, size=size, waiters=waiters)
    engine.release(await engine.acquire())  # it is tried at once
    engine.remember_file()
    try:
        yield engine
    finally:
        engine.close()


SQL = EngineSql(
    real="real",
    blob="blob",
    keyed_table=" without rowid",
    has_table="select count(*) from sqlite_master where name = '{table}'",
    position="instr",
    skip_locked="",  # there is one writer in any case
    locks=None,
    statements=statements,
    restore="pragma foreign_keys = on",
)


class Sqlite:
    """An `Engine`. Created by `open_sqlite`; valid until its block ends."""

    name: Literal["sqlite"] = "sqlite"
    sql = SQL
    probe = "select count(*) from sqlite_master"  # which reads the file
    cursors_need_transactions = False
    ends_transactions = True
    under_way = 0  # in threads, which are counted as such
    isolation = "serializable"

    def __init__(self, path: Path | None, *, size: int, waiters: int) -> None:
        self._path = path
        # Its own: slow queries do not take the threads of the application.
        self._threads = trio.CapacityLimiter(size + 1)
        self._writer = Pool(self._open_writer, size=1, waiters=waiters)
        self._readers = Pool(self._open_reader, size=size, waiters=waiters)
        self._first = False
        self._file = None if path is None else SameFile(path)
        self._writing = Writing()

    async def acquire(self, sql: str = "") -> SqliteConnection:
        """Wait for a turn to write, or for a connection that reads. Raises DatabaseReplaced."""
        if self._file is not None:
            self._file.check()
        pool = self._readers if self._path is not None and reads_only(sql) else self._writer
        connection = await pool.acquire(first=self._first)
        connection.pool = pool
        return connection

    def release(self, connection: DatabaseConnection) -> None:
        """Take a connection back; roll back a transaction that was left open."""
        assert isinstance(connection, SqliteConnection)
        connection.undo()
        assert connection.pool is not None
        connection.pool.release(connection)

    def statistics(self) -> dict[str, PoolStatistics]:
        """Return those of the connections that read, and of the one that writes."""
        return {"read": self._readers.statistics(), "write": self._writer.statistics()}

    @property
    def most_connections(self) -> int | None:
        """No server counts them."""
        return None

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

    def begin(self, isolation: str | None) -> str:
        """Return the statement that begins a transaction: one that locks for writing."""
        return "begin immediate"  # upgrading to a write lock later may fail for good

    def is_conflict(self, error: BaseException) -> bool:
        """Never: writers wait for their turn."""
        return False

    def is_away(self, error: BaseException) -> bool:
        """Never: a file is there, or it is broken."""
        return False

    def cannot_work(self, error: BaseException) -> bool:
        """Recognize a full disk, a lock or damage; other classes are errors of the caller."""
        return isinstance(error, sqlite3.OperationalError) or type(error) is sqlite3.DatabaseError

    def is_unavailable(self, error: BaseException) -> bool:
        """Recognize a full disk or a lock by SQLite's code; others are errors of the caller."""
        code = getattr(error, "sqlite_errorcode", None)
        return code is not None and code & 0xFF in _UNAVAILABLE

    def reserve(self) -> Sqlite:
        """Return the engine itself.

        Only one connection can write at a time: a second one of this process would only
        compete with the first for the lock of the file, without a queue.
        """
        reserved = copy(self)
        reserved._first = True
        return reserved

    def remember_file(self) -> None:
        """Take note of the file that has been opened."""
        if self._file is not None:
            self._file.remember()

    async def can_write(self) -> bool:
        """Test after a rejected write whether the file can grow and a file beside it be created.

        A write inside the file reaches no disk, so growth itself is tested.
        """
        if not self._writing.rejected:
            await trio.lowlevel.checkpoint()
            return True
        try:
            connection = await self.acquire()
            try:
                await connection.run("begin immediate")
                await connection.run("create table fx_trial (filler blob)")
                await connection.run(f"insert into fx_trial values (zeroblob({ROOM}))")
            finally:
                self.release(connection)  # which undoes it
            if self._path is not None:
                folder = self._path.parent
                await trio.to_thread.run_sync(try_folder, folder, limiter=self._threads)
        except (OSError, DatabaseUnusable):
            return False
        except sqlite3.OperationalError as error:
            if self.is_unavailable(error):
                return False
            raise
        self._writing.rejected = False
        return True

    async def watch(self) -> None:
        """Log when the file is replaced, also while no statement runs."""
        if self._file is None or hasattr(trio.lowlevel.current_clock(), "jump"):
            return
        with suppress(DatabaseReplaced):
            while True:
                self._file.check()
                await trio.sleep(_FILE)

    async def notify(self, channel: str) -> None:
        """Do nothing: listeners poll."""
        await trio.lowlevel.checkpoint()

    def close(self) -> None:
        """Close all connections."""
        self._readers.close()
        self._writer.close()

    async def _open_writer(self) -> SqliteConnection:
        return await self._open(reads=False)

    async def _open_reader(self) -> SqliteConnection:
        return await self._open(reads=True)

    async def _open(self, *, reads: bool) -> SqliteConnection:
        path = self._path
        if path is None:
            raw = _configured(":memory:", reads=False)
            return SqliteConnection(raw, None, writing=self._writing)
        try:
            raw = await trio.to_thread.run_sync(_open_file, path, reads, limiter=self._threads)
        except (OSError, sqlite3.Error) as error:
            raise DatabaseUnusable(str(path), str(error)) from error
        raw.set_progress_handler(_is_cancelled, _STEPS)
        check_file = None if reads or self._file is None else self._file.check
        return SqliteConnection(raw, self._threads, check_file, self._writing)


@lru_cache(maxsize=1000)  # which is cheaper than another look at a long statement
def reads_only(sql: str) -> bool:
    """Whether a statement certainly changes nothing."""
    return _READS.match(sql) is not None and _WRITES.search(sql) is None


def _is_cancelled() -> bool:
    """Tell SQLite, in its worker thread, to stop if the calling task is cancelled."""
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


# Open connections continue to use a file that was replaced, moved or deleted under the server;
# it no longer has the name, so that data written there would be lost without an error.
@attrs.define(eq=False)
class SameFile:
    """Which file a path led to when it was opened."""

    _path: Path
    _opened: tuple[int, int] | None = None
    _logged: bool = False

    def remember(self) -> None:
        """Take the file that is there now for the one that is open."""
        self._opened = _identity(self._path)

    def check(self) -> None:
        """Raise DatabaseReplaced when the path leads elsewhere; the log has it once."""
        if self._opened is None or _identity(self._path) == self._opened:
            return
        error = DatabaseReplaced(str(self._path))
        if not self._logged:
            self._logged = True
            log.critical("%s", error)
        raise error


def _identity(path: Path) -> tuple[int, int]:
    # Without opening it: closing a file releases the process's locks on it (POSIX).
    try:
        found = path.stat()
    except OSError:
        return (-1, -1)
    return found.st_dev, found.st_ino
