"""What a process has done with durable jobs."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class JobStatistics:
    """What a process has done with durable jobs (counts)."""

    running: int
    overdue: int
    """Have run out of time, and their threads go on."""

    done: int
    retried: int
    failed: int
    lost: int
    """Ended here after they had been given to somebody else."""

    returned: int
    """Given back at the shutdown, because the database was lost or full, or to other code."""
