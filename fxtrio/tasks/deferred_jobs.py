"""Background jobs that are held back until it is known whether what enqueued them counts.

An action that is a transaction may run again from its beginning; what an attempt has enqueued
that was in vain must not run.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import msgspec

from fxtrio.errors import TaskQueueError

log = logging.getLogger("fx.tasks")


class HeldJobs(msgspec.Struct, eq=False):
    """Jobs of one attempt, in the order in which they were enqueued."""

    jobs: list[Callable[[], None]] = msgspec.field(default_factory=list)
    """Each hands one over. As many as the queue has room for when they are enqueued."""

    open: bool = True
    """False once the attempt has ended: what it has started may go on, and holds nothing back."""

    def release(self) -> None:
        """Hand them over; one that the queue refuses by now is logged."""
        jobs, self.jobs = self.jobs, []
        for hand_over in jobs:
            try:
                hand_over()
            except TaskQueueError as error:
                log.error("A job was enqueued in a transaction, and is lost: %s", error)


holding: ContextVar[HeldJobs | None] = ContextVar("fx-held-jobs", default=None)
"""What holds back the jobs of the running code."""


@contextmanager
def hold_jobs() -> Iterator[HeldJobs]:
    """Hold back what the block enqueues, until `HeldJobs.release`."""
    held = HeldJobs()
    token = holding.set(held)
    try:
        yield held
    finally:
        held.open = False
        holding.reset(token)
