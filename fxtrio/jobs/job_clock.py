"""The time by which all processes of an app run its jobs: the database's. No I/O.

The clocks of machines differ, and are set. Each process follows the clock of the server by the
seconds that have passed here since it was asked, which nobody sets. A file has the clock of its
machine.
"""

from __future__ import annotations

import time

import attrs
import trio

SET_BACK = 5.0
"""A clock that is so far behind what was expected has been set back (seconds)."""


@attrs.define
class JobClock:
    """Seconds since 1970, as the database counts them."""

    offset: float
    """What trio's clock lacks (seconds)."""

    fixed: bool
    """Whether it goes by trio's clock alone, and follows no database: who runs jobs on a clock
    that jumps wants its seconds, of which a server knows nothing."""

    @classmethod
    def started(cls, *, fixed: bool = False) -> JobClock:
        """Return a clock that begins with the time of this machine."""
        return cls(time.time() - trio.current_time(), fixed)

    def now(self) -> float:
        """Return the time."""
        return self.offset + trio.current_time()

    def observe(self, read: float, asked: float) -> float:
        """Take over the time ``read``, which was asked for when trio's clock showed ``asked``.

        It was read at some moment since then: the clock here changes by no more than it must,
        so that a slow answer does not move it. Return by how much it was set back.
        """
        if self.fixed:
            return 0.0
        offset = min(max(self.offset, read - trio.current_time()), read - asked)
        behind, self.offset = self.offset - offset, offset
        return max(behind, 0.0)
