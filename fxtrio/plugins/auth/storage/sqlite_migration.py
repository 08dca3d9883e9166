"""Takes accounts over from the SQLite file in which former versions stored them.

A file that has been taken over is marked, and left as it is otherwise: it is a backup. A
former version refuses to start with it, instead of serving what is out of date.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import trio

from fxtrio.db import Database
from fxtrio.limiters import limiter_of
from fxtrio.plugins.auth.errors import AuthDatabaseUnusable
from fxtrio.plugins.auth.storage.tables import MOVED

_AT_ONCE = 500  # keys in one query
_COLUMNS = {
    "users": ("id", "email", "password_hash", "created_at"),
    "sessions": ("key", "user_id", "created_at", "expires_at", "ends_at", "persistent"),
    "marks": ("key", "empty_at"),
    "pending": ("key", "email", "password_hash", "expires_at"),
}

log = logging.getLogger("fx.auth")

Row = tuple[Any, ...]


@attrs.frozen
class Taken:
    """What has been taken over (counts)."""

    users: int
    sessions: int
    known: int
    """Users whose address had an account already, which stays as it is."""

    def __str__(self) -> str:
        text = f"imported {self.users} accounts and {self.sessions} sessions"
        return f"{text}; {self.known} addresses had an account" if self.known else text


@attrs.frozen
class FormerFile:
    """All that a file holds, by table; in the order of `_COLUMNS`."""

    rows: dict[str, list[Row]]

    async def missing_in(self, database: Database) -> bool:
        """Tell whether there are users whom the app's database does not have."""
        known = await _known(database, self.rows["users"])
        return len(known) < len(self.rows["users"])


async def find_former(path: Path, *, again: bool = False) -> FormerFile | None:
    """Read a file; None when there is none, or it has been taken over and not ``again``.

    Raises AuthDatabaseUnusable for a file that is no such database.
    """
    try:
        return await trio.to_thread.run_sync(_read, path, again, limiter=limiter_of("accounts"))
    except sqlite3.Error as error:
        raise AuthDatabaseUnusable(str(path), str(error)) from error


async def mark_moved(path: Path) -> None:
    """Let nobody take a file for the place of accounts any more."""
    await trio.to_thread.run_sync(_mark, path, limiter=limiter_of("accounts"))


async def take_over(database: Database, former: FormerFile) -> Taken:
    """Put what ``former`` holds into the app's database, in the transaction around.

    What is there already stays. Sessions go with their users.
    """
    users = former.rows["users"]
    added = await _insert(database, "users", users)
    ids = await _known(database, users)
    sessions = [row for row in former.rows["sessions"] if row[1] in ids]
    begun = await _insert(database, "sessions", sessions)
    for table in ("marks", "pending"):
        await _insert(database, table, former.rows[table])
    return Taken(users=added, sessions=begun, known=len(users) - len(ids))


async def _insert(database: Database, table: str, rows: Sequence[Row]) -> int:
    columns = _COLUMNS[table]
    places = ", ".join(f"${number}" for number in range(1, len(columns) + 1))
    if not rows:
        return 0
    return await database.executemany(
        f"insert into fx_auth_{table} ({', '.join(columns)}) values ({places})"
        " on conflict do nothing",
        rows,
    )


async def _known(database: Database, users: Sequence[Row]) -> set[str]:
    """Return the ids of those of ``users`` whom the database has, with their ids."""
    known: set[str] = set()
    for some in _parts([row[0] for row in users]):
        places = ", ".join(f"${number}" for number in range(1, len(some) + 1))
        query = f"select id from fx_auth_users where id in ({places})"
        known.update(row["id"] for row in await database.all(dict, query, *some))
    return known


def _parts(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), _AT_ONCE):
        yield values[start : start + _AT_ONCE]


def _read(path: Path, again: bool) -> FormerFile | None:
    if not path.exists():
        return None
    with closing(sqlite3.connect(path, timeout=5)) as file:
        (version,) = file.execute("pragma user_version").fetchone()
        if version == 0 or (version == MOVED and not again):
            return None
        if version > MOVED:
            raise AuthDatabaseUnusable(str(path), "it was written by a newer version of fxtrio")
        there = {name for (name,) in file.execute("select name from sqlite_master")}
        file.execute("begin")  # all tables as of one moment
        return FormerFile(
            {
                table: file.execute(f"select {', '.join(columns)} from {table}").fetchall()
                if table in there
                else []
                for table, columns in _COLUMNS.items()
            }
        )


def _mark(path: Path) -> None:
    try:
        with closing(sqlite3.connect(path, timeout=5)) as file:
            file.execute(f"pragma user_version = {MOVED}")
    except sqlite3.Error as error:
        log.warning("%s: it cannot be marked as imported: %s. Delete it.", path, error)
