"""Stores the guestbook's entries in SQLite. Calls of SQLite block, so they run in a thread."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import attrs
import trio

T = TypeVar("T")

PATH = Path(os.environ.get("GUESTBOOK", Path(__file__).with_name("guestbook.sqlite3")))

SCHEMA = """
create table if not exists entries (
    id integer primary key,
    name text not null,
    message text not null,
    written text not null default (strftime('%Y-%m-%dT%H:%M:%SZ'))
)
"""


@attrs.frozen
class Entry:
    """An entry of the guestbook."""

    id: int
    name: str
    message: str
    written: datetime


def _entry(row: tuple) -> Entry:
    number, name, message, written = row
    return Entry(number, name, message, datetime.fromisoformat(written))


async def latest(count: int = 50) -> list[Entry]:
    """Return the newest entries, newest first."""
    query = "select id, name, message, written from entries order by id desc limit ?"
    return await _with_database(lambda db: [_entry(row) for row in db.execute(query, (count,))])


async def find(number: int) -> Entry | None:
    """Return one entry."""
    query = "select id, name, message, written from entries where id = ?"
    row = await _with_database(lambda db: db.execute(query, (number,)).fetchone())
    return None if row is None else _entry(row)


async def add(name: str, message: str) -> int:
    """Store an entry and return its number."""
    insert = "insert into entries (name, message) values (?, ?)"
    return await _with_database(lambda db: db.execute(insert, (name, message)).lastrowid)


async def _with_database(work: Callable[[sqlite3.Connection], T]) -> T:
    def run() -> T:
        with closing(sqlite3.connect(PATH, timeout=5)) as db, db:
            db.execute(SCHEMA)
            return work(db)

    return await trio.to_thread.run_sync(run)
