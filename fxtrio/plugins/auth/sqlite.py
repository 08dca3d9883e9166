"""Users and sessions in a SQLite file: one connection, in one thread at a time."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import trio

from fxtrio.errors import AuthDatabaseUnusable
from fxtrio.plugins.auth.models import Account, Session, User
from fxtrio.plugins.auth.storage import StorageStatistics
from fxtrio.plugins.auth.throttle import Marks

VERSION = 1
PATIENCE = 5.0
"""How long a write waits for another process (seconds)."""

Answer = TypeVar("Answer")


class SqliteStorage:
    """An `AuthStorage`. Made by `open_sqlite`; valid until its block ends.

    Callers take turns: those that wait are as many as there are requests under way.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._turn = trio.CapacityLimiter(1)
        self._queries = 0

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

    async def add_session(self, session: Session, *, replaces: bytes | None, most: int) -> None:
        """Keep a session; end the one it replaces, those that are over, and the oldest."""
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
            db.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)", row)
            db.execute(
                "DELETE FROM sessions WHERE user_id = ?1 AND key NOT IN (SELECT key FROM sessions"
                " WHERE user_id = ?1 ORDER BY created_at DESC, key = ?3 DESC LIMIT ?2)",
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

    async def extend_session(self, key: bytes, expires_at: float) -> None:
        """Move the end of a session, if it still exists."""
        change = "UPDATE sessions SET expires_at = min(?, ends_at) WHERE key = ?"
        await self._write(lambda db: db.execute(change, (expires_at, key)))

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

    async def _read_one(self, query: str, values: Sequence[object]) -> tuple[Any, ...] | None:
        def read() -> tuple[Any, ...] | None:
            row: tuple[Any, ...] | None = self._connection.execute(query, values).fetchone()
            return row

        return await self._in_turn(read)

    async def _write(self, work: Callable[[sqlite3.Connection], Answer]) -> Answer:
        def write() -> Answer:
            with _transaction(self._connection):
                return work(self._connection)

        return await self._in_turn(write)

    async def _in_turn(self, work: Callable[[], Answer]) -> Answer:
        self._queries += 1
        return await trio.to_thread.run_sync(work, limiter=self._turn)


@asynccontextmanager
async def open_sqlite(path: Path) -> AsyncIterator[SqliteStorage]:
    """Keep the database at ``path`` open, made on first use with its folder.

    Only the owner of the process may read it. Raises AuthDatabaseUnusable when it cannot be
    opened, or was written by a newer version.
    """
    try:
        connection = await trio.to_thread.run_sync(_connect, path)
    except (OSError, sqlite3.Error) as error:
        raise AuthDatabaseUnusable(path, str(error)) from error
    try:
        yield SqliteStorage(connection)
    finally:
        connection.close()


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(
        path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")
        with _transaction(connection):
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version > VERSION:
                raise AuthDatabaseUnusable(path, "it was written by a newer version of fxtrio")
            if version == 0:
                for statement in Path(__file__).with_name("schema.sql").read_text().split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {VERSION}")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _user(row: tuple[str, str, float]) -> User:
    user_id, email, created_at = row
    return User(id=user_id, email=email, created_at=created_at)
