"""Runs migrations: each once, in order, one process at a time."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import trio

from fxtrio.config import DatabaseConfig
from fxtrio.db.database import Database
from fxtrio.db.engine import Lock
from fxtrio.db.errors import TransactionAborted
from fxtrio.db.migrations.files import (
    FOLDER,
    LOCKED,
    PARTLY_COMMITTED,
    ROLLED_BACK,
    Comparison,
    Migration,
    MigrationFailed,
    MigrationsInvalid,
    MigrationsPending,
    Run,
    compare,
    read_migrations,
)
from fxtrio.db.open import open_database

_TABLE = """
create table if not exists fx_migrations
  (number integer primary key, name text not null, checksum text not null, applied text not null)
"""
LOCK_TIMEOUT = 5.0
"""How long a statement of a migration waits for a lock, where nothing else is said (seconds)."""

_TURN = 0.2  # between two looks whether another process still migrates, in seconds
_RECORD = "insert into fx_migrations (number, name, checksum, applied) values ($1, $2, $3, $4)"

_HALFWAY = (
    "{done} of its {all} statements are committed, since it is not a transaction, and it "
    "does not count as run: undo them by hand or write them so that they may run again "
    "('if not exists'), then run 'fx db up'."
)

log = logging.getLogger("fx.db")


async def compare_database(database: Database, root: Path) -> Comparison:
    """Return pending migrations and mismatches. Raises MigrationsInvalid for the files."""
    return compare(read_migrations(root, database.dialect), await runs(database))


async def runs(database: Database) -> Mapping[int, Run]:
    """Return the migrations that have been run, by number."""
    if not await database.value(database.sql.has_table.format(table="fx_migrations")):
        return {}
    found = await database.all(Run, "select * from fx_migrations order by number")
    return {run.number: run for run in found}


async def migrate(
    database: Database,
    root: Path,
    *,
    lock_timeout: float = LOCK_TIMEOUT,
    begins: Callable[[Migration], None] = lambda migration: None,
    written: bool = False,
) -> list[Migration]:
    """Run pending migrations, and return them.

    Each file is one transaction that includes its record, unless the file opts out: it is
    committed completely or not at all, and a concurrent process finds it done. A statement
    waits ``lock_timeout`` seconds for a lock (PostgreSQL). ``begins`` is called before each file.
    With ``written``, trailing files without a statement are skipped, since they are still being
    written. Raises MigrationsInvalid before anything is run, and MigrationFailed.
    """
    done: list[Migration] = []
    if not await _pending(database, root, written):
        return done
    await _prepare(database)
    while await _pending(database, root, written):
        ran = await _run_next(database, root, lock_timeout, begins, written)
        if isinstance(ran, Migration):
            done.append(ran)
        elif ran == "locked":
            await trio.sleep(_TURN)
    return done


async def _pending(database: Database, root: Path, written: bool) -> tuple[Migration, ...]:
    compared = await compare_database(database, root)
    if compared.problems:
        raise MigrationsInvalid(compared.problems)
    pending = compared.pending
    while written and pending and pending[-1].is_empty:
        pending = pending[:-1]
    return pending


async def _prepare(database: Database) -> None:
    """Create the table of migrations that were run."""
    while True:
        async with database.transaction():
            if await _lock(database):
                await database.execute(_TABLE)
                return
        await trio.sleep(_TURN)


async def _run_next(
    database: Database,
    root: Path,
    lock_timeout: float,
    begins: Callable[[Migration], None],
    written: bool,
) -> Migration | Literal["locked", "nothing"]:
    """Run one migration, unless another process migrates."""
    locks = database.sql.locks
    async with database.transaction(isolation="read committed"):
        if not await _lock(database):
            return "locked"
        waiting = await _pending(database, root, written)
        if not waiting:
            return "nothing"
        migration = waiting[0]
        if migration.head.transactional:
            begins(migration)
            if locks is not None:
                milliseconds = round(1000 * lock_timeout)
                await database.execute(locks.timeout.format(milliseconds=milliseconds))
            await _run(database, migration)
            return migration
        if locks is not None:
            begins(migration)
            # A simple query ends the portal of the last one, whose snapshot would be waited for.
            await database.run_script("select 1")
            # Not in the transaction that holds the lock.
            await _run_beside(database.reserve(), migration)
            return migration
    begins(migration)  # outside of a transaction: this one would keep its writer out
    await _run_beside(database, migration)
    return migration


async def _lock(database: Database) -> bool:
    """Lock migrations until the end of the transaction; return False if another process does.

    Without waiting: CREATE INDEX CONCURRENTLY waits for all transactions that wait for a lock.
    """
    locks = database.sql.locks
    if locks is None:  # this transaction is the only one that writes
        return True
    if not await database.value(locks.attempt.format(number=Lock.MIGRATIONS)):
        return False
    await database.execute(locks.idle)
    return True


async def _run(database: Database, migration: Migration) -> None:
    """Run a migration in the transaction around."""
    _fx_at = f"{FOLDER}/{migration.file}:1"  # what the tree of tasks shows
    try:
        await database.run_script(migration.text)
        await _record(database, migration)
    except Exception as error:  # the engine's own
        ended = isinstance(error, TransactionAborted) or database.has_ended_transaction
        outcome = PARTLY_COMMITTED if ended else LOCKED if _is_locked(error) else ROLLED_BACK
        raise MigrationFailed(migration.file, error, outcome) from error


def _is_locked(error: Exception) -> bool:
    return getattr(error, "sqlstate", None) == "55P03"


async def _run_beside(database: Database, migration: Migration) -> None:
    """Run the statements of a migration one by one, each in its own transaction."""
    _fx_at = f"{FOLDER}/{migration.file}:1"  # what the tree of tasks shows
    parts = database.sql.statements(migration.text)
    done = 0
    try:
        for statement in parts:
            await database.execute(statement)
            done += 1
        await _record(database, migration)
    except Exception as error:  # the engine's own
        outcome = _HALFWAY.format(done=done, all=len(parts)) if done else ROLLED_BACK
        raise MigrationFailed(migration.file, error, outcome) from error
    finally:
        if database.sql.restore is not None:
            with trio.CancelScope(shield=True), trio.move_on_after(_TURN):
                await database.execute(database.sql.restore)


async def _record(database: Database, migration: Migration) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    await database.execute(_RECORD, migration.number, migration.name, migration.checksum, now)


async def require_migrated(database: Database, root: Path) -> None:
    """Raise MigrationsPending unless all has been run, and MigrationsInvalid."""
    compared = await compare_database(database, root)
    if compared.problems:
        raise MigrationsInvalid(compared.problems)
    if compared.pending:
        raise MigrationsPending([migration.file for migration in compared.pending])
    if compared.ahead:
        log.warning("%s", describe_newer(compared.ahead))


def describe_newer(ahead: Sequence[Run]) -> str:
    """Return the warning about migrations that newer code has run."""
    return (
        f"{FOLDER}: newer code has run {', '.join(run.file for run in ahead)} on this database. "
        "This code runs; its queries of columns that were dropped fail."
    )


@asynccontextmanager
async def open_app_database(
    settings: DatabaseConfig, root: Path, *, development: bool
) -> AsyncIterator[Database]:
    """Keep the database of an app open, with all migrations.

    In development, and where the settings say so, they are run; else raises
    MigrationsPending. Raises DatabaseUnusable, MigrationsInvalid and MigrationFailed.
    """
    async with open_database(settings, root, development=development) as database:
        if development or settings.migrate == "run":
            timeout = settings.migration_lock_timeout
            await migrate(database, root, lock_timeout=timeout, written=development)
        else:
            await require_migrated(database, root)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(database.watch)
            yield database
            nursery.cancel_scope.cancel()
