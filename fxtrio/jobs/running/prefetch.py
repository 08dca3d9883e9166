"""How many jobs a process claims ahead. No I/O, and no clock.

One statement claims several jobs, so that short ones do not each wait for the database.
Claimed jobs are unavailable to others, so a process claims only as many as it expects to start
within `AHEAD`, and releases those that it could not start within `HOLD`.
"""

from __future__ import annotations

from collections import deque

import attrs

from fxtrio.jobs.store import Claimed

AHEAD = 0.05
"""Longest expected time from the claim to the start (seconds)."""

MOST = 256
"""Claimed at most before they begin (count)."""

HOLD = 0.25
"""Time after which a claimed job that has not started is released (seconds)."""


@attrs.define(eq=False)
class Prefetch:
    """The jobs that are claimed and have not begun, in the order in which they will."""

    workers: int
    """How many run at a time (count)."""

    waiting: deque[Claimed] = attrs.field(factory=deque)

    _claimed_at: float | None = None
    _ended: int = 0
    _enough: int = 0

    def room(self, now: float, running: int) -> int:
        """Return how many to claim, by how fast jobs have ended since the last time."""
        elapsed = 0.0 if self._claimed_at is None else now - self._claimed_at
        ahead = min(MOST, int(AHEAD * self._ended / elapsed)) if elapsed > 0 else 0
        return self.workers + ahead - running - len(self.waiting)

    def add(self, claimed: list[Claimed], wanted: int, now: float) -> None:
        """Add the jobs that were claimed of ``wanted`` ones."""
        self.waiting.extend(claimed)
        self._claimed_at = now
        self._ended = 0
        # Fewer than requested means that there are no more: check again when all of them run.
        self._enough = len(self.waiting) // 2 if len(claimed) == wanted else 0

    def end_one(self) -> bool:
        """Count a finished job; return whether it is time to claim more."""
        self._ended += 1
        return len(self.waiting) <= self._enough

    def take_held(self, now: float) -> list[Claimed]:
        """Remove and return the jobs that were held for too long."""
        if self._claimed_at is None or now - self._claimed_at < HOLD:
            return []
        return self.take_all()

    def take_all(self) -> list[Claimed]:
        """Take away everything."""
        taken = list(self.waiting)
        self.waiting.clear()
        return taken
