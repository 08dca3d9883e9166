"""What `fx check` finds wrong with the migrations, and with a database that is there already."""

from __future__ import annotations

from pathlib import Path

import trio

from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.problems import Problem
from fxtrio.config import Config
from fxtrio.db import open_database
from fxtrio.db.migrations.files import (
    ENGINES,
    FOLDER,
    MigrationProblem,
    MigrationsInvalid,
    read_migrations,
)
from fxtrio.db.migrations.runner import compare_database
from fxtrio.db.open import sqlite_path

CONNECT_TIMEOUT = 3.0
"""How long a database has for its answer (seconds)."""


async def migration_problems(root: Path, config: Config, *, connects: bool) -> list[Problem]:
    """Return mistakes of the files, and files that have changed since they were run.

    A database that does not exist, or does not answer, is not queried, and none is without
    ``connects``: the settings of a project may name anybody's.
    """
    url = config.database.url
    if not url:
        return []
    engine = next(engine for engine in ENGINES if url.startswith(engine[:8]))
    try:
        await trio.to_thread.run_sync(read_migrations, root, engine)
        found = await _compare(root, config) if connects else ()
    except MigrationsInvalid as error:
        found = error.problems
    return [
        Problem(
            f"{FOLDER}/{problem.file}",
            1,
            1,
            problem.cause,
            problem.remedy,
            kind=FindingKind.MIGRATIONS,
        )
        for problem in found
    ]


async def _compare(root: Path, config: Config) -> tuple[MigrationProblem, ...]:
    url = config.database.url
    if url.startswith("sqlite"):
        path = sqlite_path(url, root)
        if path is None or not path.exists():
            return ()
    try:
        with trio.fail_after(CONNECT_TIMEOUT):
            async with open_database(config.database, root) as database:
                return (await compare_database(database, root)).problems
    except MigrationsInvalid:
        raise
    except Exception:  # no server, no right to read: nothing that the project could correct
        return ()
