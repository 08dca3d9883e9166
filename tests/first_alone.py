"""Lets one process of a run collect the tests before the others do.

From a fresh checkout everything that is imported is compiled first, which takes as long as all
the rest. Side by side each process would do so; like this the others read what the first wrote.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def first_alone(run: str) -> Iterator[None]:
    """Be in the block alone as the first process of ``run``, or once that one has left it."""
    if sys.platform == "win32":  # has no such locks
        yield
        return
    import fcntl

    path = Path(tempfile.gettempdir(), f"fxtrio-first-{run}")
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(file, fcntl.LOCK_SH)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
