"""Copies of an SQLite database while it is used, and the way back. Blocking; used by `fx db`."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from fxtrio.db.errors import DatabaseError

_WAIT = 10.0  # for a lock, in seconds


class BackupFailed(DatabaseError):
    """A backup could not be created or restored; the database is unchanged."""


def back_up(path: Path, target: Path) -> None:
    """Copy the database at ``path`` to a new file: a consistent snapshot of committed data.

    Writers are not blocked meanwhile. Raises BackupFailed.
    """
    if target.exists():
        raise BackupFailed(
            str(target), "there is such a file", "Name another one, or remove it first"
        )
    if not path.exists():
        raise BackupFailed(str(path), "there is no database", "Run 'fx db up' first")
    part = target.with_name(f".{target.name}.part")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600))
        _copy(path, part)
        _sync(part)
        part.replace(target)
        _sync(target.parent)
    except (OSError, sqlite3.Error) as error:
        raise BackupFailed(str(target), str(error), "Look at the room on its disk") from error
    finally:
        part.unlink(missing_ok=True)


def restore(backup: Path, path: Path) -> Path | None:
    """Restore a backup into the database at ``path``; return the copy of the previous data.

    The file itself remains, and changes completely or not at all. Raises BackupFailed, also
    while another process uses the database.
    """
    if not backup.is_file():
        raise BackupFailed(str(backup), "there is no such file", "Name a file of 'fx db backup'")
    if path.exists() and backup.samefile(path):
        raise BackupFailed(str(backup), "this is the database itself", "Name a backup of it")
    try:
        with closing(sqlite3.connect(f"file:{backup}?mode=ro", uri=True)) as raw:
            found = raw.execute("pragma quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        found = str(error)
    if found != "ok":
        raise BackupFailed(
            str(backup), f"it is not a complete database ({found})", "Take another backup"
        )
    before = None
    try:
        if path.exists():
            _require_alone(path)
            stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
            before = path.with_name(f"{path.name}.before-{stamp}")
            back_up(path, before)
        else:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        _copy(backup, path)
    except (OSError, sqlite3.Error) as error:
        raise BackupFailed(str(path), str(error), "It was left as it was") from error
    return before


def _require_alone(path: Path) -> None:
    """Raise BackupFailed if another process has the database open: then its log cannot be ended."""
    with closing(sqlite3.connect(path, timeout=0.5, isolation_level=None)) as raw:
        try:
            raw.execute("pragma journal_mode = delete").fetchone()
        except sqlite3.OperationalError as error:
            raise BackupFailed(
                str(path),
                f"a process uses it ({error})",
                "Stop all servers of the app, restore, and start them again",
            ) from error


def _copy(source: Path, target: Path) -> None:
    with (
        closing(sqlite3.connect(source, timeout=_WAIT)) as come,
        closing(sqlite3.connect(target, timeout=_WAIT)) as go,
    ):
        come.backup(go)  # in one step: several would start again after each concurrent change
        go.execute("pragma journal_mode = delete")


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
