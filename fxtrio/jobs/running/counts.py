"""Statistics of a process about durable jobs."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class JobStatistics:
    """Statistics of a process about durable jobs (counts)."""

    running: int
    overdue: int
    """Have run out of time, and their threads go on."""

    done: int
    retried: int
    failed: int
    lost: int
    """Ended here after they had been reassigned to another process."""

    returned: int
    """Released at the shutdown, because the database was lost or full, or for other code."""
