"""Opens the storage of accounts: in the app's database, else in a file of its own."""

from __future__ import annotations

import logging
import sqlite3
import stat
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from fxtrio.config import DatabaseConfig
from fxtrio.db import Database, DatabaseError, DatabaseUnusable, open_database
from fxtrio.db.open import sqlite_path, without_password
from fxtrio.plugins.auth.errors import AuthDatabaseUnusable
from fxtrio.plugins.auth.storage.sql_storage import DatabaseStorage
from fxtrio.plugins.auth.storage.sqlite_migration import find_former, mark_moved, take_over
from fxtrio.plugins.auth.storage.tables import PREFIX, make_tables

FILE = "data/auth.sqlite3"
"""Where accounts are in an app without a database, and were in all apps before."""

log = logging.getLogger("fx.auth")


@asynccontextmanager
async def open_own_file(path: Path) -> AsyncIterator[DatabaseStorage]:
    """Store accounts in a separate SQLite file, created on first use with its folder.

    Only the owner of the process may read it. Raises AuthDatabaseUnusable if it cannot be
    opened, was written by a newer version, or was migrated to the app's database.
    """
    async with AsyncExitStack() as stack:
        try:
            settings = DatabaseConfig(url=f"sqlite:///{path}")
            database = await stack.enter_async_context(open_database(settings, path.parent))
            async with database.transaction():
                await make_tables(database, "", str(path))
        except DatabaseUnusable as error:
            cause = error.cause
        except (DatabaseError, sqlite3.Error) as error:
            cause = str(error)
        else:
            _warn_of_others(path)
            yield DatabaseStorage(database, "")
            return
    raise AuthDatabaseUnusable(str(path), cause)


@asynccontextmanager
async def open_shared(
    settings: DatabaseConfig, root: Path, former: Path, database: Database | None
) -> AsyncIterator[DatabaseStorage]:
    """Store accounts in the app's database, which commands open by its ``settings``.

    When its tables are created, accounts and sessions of the file ``former`` are copied into
    them, in the same transaction. Raises AuthDatabaseUnusable and DatabaseUnusable.
    """
    async with AsyncExitStack() as stack:
        if database is None:
            database = await stack.enter_async_context(open_database(settings, root))
        elif settings.url.startswith("sqlite"):
            path = sqlite_path(settings.url, root)
            if path is not None:
                _warn_of_others(path)
        place = without_password(settings.url)
        found = await find_former(former)
        async with database.transaction():
            created = await make_tables(database, PREFIX, place)
            taken = await take_over(database, found) if created and found is not None else None
        if taken is not None:
            await mark_moved(former)
            log.warning("%s: %s. Keep the file as a backup, or delete it.", former, taken)
        elif found is not None and await found.missing_in(database):
            log.warning(
                "%s: it contains accounts that are not in the app's database. Run 'fx auth import "
                "%s' to import them, or delete it.",
                *(former, former),
            )
        yield DatabaseStorage(database, PREFIX)


def _warn_of_others(path: Path) -> None:
    """Warn of an existing folder or file that other users may read."""
    for place, mode in ((path.parent, 0o700), (path, 0o600)):  # SQLite gives -wal the file's mode
        found = stat.S_IMODE(place.stat().st_mode)
        if found & 0o077:
            log.warning(
                "%s: users of this machine other than its owner may open it (mode %o). "
                "Run 'chmod %o %s', or set another 'database' in the settings of the auth plugin.",
                *(place, found, mode, place),
            )
