"""Tables of the app's database, read-only, in development."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import trio

from fxtrio.db import Database
from fxtrio.errors import Signal

MOST = 100
"""Rows that are shown (count)."""

LIMIT = 5.0
"""How long a query may take (seconds)."""

_READS = ("select", "with", "values", "explain")
_SQLITE = "select name from sqlite_master where type = 'table' order by name"
_POSTGRESQL = (
    "select table_name from information_schema.tables where table_schema = current_schema() "
    "order by table_name"
)


class QueryRejected(Exception):
    """A query is not one that only reads, or took too long; the text says so."""


class _Undone(Signal):
    """Rolls a transaction back."""


async def names(database: Database, *, is_postgres: bool) -> list[str]:
    """Return the names of the tables."""
    rows = await database.all(dict, _POSTGRESQL if is_postgres else _SQLITE)
    return [str(next(iter(row.values()))) for row in rows]


async def first_rows(database: Database, sql: str, *, is_postgres: bool) -> list[dict[str, Any]]:
    """Return the first rows of a query, in a transaction that is rolled back.

    Raises QueryRejected, and what the database raises.
    """
    begins = sql.lstrip("( \n\t").lower()
    if not begins.startswith(_READS):
        raise QueryRejected(f"Only queries that read are run: {', '.join(_READS)}.")
    with trio.move_on_after(LIMIT):
        async with _rolled_back(database):
            if is_postgres:
                await database.execute("set transaction read only")
            if begins.startswith("explain"):  # a plan is short, and PostgreSQL has no cursor for it
                return (await database.all(dict, sql))[:MOST]
            found: list[dict[str, Any]] = []
            async with database.stream(dict, sql) as rows:
                async for row in rows:
                    found.append(row)
                    if len(found) == MOST:
                        break
            return found
    raise QueryRejected(f"The query took longer than {LIMIT:g} s.")


@asynccontextmanager
async def _rolled_back(database: Database) -> AsyncIterator[None]:
    try:
        async with database.transaction():
            yield
            raise _Undone
    except _Undone:
        pass
