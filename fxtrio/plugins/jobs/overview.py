"""A snapshot of durable jobs. Times are seconds since 1970."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from fxtrio.jobs import Job
from fxtrio.jobs.admin import count_jobs, list_failures, list_jobs, list_paused, list_workers
from fxtrio.jobs.store import JobStore

FAILURES = 50
"""Limit of listed failed jobs (count)."""

JOBS = 50
"""Limit of listed other jobs (count)."""


@attrs.frozen
class JobGroup:
    """The jobs of one name in one queue."""

    queue: str
    name: str
    counts: dict[str, int]
    """How many there are in each state."""

    due: float | None
    """When the next one that waits may run."""


@attrs.frozen
class ScheduleLine:
    """A schedule, and its times."""

    name: str
    times: str
    zone: str
    last: float | None
    next: float


@attrs.frozen
class Overview:
    """The data of the page. Rows are dicts by the columns of the tables."""

    now: float
    groups: list[JobGroup]
    failures: list[dict[str, Any]]
    jobs: list[dict[str, Any]]
    """Those that wait or run, the newest first."""

    schedules: list[ScheduleLine]
    workers: list[dict[str, Any]]
    paused: dict[str, float]
    """The queues that are paused, and since when."""

    def total(self, state: str) -> int:
        """Return how many jobs are in a state."""
        return sum(group.counts.get(state, 0) for group in self.groups)


async def read_overview(store: JobStore, declared: Iterable[Job[Any]], now: float) -> Overview:
    """Ask the database. ``declared`` are the jobs of this process."""
    ticks = await store.ticks()
    schedules = [
        ScheduleLine(
            name=job.name,
            times=job.schedule.times,
            zone=job.schedule.zone.key,
            last=ticks.get(job.name),
            next=job.schedule.after(now),
        )
        for job in declared
        if job.schedule is not None
    ]
    waiting = await list_jobs(store, state="waiting", queue=None, most=JOBS)
    running = await list_jobs(store, state="running", queue=None, most=JOBS)
    return Overview(
        now=now,
        groups=_grouped(await count_jobs(store)),
        failures=await list_failures(store, FAILURES),
        jobs=running + waiting,
        schedules=sorted(schedules, key=lambda line: line.next),
        workers=await list_workers(store),
        paused=await list_paused(store),
    )


def _grouped(counts: Iterable[dict[str, Any]]) -> list[JobGroup]:
    groups: dict[tuple[str, str], JobGroup] = {}
    for row in counts:
        key = (row["queue"], row["name"])
        group = groups.setdefault(key, JobGroup(*key, {}, None))
        group.counts[row["state"]] = row["jobs"]
        if row["state"] == "waiting":
            groups[key] = attrs.evolve(group, due=row["due"])
    return list(groups.values())
