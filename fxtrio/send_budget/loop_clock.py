"""Time in which clients could be served: a loop that stands still counts no time against them.

Who reads slowly is told by how long bytes wait. While the event loop is blocked, or its process
has no processor, nothing can be sent, however quickly a client reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import trio

TICK: Final = 0.1
"""Between two signs that the loop runs (seconds)."""

_TOLERANCE = 2 * TICK
"""Between two of them, longer counts as this long (seconds)."""

_LINGER = 10
"""Ticks without use after which the clock needs no task."""


class LoopClock:
    """Trio's time without that for which the loop stood still, while the clock is `watch`ed."""

    def __init__(self) -> None:
        self._ticking = False
        self._ticked_at = 0.0
        self._lost = 0.0
        """Time for which the loop stood still so far (seconds)."""

    def at(self, now: float) -> float:
        """Return this clock's time for ``now``, which is `trio.current_time` (seconds)."""
        return now - self._lost - self._overdue(now)

    def watch(self, needed: Callable[[], bool]) -> None:
        """Notice when the loop stands still, for as long as ``needed``, and somewhat longer."""
        if not self._ticking:
            self._ticking, self._ticked_at = True, trio.current_time()
            trio.lowlevel.spawn_system_task(self._tick, needed)

    def _overdue(self, now: float) -> float:
        return max(0.0, now - self._ticked_at - _TOLERANCE) if self._ticking else 0.0

    async def _tick(self, needed: Callable[[], bool]) -> None:
        unused = 0
        try:
            while unused < _LINGER:
                await trio.sleep(TICK)
                now = trio.current_time()
                self._lost += self._overdue(now)
                self._ticked_at = now
                unused = 0 if needed() else unused + 1
        finally:
            self._ticking = False
