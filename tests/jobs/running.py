"""A process that runs jobs, without an app around it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import trio
from trio.testing import MockClock

from fxtrio.context import entered
from fxtrio.db import Database
from fxtrio.jobs import Job, JobRunner, open_jobs
from fxtrio.jobs.running.job_clock import JobClock
from fxtrio.jobs.store import JobStore
from fxtrio.spans import Listener, Spans


@asynccontextmanager
async def running(
    database: Database,
    *jobs: Job[Any],
    workers: int = 4,
    queues: tuple[str, ...] = (),
    drain: float = 10,
    store: type[JobStore] = JobStore,
    listeners: Sequence[Listener] = (),
) -> AsyncIterator[JobRunner]:
    """Run ``jobs`` for the length of the block, whose code may enqueue them."""
    runner = JobRunner(
        store=store(database),
        jobs={job.name: job for job in jobs},
        workers=workers,
        queues=queues,
        keep=3600,
        clock=JobClock.started(fixed=isinstance(trio.lowlevel.current_clock(), MockClock)),
    )
    app = SimpleNamespace(jobs=runner, database=database, spans=Spans())
    for listener in listeners:
        app.spans.add(listener)
    async with open_jobs(runner, app):
        with entered(app, "0123"):
            yield runner
        await runner.drain(drain)


async def rows(database: Database, columns: str = "state") -> list[Any]:
    """Return the jobs of the table by number: values of one column, or dicts of more."""
    found = await database.all(dict, f"select {columns} from fx_jobs order by id")
    return [row.get(columns, row) for row in found]
