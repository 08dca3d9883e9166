"""The jobs that are this process's by the table: claimed, running, or ended and not written yet.

A claim is a statement, and so is everything that ends one: the answer of either may be lost. So
the process looks at the table again after an error (`Claims.give_back_unknown`), and each job is
counted once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs
import trio

from fxtrio.jobs.lanes import SUSPECT
from fxtrio.jobs.running.prefetch import Prefetch
from fxtrio.jobs.store import Claimed, Due, JobStore


@attrs.define(eq=False, kw_only=True)
class Claims:
    """The claims of a process. Created by `JobRunner`."""

    store: JobStore
    """With reserved connections."""

    jobs: Mapping[str, object]
    """What this process can run, by name. Modules that are imported later add to it."""

    queues: Sequence[str]
    """Those from which it takes jobs; empty for all."""

    worker: Callable[[], str]
    """As whom it claims: `Workers.me`."""

    now: Callable[[], float]
    """The time of the database, in seconds since 1970."""

    returned: Callable[[], None]
    """Called when jobs that others may claim have been given back."""

    prefetch: Prefetch
    running: set[Claimed] = attrs.field(init=False, factory=set)
    overdue: set[Claimed] = attrs.field(init=False, factory=set)
    """Those whose threads go on without a place among the workers."""

    counts: dict[str, int] = attrs.field(init=False)
    """Of outcomes, by their names in `JobStatistics`."""

    in_doubt: bool = attrs.field(init=False, default=False)
    """Whether a claim may have taken jobs though its answer never came."""

    _ended: list[Claimed] = attrs.field(init=False, factory=list)
    _uncertain: set[Claimed] = attrs.field(init=False, factory=set)
    """Those of a statement that failed: the server may have committed it all the same."""

    _claiming: trio.Lock = attrs.field(init=False, factory=trio.Lock)
    """Held while an answer may name jobs that are this process's and not known to it yet."""

    _writing: trio.Lock = attrs.field(init=False, factory=trio.Lock)

    def __attrs_post_init__(self) -> None:
        self.counts = dict.fromkeys(("done", "retried", "failed", "lost", "returned"), 0)

    @property
    def has_results(self) -> bool:
        """Whether jobs have ended whose results `write` would store."""
        return bool(self._ended)

    async def claim(self) -> bool:
        """Claim due jobs, as far as there is room; return whether more may be due."""
        room = self.prefetch.room(trio.current_time(), len(self.running))
        if room <= 0:
            return True
        async with self._claiming:
            claimed = await self._claim(room)
            self.prefetch.add(claimed, room, trio.current_time())
        return len(claimed) == room

    async def next_due(self) -> Due:
        """Return when the next jobs are due that this process could claim."""
        return await self.store.next_due(list(self.jobs), self.queues)

    async def claim_suspect(self, due: Due) -> None:
        """Claim one of the jobs that may have killed processes, and no second one beside it."""
        if due.suspect is None or due.suspect > self.now():
            return
        if any(job.crashes >= SUSPECT for job in (*self.running, *self.prefetch.waiting)):
            return
        async with self._claiming:
            # In front of the others: while it waits, no other suspect is claimed.
            self.prefetch.waiting.extendleft(await self._claim(1, suspects=True))

    async def _claim(self, most: int, *, suspects: bool = False) -> list[Claimed]:
        return await self.store.claim(
            self.worker(), self.now(), list(self.jobs), self.queues, most, suspects=suspects
        )

    def end(self, job: Claimed, outcome: str) -> None:
        """Count the outcome of a job; one that has only ended is written by the next `write`."""
        if outcome == "ended":
            self._ended.append(job)
        else:
            self.counts[outcome] += 1

    def discard(self, job: Claimed) -> None:
        """Take a job whose attempt is over out of those that run."""
        self.running.discard(job)
        self.overdue.discard(job)

    async def write(self) -> None:
        """Write the jobs that have ended, many by one statement.

        A concurrent caller waits, and finds them written. Each is counted once, and remains here
        until its statement has succeeded: as ``done`` if it was still this process's, else as
        ``lost``.
        """
        async with self._writing:
            while self._ended:
                # One that others have declared dead goes on under a new name. The table has what it
                # claimed before under the old one, if no other has it by now.
                worker = self._ended[0].worker
                own = {job for job in self._ended if job.worker == worker}
                written = await self._finish(worker, own)
                self._ended = [job for job in self._ended if job not in own]  # more have come
                self._uncertain -= own
                self.counts["done"] += written
                self.counts["lost"] += len(own) - written

    async def _finish(self, worker: str, own: set[Claimed]) -> int:
        """Write jobs of ``worker``; return how many were still its own."""
        ids = [job.id for job in own]
        uncertain = not self._uncertain.isdisjoint(own)
        self._uncertain |= own  # until there is an answer: also when this task is cancelled here
        written = await self.store.finish(worker, ids, self.now())
        # After a commit whose answer was lost the statement finds nothing more to write, as it
        # does for jobs that others have taken over: only the table tells them apart.
        return await self.store.count_done(worker, ids) if uncertain else written

    async def give_back_unknown(self) -> dict[str, float]:
        """Release jobs that the table assigns to this worker, and that it does not know.

        A claim took it whose answer was lost with its connection; the server may have committed
        that much later. Returns when each worker was seen last, which is asked with it.
        """
        async with self._claiming:
            seen, claimed = await self.store.look(self.worker())
            self.in_doubt = False
            known = {
                job.id
                for job in (*self.running, *self.overdue, *self.prefetch.waiting, *self._ended)
            }
            unknown = [number for number in claimed if number not in known]
            if unknown:
                self.counts["returned"] += await self.store.give_back(self.worker(), unknown)
                self.returned()
        return seen

    async def give_back_held(self) -> None:
        """Give back the claimed jobs that could not begin for too long."""
        await self._give_back(self.prefetch.take_held(trio.current_time()))

    async def give_back_waiting(self) -> None:
        """Give back the claimed jobs that have not begun."""
        await self._give_back(self.prefetch.take_all())

    async def _give_back(self, jobs: list[Claimed]) -> None:
        if not jobs:
            return
        try:
            for worker in {job.worker for job in jobs}:
                own = [job.id for job in jobs if job.worker == worker]
                self.counts["returned"] += await self.store.give_back(worker, own)
        except BaseException:  # a cancellation, too: by the table they may still be this worker's
            self.prefetch.waiting.extend(jobs)
            raise
        self.returned()

    async def leave(self, *, alive: Sequence[int], later: float) -> None:
        """Write what has ended, give back everything else, and leave the list of workers.

        The jobs ``alive`` have threads that end with the process: they are due ``later`` at the
        earliest (seconds since 1970).
        """
        await self.write()
        # By the table, which has them, they are given back below with those that run.
        self.prefetch.take_all()
        me = self.worker()
        self.counts["returned"] += await self.store.give_back(me, but=alive)
        if alive:
            self.counts["returned"] += await self.store.give_back(me, until=later)
        await self.store.leave(me)
