"""How many jobs a process claims before it can begin them. No I/O, and no clock.

One statement claims many, so that short ones do not each wait for the database. They are the
process's own until then, so it takes no more than end within `AHEAD`, and gives back
those that it could not begin within `HOLD`.
"""

from __future__ import annotations

from collections import deque

import attrs

from fxtrio.jobs.store import Claimed

AHEAD = 0.05
"""Claimed at most so long before they are expected to begin (seconds)."""

MOST = 256
"""Claimed at most before they begin (count)."""

HOLD = 0.25
"""After which a job that has not begun goes back to others (seconds)."""


@attrs.define(eq=False)
class Intake:
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

    def add(self, claimed: list[Claimed], asked: int, now: float) -> None:
        """Take what came of ``asked`` jobs."""
        self.waiting.extend(claimed)
        self._claimed_at = now
        self._ended = 0
        # Where fewer came there are no more, and it is time to look when all of them run.
        self._enough = len(self.waiting) // 2 if len(claimed) == asked else 0

    def end_one(self) -> bool:
        """Count a job that has ended; tell whether it is time to claim more."""
        self._ended += 1
        return len(self.waiting) <= self._enough

    def take_held(self, now: float) -> list[Claimed]:
        """Take away what has been held for too long."""
        if self._claimed_at is None or now - self._claimed_at < HOLD:
            return []
        return self.take_all()

    def take_all(self) -> list[Claimed]:
        """Take away everything."""
        taken = list(self.waiting)
        self.waiting.clear()
        return taken
