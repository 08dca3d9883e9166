"""Notices that the file of an SQLite database was replaced, moved or deleted under a server.

Connections go on with the file that they opened, whose name is another one's by now: what is
written there is lost without an error.
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
    _told: bool = False

    def remember(self) -> None:
        """Take the file that is there now for the one that is open."""
        self._opened = _identity(self._path)

    def check(self) -> None:
        """Raise DatabaseReplaced when the path leads elsewhere; the log has it once."""
        if self._opened is None or _identity(self._path) == self._opened:
            return
        error = DatabaseReplaced(str(self._path))
        if not self._told:
            self._told = True
            log.critical("%s", error)
        raise error


def _identity(path: Path) -> tuple[int, int]:
    # Without opening it: whoever closes a file loses the locks of the process on it (POSIX).
    try:
        found = path.stat()
    except OSError:
        return (-1, -1)
    return found.st_dev, found.st_ino
