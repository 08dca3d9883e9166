"""Tracks whether a database rejects writes: its disk is full or broken, or it is read-only.

Reads still work meanwhile, and small writes sometimes, so a successful one proves
nothing. After a rejected write, a test must make one that needs space.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import attrs

ROOM = 65_536
"""How much a trial writes (bytes)."""


@attrs.define(eq=False)
class Writing:
    """Rejected writes of a database's connections."""

    rejected: bool = False
    """Whether a write was rejected since the last successful test."""


def try_folder(folder: Path) -> None:
    """Write a file without a name into a folder, and forget it. Raises OSError."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(os.urandom(ROOM))  # which no file system can compress
        file.flush()
        os.fsync(file.fileno())
