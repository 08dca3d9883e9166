"""A folder that takes the place of another one. Called by `build`.

Linux exchanges the two in one step. Elsewhere, and on file systems that cannot,
there are two renames with a moment between them in which the place is empty.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fxtrio.atomic_write import exchange
from fxtrio.temporary_folders import open_temporary_folder


@contextmanager
def open_staging(target: Path) -> Iterator[Path]:
    """Have a new folder beside ``target`` for the block; what is left of it is removed.

    Folders of processes that were killed go first; those of running ones stay.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with open_temporary_folder(_prefix(target), target.parent) as staging:
        yield staging


def put_in_place(staging: Path, target: Path) -> None:
    """Let ``staging`` take the place of ``target``, and remove what was there.

    On failure ``target`` stays as it was. Raises OSError.
    """
    staging.chmod(0o755)  # it keeps others out at first; a server may run as another user
    if not target.exists():
        staging.replace(target)
    elif exchange(staging, target):
        shutil.rmtree(staging, ignore_errors=True)
    else:
        with open_temporary_folder(_prefix(target), target.parent) as room:
            old = room / target.name  # within a folder that nobody takes for abandoned
            target.replace(old)
            try:
                staging.replace(target)
            except OSError:
                old.replace(target)
                raise


def _prefix(target: Path) -> str:
    """Return what the names of the folders begin with: nobody else's, since they are removed."""
    return f".{target.name}.fx-new-"
