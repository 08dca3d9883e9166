"""Users and sessions in a SQLite file: one connection that writes and one that reads.

Each is in one thread at a time, so who reads waits for no writer, of this process or
another. What the file system does not let happen is an AuthStorageUnavailable.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import stat
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import trio

from fxtrio.plugins.auth.failures import AuthDatabaseUnusable, AuthStorageUnavailable
from fxtrio.plugins.auth.models import Account, PendingRegistration, Session, User
from fxtrio.plugins.auth.storage import StorageStatistics
from fxtrio.plugins.auth.throttle import Marks

_SCHEMAS = ("schema.sql", "schema-2.sql")
VERSION = len(_SCHEMAS)
BUSY_TIMEOUT = 5.0
"""How long a write waits for those before it and for other processes, in all (seconds)."""

SILENCE = 60.0
"""Shortest time between two lines in the log about a database that does not work (seconds)."""

_AT_ONCE = 500  # keys in one query: SQLite takes 999 values everywhere

_DAMAGED = sqlite3.DatabaseError

log = logging.getLogger("fx.auth")

Answer = TypeVar("Answer")


class SqliteStorage:
    """An `AuthStorage`. Made by `open_sqlite`; valid until its block ends.

    Callers take turns: those that wait are as many as there are requests under way.
    """

    def __init__(self, writer: sqlite3.Connection, reader: sqlite3.Connection) -> None:
        self._writer = writer
        self._reader = reader
        self._write_turn = trio.CapacityLimiter(1)
        self._read_turn = trio.CapacityLimiter(1)
        self._queries = 0
        self._told_at = -SILENCE

    def statistics(self) -> StorageStatistics:
        """Return what has been done so far."""
        return StorageStatistics(self._queries)

    async def add_user(self, user: User, password_hash: str) -> bool:
        """Keep a new user; False when the email is taken."""
        row = (user.id, user.email, password_hash, user.created_at)

        def add(db: sqlite3.Connection) -> bool:
            return db.execute("INSERT OR IGNORE INTO users VALUES (?, ?, ?, ?)", row).rowcount == 1

        return await self._write(add)

    async def find_account(self, email: str) -> Account | None:
        """Return the account of an email."""
        row = await self._read_one(
            "SELECT id, email, created_at, password_hash FROM users WHERE email = ?", (email,)
        )
        return None if row is None else Account(user=_user(row[:3]), password_hash=row[3])

    async def set_password(self, user_id: str, password_hash: str) -> None:
        """Replace the hash of a user's password."""
        change = "UPDATE users SET password_hash = ? WHERE id = ?"
        await self._write(lambda db: db.execute(change, (password_hash, user_id)))

    async def remove_user(self, user_id: str) -> bool:
        """Forget a user, with all sessions; False when there is none."""
        change = "DELETE FROM users WHERE id = ?"
        return await self._write(lambda db: db.execute(change, (user_id,)).rowcount == 1)

    async def add_session(self, session: Session, *, replaces: bytes | None, most: int) -> None:
        """Keep a session; end the one it replaces, those that are over, and the oldest."""
        longest = (session.expires_at, session.ends_at)
        row = (
            session.key,
            session.user_id,
            session.created_at,
            session.expires_at,
            session.ends_at,
            session.persistent,
        )

        def add(db: sqlite3.Connection) -> None:
            over = "DELETE FROM sessions WHERE expires_at <= ? OR key = ?"
            db.execute(over, (session.created_at, replaces))
            # No session may outlast a new one, unless the clock has gone back since it began.
            db.execute(
                "UPDATE sessions SET expires_at = min(expires_at, ?1), ends_at = min(ends_at, ?2)"
                " WHERE expires_at > ?1",
                longest,
            )
            db.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)", row)
            db.execute(
                "DELETE FROM sessions WHERE user_id = ?1 AND key NOT IN (SELECT key FROM sessions"
                " WHERE user_id = ?1 ORDER BY key = ?3 DESC, created_at DESC LIMIT ?2)",
                (session.user_id, most, session.key),
            )

        await self._write(add)

    async def find_session(self, key: bytes, now: float) -> tuple[Session, User] | None:
        """Return a session that is not over at ``now``, with its user."""
        row = await self._read_one(
            "SELECT users.id, users.email, users.created_at, sessions.created_at, expires_at,"
            " ends_at, persistent FROM sessions JOIN users ON users.id = user_id"
            " WHERE key = ? AND expires_at > ?",
            (key, now),
        )
        if row is None:
            return None
        session = Session(
            key=key,
            user_id=row[0],
            created_at=row[3],
            expires_at=row[4],
            ends_at=row[5],
            persistent=bool(row[6]),
        )
        return session, _user(row[:3])

    async def extend_session(self, key: bytes, expires_at: float, ends_at: float) -> None:
        """Move the end of a session, if it still exists, and its last end forward only."""
        change = (
            "UPDATE sessions SET expires_at = min(?1, ?2, ends_at), ends_at = min(?2, ends_at)"
            " WHERE key = ?3"
        )
        await self._write(lambda db: db.execute(change, (expires_at, ends_at, key)))

    async def living_sessions(self, keys: Sequence[bytes], now: float) -> dict[bytes, float]:
        """Return when those of ``keys`` end that are not over at ``now``."""
        living: dict[bytes, float] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            places = ", ".join("?" * len(some))
            query = (
                f"SELECT key, expires_at FROM sessions WHERE key IN ({places}) AND expires_at > ?"
            )
            living.update(await self._read_all(query, (*some, now)))
        return living

    async def version(self) -> int:
        """Return a number that changes when anybody has written since the last call."""
        ((number,),) = await self._read_all("PRAGMA data_version", ())
        return int(number)

    async def end_session(self, key: bytes) -> None:
        """End one session; no matter if it is over already."""
        await self._write(lambda db: db.execute("DELETE FROM sessions WHERE key = ?", (key,)))

    async def end_sessions(self, user_id: str) -> int:
        """End all sessions of a user; return how many there were."""
        change = "DELETE FROM sessions WHERE user_id = ?"
        return await self._write(lambda db: db.execute(change, (user_id,)).rowcount)

    async def change_marks(
        self,
        keys: Sequence[str],
        change: Callable[[Marks], tuple[Marks, Answer]],
        now: float,
    ) -> Answer:
        """Read the marks of ``keys``, keep those ``change`` returns, and return its answer."""

        def move(db: sqlite3.Connection) -> Answer:
            db.execute("DELETE FROM marks WHERE empty_at <= ?", (now,))
            places = ", ".join("?" * len(keys))
            found = db.execute(f"SELECT key, empty_at FROM marks WHERE key IN ({places})", keys)
            marks, answer = change(dict(found))
            db.executemany("INSERT OR REPLACE INTO marks VALUES (?, ?)", list(marks.items()))
            return answer

        return await self._write(move)

    async def add_pending(self, pending: PendingRegistration, now: float) -> None:
        """Keep a registration."""
        row = (pending.key, pending.email, pending.password_hash, pending.expires_at)

        def add(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM pending WHERE expires_at <= ?", (now,))
            db.execute("INSERT INTO pending VALUES (?, ?, ?, ?)", row)

        await self._write(add)

    async def find_pending(self, key: bytes, now: float) -> PendingRegistration | None:
        """Return a registration that is not over."""
        row = await self._read_one(
            "SELECT email, password_hash, expires_at FROM pending WHERE key = ? AND expires_at > ?",
            (key, now),
        )
        if row is None:
            return None
        return PendingRegistration(key=key, email=row[0], password_hash=row[1], expires_at=row[2])

    async def confirm(self, pending: PendingRegistration, user: User) -> bool:
        """Turn a registration into a user."""
        row = (user.id, user.email, pending.password_hash, user.created_at)

        def add(db: sqlite3.Connection) -> bool:
            kept = db.execute("DELETE FROM pending WHERE key = ?", (pending.key,)).rowcount == 1
            db.execute("DELETE FROM pending WHERE email = ?", (pending.email,))
            add_one = "INSERT OR IGNORE INTO users VALUES (?, ?, ?, ?)"
            return kept and db.execute(add_one, row).rowcount == 1

        return await self._write(add)

    async def _read_one(self, query: str, values: Sequence[object]) -> tuple[Any, ...] | None:
        rows = await self._read_all(query, values)
        return rows[0] if rows else None

    async def _read_all(self, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        def read() -> list[tuple[Any, ...]]:
            return self._reader.execute(query, values).fetchall()

        return await self._in_turn(read, self._read_turn)

    async def _write(self, work: Callable[[sqlite3.Connection], Answer]) -> Answer:
        began = time.monotonic()

        def write() -> Answer:
            left = BUSY_TIMEOUT - (time.monotonic() - began)
            if left <= 0:
                raise AuthStorageUnavailable("others have been writing for too long")
            self._writer.execute(f"PRAGMA busy_timeout = {int(left * 1000)}")
            with _transaction(self._writer):
                return work(self._writer)

        return await self._in_turn(write, self._write_turn)

    async def _in_turn(self, work: Callable[[], Answer], turn: trio.CapacityLimiter) -> Answer:
        self._queries += 1
        try:
            return await trio.to_thread.run_sync(work, limiter=turn)
        except sqlite3.DatabaseError as error:
            # Its other subclasses are mistakes of whoever calls.
            if not isinstance(error, sqlite3.OperationalError) and type(error) is not _DAMAGED:
                raise
            unavailable = AuthStorageUnavailable(str(error))
            self._tell(unavailable)
            raise unavailable from error

    def _tell(self, error: AuthStorageUnavailable) -> None:
        now = time.monotonic()
        if now - self._told_at >= SILENCE:
            self._told_at = now
            log.error("%s", error)


@asynccontextmanager
async def open_sqlite(path: Path) -> AsyncIterator[SqliteStorage]:
    """Keep the database at ``path`` open, made on first use with its folder.

    Only the owner of the process may read it. Raises AuthDatabaseUnusable when it cannot be
    opened, or was written by a newer version.
    """
    try:
        writer, reader = await trio.to_thread.run_sync(_connect, path)
    except (OSError, sqlite3.Error) as error:
        raise AuthDatabaseUnusable(path, str(error)) from error
    try:
        yield SqliteStorage(writer, reader)
    finally:
        reader.close()
        writer.close()


def _connect(path: Path) -> tuple[sqlite3.Connection, sqlite3.Connection]:
    """Return the connection that writes and the one that reads."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    _warn_of_others(path.parent, 0o700)
    _warn_of_others(path, 0o600)  # its companions, -wal and -shm, get the same from SQLite
    writer = _open(path)
    try:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA foreign_keys = ON")
        with _transaction(writer):
            (version,) = writer.execute("PRAGMA user_version").fetchone()
            if version > VERSION:
                raise AuthDatabaseUnusable(path, "it was written by a newer version of fxtrio")
            for schema in _SCHEMAS[version:]:
                for statement in Path(__file__).with_name(schema).read_text().split(";\n"):
                    writer.execute(statement)
            if version < VERSION:
                writer.execute(f"PRAGMA user_version = {VERSION}")
        reader = _open(path)
        reader.execute("PRAGMA query_only = ON")
    except BaseException:
        writer.close()
        raise
    return writer, reader


def _open(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False
    )


def _warn_of_others(path: Path, mode: int) -> None:
    """Tell of a folder or file that was there before us, and that others may look into."""
    found = stat.S_IMODE(path.stat().st_mode)
    if found & 0o077:
        log.warning(
            "%s: users of this machine other than its owner may open it (mode %o). "
            "Run 'chmod %o %s', or set another 'database' in the settings of the auth plugin.",
            path,
            found,
            mode,
            path,
        )


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite itself takes some failures back
            connection.execute("ROLLBACK")
        raise


def _user(row: tuple[str, str, float]) -> User:
    user_id, email, created_at = row
    return User(id=user_id, email=email, created_at=created_at)
