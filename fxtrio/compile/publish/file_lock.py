"""A lock between processes: a file that one of them at a time holds locked.

The system lets go of it when its holder ends, however that happens.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import trio

_POLL = 0.1  # Seconds between attempts: a wait that can be cancelled needs no thread.


@asynccontextmanager
async def open_file_lock(path: Path, *, waiting: Callable[[], None]) -> AsyncIterator[None]:
    """Hold the lock of ``path`` for the block; the file is created and stays.

    ``waiting`` is called once when another process holds it. Raises OSError when
    the file cannot be created.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not _take(handle):
            waiting()
            while not _take(handle):  # noqa: ASYNC110 - the other process sets no event here
                await trio.sleep(_POLL)
        yield
    finally:
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
