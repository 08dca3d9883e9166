"""Opens the database that the settings name. Called by the app's lifespan and by commands."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from fxtrio.config import DatabaseConfig
from fxtrio.db.errors import DatabaseUnusable

if TYPE_CHECKING:
    from fxtrio.db.database import Database

LONG = 2.0
"""A transaction that lasts longer is named in development (seconds)."""


@asynccontextmanager
async def open_database(
    settings: DatabaseConfig, root: Path, *, development: bool = False
) -> AsyncIterator[Database]:
    """Open the database of ``settings`` while the block lasts.

    ``sqlite:///data/app.db`` is a file below ``root``, ``sqlite:////srv/app.db`` one anywhere,
    ``sqlite://`` one in memory; libpq interprets ``postgresql://…``, which needs the extra
    ``fxtrio[postgres]``. Raises DatabaseUnusable.
    """
    from fxtrio.db.database import Database  # importing this module loads no driver
    from fxtrio.db.sqlite.engine import open_sqlite

    log_after = LONG if development else inf
    slow = settings.slow or inf
    url, size, waiters = settings.url, settings.pool, settings.waiters
    if url.startswith("sqlite"):
        async with open_sqlite(sqlite_path(url, root), size=size, waiters=waiters) as sqlite:
            yield Database(sqlite, log_after=log_after, slow=slow)
        return
    safe_url = without_password(url)
    try:
        from fxtrio.db.postgresql.engine import open_postgres  # an extra, and heavy
    except ImportError as error:
        cause = f"{error}. Install 'fxtrio[postgres]'"
        raise DatabaseUnusable(safe_url, cause) from error
    async with open_postgres(settings, safe_url=safe_url) as postgres:
        yield Database(postgres, log_after=log_after, slow=slow)


def sqlite_path(url: str, root: Path) -> Path | None:
    """Return the file that a URL names; None for a database in memory."""
    name = url.removeprefix("sqlite://").removeprefix("/")
    return root / name if name else None


def without_password(url: str) -> str:
    """Return a URL as messages may show it."""
    return re.sub(r"(?<=[?&])password=[^&]*", "password=…", re.sub(r"//[^/@]*@", "//…@", url))
