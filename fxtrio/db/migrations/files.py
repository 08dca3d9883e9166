"""Numbered SQL files, and their comparison with the migrations that were run. No database access.

``migrations/0001_notes.sql`` is for every engine; ``0002_search.sqlite.sql`` and
``0002_search.postgresql.sql`` are one migration with a file for each.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from fxtrio.db.errors import DatabaseError
from fxtrio.db.migrations.scripts import Head, head_of, statements_of, transaction_control
from fxtrio.errors import SeveralProblems

FOLDER = "migrations"
ENGINES = ("sqlite", "postgresql")
_NAME = re.compile(r"(\d{4,})_([a-z0-9_]+)(?:\.(sqlite|postgresql))?\.sql")


@attrs.frozen
class MigrationProblem:
    """A problem of one file."""

    file: str
    """Its name in the folder."""

    cause: str
    remedy: str

    def __str__(self) -> str:
        return f"{FOLDER}/{self.file}: {self.cause}. {self.remedy}."


class MigrationsInvalid(SeveralProblems[MigrationProblem], DatabaseError):
    """The files cannot be run. Raised with every problem found."""


class MigrationsPending(DatabaseError):
    """The database lacks migrations that the code needs."""

    remedy = "Run 'fx db up' before the server starts, or set 'database.migrate' to 'run'"

    def __init__(self, files: Sequence[str]) -> None:
        have = "has" if len(files) == 1 else "have"
        super().__init__(FOLDER, f"{', '.join(files)} {have} not been run")
        self.files = tuple(files)


ROLLED_BACK = "It was rolled back: correct it and run 'fx db up'."
LOCKED = (
    "Others held its locks, so it was rolled back: run 'fx db up' again, at a quieter time "
    "or with a higher 'database.migrationLockTimeout'."
)
PARTLY_COMMITTED = (
    "It has ended its own transaction, so earlier statements are committed, and it is not "
    "recorded as run: undo them by hand, correct the file and run 'fx db up'."
)


class MigrationFailed(DatabaseError):
    """A statement of a migration failed. ``outcome`` describes what was committed of its file."""

    def __init__(self, file: str, error: BaseException, outcome: str = ROLLED_BACK) -> None:
        cause = str(error).strip().replace("\n", " ")
        super().__init__(f"{FOLDER}/{file}", cause, outcome)
        self.file = file


@attrs.frozen
class Migration:
    """One step, as the file for one engine has it."""

    number: int
    name: str
    file: str
    text: str = attrs.field(repr=False)

    @property
    def head(self) -> Head:
        """Return the parsed comments at its start."""
        return head_of(self.text)

    @property
    def is_empty(self) -> bool:
        """Return whether it has no statement, as a newly created one."""
        return not statements_of(self.text)

    @property
    def checksum(self) -> str:
        """Return a checksum of the text that ignores line endings."""
        lines = "\n".join(line.rstrip() for line in self.text.strip().splitlines())
        return hashlib.sha256(lines.encode()).hexdigest()


@attrs.frozen
class Run:
    """The database's record of a migration that was run."""

    number: int
    name: str
    checksum: str
    applied: str
    """When, in ISO 8601 (UTC)."""

    @property
    def file(self) -> str:
        """Return the name of its file, without the engine."""
        return f"{self.number:04}_{self.name}.sql"


@attrs.frozen
class Comparison:
    """Files and database side by side."""

    pending: tuple[Migration, ...]
    problems: tuple[MigrationProblem, ...]
    ahead: tuple[Run, ...] = ()
    """Migrations that newer code has run; this code tries to work nevertheless."""


def read_migrations(root: Path, engine: str) -> list[Migration]:
    """Return the migrations of the project in ``root`` for an engine, by number.

    There may be none. Raises MigrationsInvalid.
    """
    folder = root / FOLDER
    files: dict[int, dict[str, re.Match[str]]] = {}
    problems: list[MigrationProblem] = []
    for path in sorted(folder.glob("*.sql")):
        found = _NAME.fullmatch(path.name)
        if found is None:
            cause = "its name is not of the form 0001_what_it_does.sql"
            problems.append(MigrationProblem(path.name, cause, "Rename it"))
        else:
            files.setdefault(int(found[1]), {})[path.name] = found
    migrations = []
    for number, group in sorted(files.items()):
        names = {found[2] for found in group.values()}
        if len(names) > 1:
            cause = f"{' and '.join(sorted(group))} have one number"
            problems.append(MigrationProblem(max(group), cause, "Give one of them the next number"))
            continue
        chosen = {found[3]: found for found in group.values()}
        own = chosen.get(engine) or chosen.get(None)
        if own is None:
            cause = f"there is no such file for {engine}"
            remedy = f"Write {number:04}_{names.pop()}.{engine}.sql"
            problems.append(MigrationProblem(max(group), cause, remedy))
            continue
        try:
            text = (folder / own[0]).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            problems.append(MigrationProblem(own[0], f"it cannot be read: {error}", "Check it"))
            continue
        migrations.append(Migration(number, own[2], own[0], text))
    if problems:
        raise MigrationsInvalid(problems)
    return migrations


def compare(migrations: Sequence[Migration], done: Mapping[int, Run]) -> Comparison:
    """Return which of ``migrations`` are pending, and which differ from those ``done``."""
    problems = []
    last = max(done, default=0)
    known = {migration.number for migration in migrations}
    for migration in migrations:
        run = done.get(migration.number)
        if run is None and migration.number < last:
            cause = f"it comes before {last:04}, which has been run"
            remedy = "Give it the next number"
        elif run is not None and (run.checksum, run.name) != (migration.checksum, migration.name):
            cause = f"it has changed since it was run as {run.number:04}_{run.name}"
            remedy = "Restore it, and write new statements into a new file ('fx db new')"
        else:
            continue
        problems.append(MigrationProblem(migration.file, cause, remedy))
    newest = max(known, default=0)
    for run in done.values():
        if run.number not in known and run.number < newest:
            cause = "it has been run, but its file is missing"
            problems.append(MigrationProblem(run.file, cause, "Restore it"))
    pending = tuple(one for one in migrations if one.number > last)
    for migration in pending:
        control = transaction_control(migration.text) if migration.head.transactional else None
        if control is not None:
            cause = f"it has the statement {control!r}, but each file is one transaction"
            remedy = "Remove it, or begin the file with '-- transaction: none'"
            problems.append(MigrationProblem(migration.file, cause, remedy))
    ahead = tuple(run for run in done.values() if run.number > newest)
    return Comparison(pending, tuple(problems), ahead)


def new_migration(root: Path, name: str, engines: Sequence[str] = ()) -> list[Path]:
    """Write the next migration, with a file for each of ``engines`` or one for all.

    Raises ValueError for a name that is none.
    """
    slug = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    if not slug:
        raise ValueError(f"{name!r} has no letters. Say what it does, such as 'add notes'.")
    folder = root / FOLDER
    folder.mkdir(exist_ok=True)
    numbers = (_NAME.fullmatch(path.name) for path in folder.glob("*.sql"))
    number = 1 + max((int(found[1]) for found in numbers if found), default=0)
    created = []
    for suffix in [f".{engine}" for engine in engines] or [""]:
        path = folder / f"{number:04}_{slug}{suffix}.sql"
        path.write_text(f"-- {name}\n", encoding="utf-8")
        created.append(path)
    return created
