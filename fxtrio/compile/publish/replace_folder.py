"""A folder that takes the place of another one. Called by `build`.

Linux exchanges the two in one step. Elsewhere, and on file systems that cannot,
there are two renames with a moment between them in which the place is empty.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_ABANDONED = 3600.0  # seconds after which a staging folder is taken for that of a killed build
_RENAME_EXCHANGE = 2  # linux/fs.h
_AT_FDCWD = -100  # fcntl.h: paths are relative to the working folder


def make_staging(target: Path) -> Path:
    """Return a new folder beside ``target``; those that killed builds left go first."""
    target.parent.mkdir(parents=True, exist_ok=True)
    now = time.time()
    for left in target.parent.glob(f"{target.name}.new-*"):
        with suppress(FileNotFoundError):  # another build was faster
            if now - left.stat().st_mtime > _ABANDONED:
                remove(left)
    return Path(tempfile.mkdtemp(prefix=f"{target.name}.new-", dir=target.parent))


def put_in_place(staging: Path, target: Path) -> None:
    """Let ``staging`` take the place of ``target``, and remove what was there.

    On failure ``target`` stays as it was. Raises OSError.
    """
    staging.chmod(0o755)  # mkdtemp keeps others out; a server may run as another user
    if not target.exists():
        staging.replace(target)
    elif _exchange(staging, target):
        remove(staging)
    else:
        old = Path(tempfile.mkdtemp(prefix=f"{target.name}.new-", dir=target.parent))
        target.replace(old)
        try:
            staging.replace(target)
        except OSError:
            old.replace(target)
            raise
        remove(old)


def remove(folder: Path) -> None:
    """Remove a folder, as far as that is possible."""
    shutil.rmtree(folder, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; False where the system cannot."""
    renameat2 = getattr(ctypes.CDLL(None), "renameat2", None) if os.name == "posix" else None
    if renameat2 is None:
        return False
    done = renameat2(_AT_FDCWD, bytes(one), _AT_FDCWD, bytes(other), _RENAME_EXCHANGE)
    return bool(done == 0)
