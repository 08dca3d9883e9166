"""Enqueues scheduled jobs: each time once, by whichever process is first."""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

import attrs
import trio

from fxtrio.callables import contain
from fxtrio.context import entered
from fxtrio.jobs.decorators import Job
from fxtrio.jobs.running.job_clock import SET_BACK
from fxtrio.jobs.store import JobStore
from fxtrio.tracebacks import trimmed

_TOGETHER = 100
"""Schedules whose jobs are enqueued in one transaction (count)."""

_TURN = 50
"""Schedules whose times are computed before others have a turn, some milliseconds (count)."""

log = logging.getLogger("fx.jobs")


@attrs.define(eq=False, kw_only=True)
class Schedules:
    """The schedules of a process. Of the times that were missed, the last one is run."""

    jobs: Sequence[Job[Any]]
    """Each has a schedule."""

    store: JobStore
    app: Any
    now: Callable[[], float]
    enqueued: Callable[[], None]
    longest: float
    """The most to sleep at a time, since the clock may be set meanwhile (seconds)."""

    _coming: list[tuple[float, int]] = attrs.field(init=False, factory=list)
    """A heap of times and numbers of jobs, whose next time each is."""

    async def run(self) -> None:
        """Enqueue each time of each schedule until cancelled."""
        while self.jobs:
            await self._plan()
            await self._follow()
        await trio.sleep_forever()

    async def _plan(self) -> None:
        """Find the next time of each, and enqueue missed ones."""
        last = await self.store.ticks()
        began = self.now()
        new = {job.name: began for job in self.jobs if job.name not in last}  # missed nothing
        for names in _batches(new):
            await self.store.tick(dict.fromkeys(names, began))
        self._coming, missed = [], []
        for number, job in enumerate(self.jobs):
            if number % _TURN == 0:
                await trio.lowlevel.checkpoint()
            assert job.schedule is not None
            recorded = last.get(job.name, began)
            coming = job.schedule.after(min(recorded, began))
            if coming <= began:
                missed.append((max(coming, job.schedule.before(began)), number))
                coming = job.schedule.after(began)
            elif recorded > coming:
                await self._rewind(job, recorded, coming, began)
            self._coming.append((coming, number))
        heapq.heapify(self._coming)
        await self._enqueue(missed)

    async def _rewind(self, job: Job[Any], recorded: float, coming: float, now: float) -> None:
        """Let a schedule go on whose recorded time is far ahead: the clock has been set back.

        Where its next time alone is recorded it is not run twice.
        """
        assert job.schedule is not None
        beyond = job.schedule.after(coming)
        if recorded > beyond:
            await self.store.rewind(job.name, now, beyond)

    async def _follow(self) -> None:
        """Enqueue jobs at their times, until the clock is set back."""
        moment = self.now()
        while True:
            due: list[tuple[float, int]] = []
            while self._coming[0][0] <= moment:
                tick, number = heapq.heappop(self._coming)
                due.append((tick, number))
                schedule = self.jobs[number].schedule
                assert schedule is not None
                heapq.heappush(self._coming, (schedule.after(tick), number))
                if len(due) % _TURN == 0:
                    await trio.lowlevel.checkpoint()
            await self._enqueue(due)
            before, moment = moment, self.now()
            if moment < self._coming[0][0]:
                await trio.sleep(min(self._coming[0][0] - moment + 0.001, self.longest))
                moment = self.now()
            if moment < before - SET_BACK:
                return

    async def _enqueue(self, due: Sequence[tuple[float, int]]) -> None:
        """Record times, and enqueue the jobs of those that no other process has recorded."""
        for some in _batches(due):
            ticks: dict[str, float] = {}
            for tick, number in some:
                ticks[self.jobs[number].name] = tick  # the last one of each
            rows = {}
            for _, number in some:
                job = self.jobs[number]
                row = await self._row(job)
                if row is not None:
                    rows[job.name] = row
            async with self.store.database.transaction():
                first = await self.store.tick(ticks)
                for name in first & rows.keys():
                    await self.store.add(**rows[name], after=self.enqueued)

    async def _row(self, job: Job[Any]) -> dict[str, Any] | None:
        """Return the row of a job; log and return None if ``unique`` fails."""
        row: dict[str, Any] = {}

        async def make() -> None:
            with entered(self.app):
                row.update(job.row((), {}, now=self.now()))

        error = await contain(make)
        if error is not None:
            log.error("@every: %s was not enqueued", job.name, exc_info=trimmed(error))
            return None
        return row


def _batches(values: Iterable[Any]) -> Iterable[list[Any]]:
    rest = iter(values)
    while batch := list(islice(rest, _TOGETHER)):
        yield batch
