"""Gives memory that is free back to the system.

The C library keeps free memory between used blocks, and after a crowd of clients that is
most of the heap: blocks of some 60 kB, whose places fit no others.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from math import inf
from typing import Final

import trio

PAUSE: Final = 0.25
"""Between two times: each takes some milliseconds (seconds)."""


class Heap:
    """The heap of this process. Use `process_heap`."""

    def __init__(self) -> None:
        self._trimmed_at = -inf

    def trim(self) -> bool:
        """Return free memory to the system where it can; False if that was done a moment ago."""
        now = trio.current_time()
        if 0 <= now - self._trimmed_at < PAUSE:
            return False
        self._trimmed_at = now
        trimming()(0)
        return True


@cache
def trimming() -> Callable[[int], object]:
    """Return what gives memory back; something that does nothing where there is no such thing."""
    # Heavy, and most processes have no such crowd.
    import ctypes

    with suppress(OSError, AttributeError, TypeError):  # only glibc has it
        found: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
        return found
    return lambda _: None


process_heap = Heap()
