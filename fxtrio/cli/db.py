"""`fx db`: the migrations of the project's database."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from fxtrio.cli.output import json_option, print_done, print_errors, root_option
from fxtrio.cli.words import counted
from fxtrio.config import load_config, load_env_files
from fxtrio.errors import shown_path

if TYPE_CHECKING:
    from fxtrio.db import Database

Answer = TypeVar("Answer")


@click.group
def command() -> None:
    """Write and run the migrations of the database.

    They are the SQL files in the folder 'migrations', run in the order of their numbers.
    """


@command.command
@root_option
@click.option("--each", is_flag=True, help="Write one file for each engine.")
@click.argument("name")
def new(root: Path, each: bool, name: str) -> None:
    """Write the next migration, an empty file to be filled."""
    from fxtrio.db.migrations import ENGINES, new_migration

    try:
        made = new_migration(root, name, ENGINES if each else ())
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="NAME") from error
    for path in made:
        print_done(f"{shown_path(path)} is yours to fill.")


@command.command
@root_option
def up(root: Path) -> None:
    """Run the migrations that have not been run.

    Several processes may do so at the same time: each migration is run once.
    """
    from fxtrio.db.migrating import migrate

    done = _with_database(root, migrate)
    for migration in done:
        print_done(migration.file)
    print_done(f"{counted(len(done), 'migration')} run." if done else "Nothing to run.")


@command.command
@root_option
@json_option
def status(root: Path, as_json: bool) -> None:
    """List the migrations, and when they were run."""
    rows, problems = _with_database(root, _status)
    if as_json:
        click.echo(json.dumps({"migrations": rows, "problems": problems}, indent=2))
    else:
        for row in rows:
            click.echo(f"{row['applied'] or 'waiting':<26}{row['file']}")
        print_errors(map(ValueError, problems))
    raise SystemExit(1 if problems else 0)


@command.command
@root_option
def check(root: Path) -> None:
    """Fail when a migration has not been run, or has changed since."""
    from fxtrio.db.migrating import require_migrated

    _with_database(root, require_migrated)
    print_done("The database has all migrations.")


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
        raise DatabaseNotConfigured(running=True)
    async with open_database(settings, root) as database:
        yield database


async def _status(database: Database, root: Path) -> tuple[list[dict[str, str | None]], list[str]]:
    from fxtrio.db.migrating import runs
    from fxtrio.db.migrations import compare, read_migrations

    migrations, done = read_migrations(root, database.dialect), await runs(database)
    rows: list[dict[str, str | None]] = [
        {"file": one.file, "applied": done[one.number].applied if one.number in done else None}
        for one in migrations
    ]
    return rows, [str(problem) for problem in compare(migrations, done).problems]
