"""Jobs that have ended, until the database knows: many are written by one statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs
import trio

from fxtrio.jobs.store import Claimed, JobStore


@attrs.define(eq=False)
class Ended:
    """Those of a process."""

    _store: JobStore
    _now: Callable[[], float]
    _counts: dict[str, int]
    """Of the written jobs, ``done`` counts those still owned by this process, ``lost`` the rest."""

    _jobs: list[Claimed] = attrs.field(init=False, factory=list)
    _uncertain: set[Claimed] = attrs.field(init=False, factory=set)
    """Those of a statement that failed: the server may have committed it all the same."""

    _writing: trio.Lock = attrs.field(init=False, factory=trio.Lock)

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __iter__(self) -> Iterator[Claimed]:
        return iter(self._jobs)

    def add(self, job: Claimed) -> None:
        """Let a job be written with the next ones."""
        self._jobs.append(job)

    async def write(self) -> None:
        """Write all; a concurrent caller waits, and finds them written.

        Each is counted once, and remains here until its statement has succeeded.
        """
        async with self._writing:
            while self._jobs:
                worker = self._jobs[0].worker
                own = {job for job in self._jobs if job.worker == worker}
                written = await self._finish(worker, own)
                self._jobs = [job for job in self._jobs if job not in own]  # more have come
                self._uncertain -= own
                self._counts["done"] += written
                self._counts["lost"] += len(own) - written

    async def _finish(self, worker: str, own: set[Claimed]) -> int:
        """Write jobs of ``worker``; return how many were still its own."""
        ids = [job.id for job in own]
        uncertain = not self._uncertain.isdisjoint(own)
        self._uncertain |= own  # until there is an answer: also when this task is cancelled here
        written = await self._store.finish(worker, ids, self._now())
        # After a commit whose answer was lost the statement finds nothing more to write, as it
        # does for jobs that others have taken over: only the table tells them apart.
        return await self._store.count_done(worker, ids) if uncertain else written
