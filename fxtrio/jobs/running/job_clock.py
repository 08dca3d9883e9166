"""The clock by which all processes of an app run its jobs: the database's. No I/O.

The clocks of machines differ, and are adjusted. Each process reads the server's clock and adds
the seconds of its own monotonic clock since then. A database file has the clock of its machine.
"""

from __future__ import annotations

import time

import attrs
import trio

SET_BACK = 5.0
"""A clock that lags its expected time by this much has been set back (seconds)."""


@attrs.define
class JobClock:
    """Seconds since 1970, as the database counts them."""

    offset: float
    """Difference to trio's clock (seconds)."""

    fixed: bool
    """Whether it follows trio's clock alone, not the database's: a server knows nothing of the
    seconds of a clock that jumps."""

    @classmethod
    def started(cls, *, fixed: bool = False) -> JobClock:
        """Return a clock that starts with the time of this machine."""
        return cls(time.time() - trio.current_time(), fixed)

    def now(self) -> float:
        """Return the time."""
        return self.offset + trio.current_time()

    def observe(self, read: float, requested_at: float) -> float:
        """Adopt the time ``read``, which was requested at trio's time ``requested_at``.

        It was read at some moment since then. The clock here is changed as little as possible,
        so that a slow response does not shift it. Returns by how much it was set back.
        """
        if self.fixed:
            return 0.0
        offset = min(max(self.offset, read - trio.current_time()), read - requested_at)
        behind, self.offset = self.offset - offset, offset
        return max(behind, 0.0)
