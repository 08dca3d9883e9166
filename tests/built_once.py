"""What is built once for all processes of a test run: by the first that needs it."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

FOLDER = pytest.StashKey[Path]()
"""A folder of the run. `tests/workers.py` makes it before it forks processes; alone, one has none.
"""


def built_once(config: pytest.Config, name: str, to: Path, make: Callable[[Path], object]) -> Path:
    """Return ``to``, which has become a copy of the folder that ``make`` fills.

    It is a copy since tests write logs and databases into it. A built project may be moved.
    """
    shared = config.stash.get(FOLDER, None)
    if shared is None:
        make(to)
        return to
    built, unfinished = shared / name, shared / f"{name}.unfinished"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.exists():
            shutil.rmtree(unfinished, ignore_errors=True)  # of a process in which it has failed
            make(unfinished)
            unfinished.rename(built)
    return Path(shutil.copytree(built, to, symlinks=True, dirs_exist_ok=True))
