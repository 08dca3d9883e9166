"""Detects that the file of an SQLite database was replaced, moved or deleted under a server.

Open connections continue to use the old file, which no longer has the name: data written
there is lost without an error.
"""

from __future__ import annotations

import logging
from pathlib import Path

import attrs

from fxtrio.db.errors import DatabaseReplaced

log = logging.getLogger("fx.db")


@attrs.define(eq=False)
class SameFile:
    """Which file a path led to when it was opened."""

    _path: Path
    _opened: tuple[int, int] | None = None
    _logged: bool = False

    def remember(self) -> None:
        """Take the file that is there now for the one that is open."""
        self._opened = _identity(self._path)

    def check(self) -> None:
        """Raise DatabaseReplaced when the path leads elsewhere; the log has it once."""
        if self._opened is None or _identity(self._path) == self._opened:
            return
        error = DatabaseReplaced(str(self._path))
        if not self._logged:
            self._logged = True
            log.critical("%s", error)
        raise error


def _identity(path: Path) -> tuple[int, int]:
    # Without opening it: closing a file releases the process's locks on it (POSIX).
    try:
        found = path.stat()
    except OSError:
        return (-1, -1)
    return found.st_dev, found.st_ino
