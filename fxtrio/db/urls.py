"""Opens the database that the settings name. Called by the app's lifespan and by commands."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path

from fxtrio.config import DatabaseConfig
from fxtrio.db.database import Database
from fxtrio.db.sqlite import open_sqlite

LONG = 2.0
"""A transaction that lasts longer is named in development (seconds)."""


@asynccontextmanager
async def open_database(
    settings: DatabaseConfig, root: Path, *, development: bool = False
) -> AsyncIterator[Database]:
    """Keep the database of ``settings`` open for as long as the block lasts.

    ``sqlite:///data/app.db`` is a file below ``root``, ``sqlite:////srv/app.db`` one anywhere,
    ``sqlite://`` one in memory. Raises DatabaseUnusable.
    """
    tell_after = LONG if development else inf
    async with open_sqlite(
        sqlite_path(settings.url, root), size=settings.pool, waiters=settings.waiters
    ) as engine:
        yield Database(engine, tell_after=tell_after)


def sqlite_path(url: str, root: Path) -> Path | None:
    """Return the file that a URL names; None for a database in memory."""
    name = url.removeprefix("sqlite://").removeprefix("/")
    return root / name if name else None
