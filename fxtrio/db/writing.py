"""Whether a database has lately refused to write: its disk is full or broken, or it only reads.

Reading goes on meanwhile, and so do small writes sometimes, so that one which succeeds says
nothing. Once a write was refused, whoever wants to know tries one that needs room.
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
    """What the connections of a database have seen."""

    refused: bool = False
    """Whether a write was refused since the last trial that succeeded."""


def try_folder(folder: Path) -> None:
    """Write a file without a name into a folder, and forget it. Raises OSError."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(os.urandom(ROOM))  # which no file system can compress
        file.flush()
        os.fsync(file.fileno())
