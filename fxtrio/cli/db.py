"""`fx db`: the migrations of the project's database."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

import click

from fxtrio.cli.output import json_option, print_done, print_errors, print_warning, root_option
from fxtrio.cli.subcommands import Subcommands, hand_on_root
from fxtrio.compile.plurals import counted
from fxtrio.config import load_config, load_env_files
from fxtrio.errors import display_path

if TYPE_CHECKING:
    from fxtrio.db import Database
    from fxtrio.db.migrations.files import Migration

Answer = TypeVar("Answer")


class _Commands(Subcommands):
    elsewhere: ClassVar = {
        "apply": "up",
        "deploy": "up",
        "migrate": "up",
        "upgrade": "up",
        "create": "new",
        "generate": "new",
        "make": "new",
        "makemigrations": "new",
        "revision": "new",
        "dump": "backup",
        "list": "status",
        "history": "status",
    }


@click.group(cls=_Commands)
@hand_on_root
def command() -> None:
    """Write and run the migrations of the database.

    They are the SQL files in the folder 'migrations', run in the order of their numbers.
    """


@command.command
@root_option
@click.option("--each", is_flag=True, help="Write one file for each engine.")
@click.argument("name")
def new(root: Path, each: bool, name: str) -> None:
    """Create the next migration, an empty file for you to fill."""
    from fxtrio.db.migrations.files import ENGINES, new_migration

    try:
        created = new_migration(root, name, ENGINES if each else ())
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="NAME") from error
    for path in created:
        print_done(f"{display_path(path)} is yours to fill.")


@command.command
@root_option
@click.option("--compatible", is_flag=True, help="Run nothing if one is marked as incompatible.")
def up(root: Path, compatible: bool) -> None:
    """Run the pending migrations.

    Several processes may do so at the same time: each migration is run once.
    """
    done = _with_database(root, partial(_up, compatible=compatible))
    print_done(f"{counted(len(done), 'migration')} run." if done else "Nothing to run.")


async def _up(database: Database, root: Path, *, compatible: bool) -> list[Migration]:
    from fxtrio.db.migrations.runner import compare_database, describe_newer, migrate

    found = await compare_database(database, root)
    if found.ahead:
        print_warning(describe_newer(found.ahead))
    breaking = [one for one in found.pending if one.head.incompatible is not None]
    for one in breaking:
        print_warning(
            f"{one.file} is not compatible with the version that runs now"
            f"{one.head.incompatible and ': '}{one.head.incompatible}"
        )
    if breaking and compatible:
        raise click.ClickException(
            "No migration was run. Stop the servers that run the previous version, "
            "then run 'fx db up'."
        )
    timeout = load_config(root).database.migration_lock_timeout
    return await migrate(
        database, root, lock_timeout=timeout, begins=lambda one: click.echo(f"  {one.file}")
    )


@command.command
@root_option
@json_option
def status(root: Path, as_json: bool) -> None:
    """List the migrations, and when they were run."""
    rows, ahead, problems = _with_database(root, _status)
    if as_json:
        found = {"migrations": rows, "ahead": ahead, "problems": problems}
        click.echo(json.dumps(found, indent=2))
    else:
        for row in rows:
            click.echo(f"{row['applied'] or 'waiting':<26}{row['file']}")
        for run in ahead:
            click.echo(f"{run['applied']:<26}{run['file']} (by newer code)")
        print_errors(map(ValueError, problems))
    raise SystemExit(1 if problems else 0)


@command.command
@root_option
def check(root: Path) -> None:
    """Fail if a migration is pending, or has changed since it ran."""
    from fxtrio.db.migrations.runner import require_migrated

    _with_database(root, require_migrated)
    print_done("The database has all migrations.")


@command.command
@root_option
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def backup(root: Path, file: Path) -> None:
    """Copy the database to FILE, even while servers run (SQLite)."""
    from fxtrio.db.sqlite.backup import back_up

    back_up(_sqlite_path(root, "pg_dump"), file)
    print_done(f"{file} is a backup.")


@command.command
@root_option
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def restore(root: Path, file: Path) -> None:
    """Replace the database with the backup FILE (SQLite).

    No server may run meanwhile. The previous database remains beside it.
    """
    from fxtrio.db.sqlite.backup import restore as put_back

    before = put_back(file, _sqlite_path(root, "pg_restore"))
    print_done(f"{file} is the database now.")
    if before is not None:
        print_done(f"The previous database is {before}.")


def _sqlite_path(root: Path, instead: str) -> Path:
    """Return the file of the database. Raises ClickException where there is none."""
    from fxtrio.db import DatabaseNotConfigured
    from fxtrio.db.open import sqlite_path

    load_env_files(root)
    url = load_config(root).database.url
    if not url:
        raise DatabaseNotConfigured()
    path = sqlite_path(url, root) if url.startswith("sqlite") else None
    if path is None:
        raise click.ClickException(
            f"database.url: this command is for SQLite files. Use {instead} for PostgreSQL."
        )
    return path


def _with_database(root: Path, work: Callable[[Database, Path], Awaitable[Answer]]) -> Answer:
    import trio

    load_env_files(root)
    return trio.run(partial(_run, root, work))


async def _run(root: Path, work: Callable[[Database, Path], Awaitable[Answer]]) -> Answer:
    async with open_configured(root) as database:
        return await work(database, root)


@asynccontextmanager
async def open_configured(root: Path) -> AsyncIterator[Database]:
    """Open the database of the project in ``root``, for a command."""
    from fxtrio.db import DatabaseNotConfigured, open_database

    settings = load_config(root).database
    if not settings.url:
        raise DatabaseNotConfigured
    async with open_database(settings, root) as database:
        yield database


Rows = list[dict[str, str | None]]


async def _status(database: Database, root: Path) -> tuple[Rows, Rows, list[str]]:
    from fxtrio.db.migrations.files import compare, read_migrations
    from fxtrio.db.migrations.runner import runs

    migrations, done = read_migrations(root, database.dialect), await runs(database)
    rows: Rows = [
        {"file": one.file, "applied": done[one.number].applied if one.number in done else None}
        for one in migrations
    ]
    compared = compare(migrations, done)
    ahead: Rows = [{"file": run.file, "applied": run.applied} for run in compared.ahead]
    return rows, ahead, [str(problem) for problem in compared.problems]
