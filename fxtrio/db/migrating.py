"""Runs migrations: each once, in order, one process at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from fxtrio.config import DatabaseConfig
from fxtrio.db.database import Database
from fxtrio.db.migrations import (
    Comparison,
    Migration,
    MigrationFailed,
    MigrationsInvalid,
    MigrationsPending,
    Run,
    compare,
    read_migrations,
)
from fxtrio.db.urls import open_database

_TABLE = """
create table if not exists fx_migrations
  (number integer primary key, name text not null, checksum text not null, applied text not null)
"""
_THERE = {
    "sqlite": "select count(*) from sqlite_master where name = 'fx_migrations'",
    "postgresql": "select count(*) from pg_class where oid = to_regclass('fx_migrations')",
}
_LOCK = "select pg_advisory_xact_lock(7225102)"  # a number of our own


async def compare_database(database: Database, root: Path) -> Comparison:
    """Return what is to be run, and what does not fit. Raises MigrationsInvalid for the files."""
    return compare(read_migrations(root, database.dialect), await runs(database))


async def runs(database: Database) -> Mapping[int, Run]:
    """Return the migrations that have been run, by number."""
    if not await database.value(_THERE[database.dialect]):
        return {}
    found = await database.all(Run, "select * from fx_migrations order by number")
    return {run.number: run for run in found}


async def migrate(database: Database, root: Path) -> list[Migration]:
    """Run what has not been run, and return it.

    Each file is a transaction, and the record of it is a part of that: it is kept as a
    whole or not at all, and whoever comes second finds it done. Raises MigrationsInvalid
    before anything is run, and MigrationFailed.
    """
    done: list[Migration] = []
    while True:
        compared = await compare_database(database, root)
        if compared.problems:
            raise MigrationsInvalid(compared.problems)
        if not compared.pending:
            return done
        async with database.transaction():
            if database.dialect == "postgresql":  # SQLite has one writer in any case
                await database.execute(_LOCK)
            await database.execute(_TABLE)
            waiting = (await compare_database(database, root)).pending
            if waiting:
                await _run(database, waiting[0])
                done.append(waiting[0])


async def _run(database: Database, migration: Migration) -> None:
    try:
        await database.run_script(migration.text)
        await database.execute(
            "insert into fx_migrations (number, name, checksum, applied) values ($1, $2, $3, $4)",
            migration.number,
            migration.name,
            migration.checksum,
            datetime.now(UTC).isoformat(timespec="seconds"),
        )
    except Exception as error:  # the engine's own
        raise MigrationFailed(migration.file, error) from error


async def require_migrated(database: Database, root: Path) -> None:
    """Raise MigrationsPending unless all has been run, and MigrationsInvalid."""
    compared = await compare_database(database, root)
    if compared.problems:
        raise MigrationsInvalid(compared.problems)
    if compared.pending:
        raise MigrationsPending([migration.file for migration in compared.pending])


@asynccontextmanager
async def open_app_database(
    settings: DatabaseConfig, root: Path, *, development: bool
) -> AsyncIterator[Database | None]:
    """Keep the database of an app open, with all migrations; None without one.

    In development, and where the settings say so, they are run; else raises
    MigrationsPending. Raises DatabaseUnusable, MigrationsInvalid and MigrationFailed.
    """
    if not settings.url:
        yield None
        return
    async with open_database(settings, root, development=development) as database:
        if development or settings.migrate == "run":
            await migrate(database, root)
        else:
            await require_migrated(database, root)
        yield database
