"""Threads of jobs that are plain functions: dedicated, bounded, and tracked until they end.

A thread cannot be stopped. After a timeout it continues, and the job does not end before it:
else a retry would run concurrently. It hands its worker slot to another job, for at most
`OVERDUE` such threads; further ones keep their slots.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
import trio

OVERDUE = 16
"""Threads that may go on without a place among the workers after their job's timeout (count)."""


@attrs.define(eq=False)
class JobThread:
    """The thread of one attempt.

    It implements trio's limiter, which is called before the thread starts and after its end.
    """

    _limiter: trio.CapacityLimiter
    _began: bool = attrs.field(init=False, default=False)
    ended: trio.Event = attrs.field(init=False, factory=trio.Event)

    @property
    def goes_on(self) -> bool:
        """Whether it has begun and not ended."""
        return self._began and not self.ended.is_set()

    async def acquire_on_behalf_of(self, borrower: object) -> None:
        """Wait for a slot; called by trio right before the thread starts."""
        await self._limiter.acquire_on_behalf_of(borrower)
        self._began = True

    def release_on_behalf_of(self, borrower: object) -> None:
        """Give the place back; called by trio when the thread has ended."""
        self._limiter.release_on_behalf_of(borrower)
        self.ended.set()


@attrs.define(eq=False)
class JobThreads:
    """The threads of a process."""

    workers: int
    limiter: trio.CapacityLimiter = attrs.field(init=False)
    _alive: dict[int, JobThread] = attrs.field(init=False, factory=dict)
    """By the number of their job."""

    def __attrs_post_init__(self) -> None:
        self.limiter = trio.CapacityLimiter(max(1, self.workers) + OVERDUE)

    async def run(self, job: int, work: Callable[[], object]) -> None:
        """Call ``work`` for a job in a thread."""
        thread = self._alive[job] = JobThread(self.limiter)

        def call() -> None:
            work()  # the result is dropped: trio would reject a coroutine

        try:
            await trio.to_thread.run_sync(
                call,
                limiter=thread,  # type: ignore[arg-type]  # all that trio uses of it
                abandon_on_cancel=True,
            )
        finally:
            if not thread.goes_on:
                del self._alive[job]

    def left(self, job: int) -> JobThread | None:
        """Return the thread of a job that continues after its timeout."""
        return self._alive.get(job)

    def forget(self, job: int) -> None:
        """Take a thread that has ended out of the list."""
        self._alive.pop(job, None)

    def alive(self) -> list[int]:
        """Return the jobs whose threads go on."""
        return [job for job, thread in self._alive.items() if thread.goes_on]
