"""Enqueues scheduled jobs: each time once, whichever process comes first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import trio

from fxtrio.context import entered
from fxtrio.jobs.declared import Job
from fxtrio.jobs.store import JobStore


async def run_schedules(
    jobs: Iterable[Job[Any]],
    store: JobStore,
    app: Any,
    *,
    now: Callable[[], float],
    longest: float,
) -> None:
    """Enqueue each time of each schedule until cancelled.

    Of what came while no process ran, the last time is made up for. ``longest`` is the most
    to sleep at a time (seconds), since the clock of the machine may be set meanwhile.
    """
    plan = [job for job in jobs if job.schedule is not None]
    last = await store.ticks()
    began = now()
    for job in plan:
        assert job.schedule is not None
        missed = job.schedule.before(began)
        if job.name not in last:
            await store.tick(job.name, missed)  # it is new: nothing was missed
        elif last[job.name] < missed:
            await _tick(job, missed, store, app)
    while plan:
        moment = now()
        times = {job.name: job.schedule.after(began) for job in plan if job.schedule}
        tick = min(times.values())
        while moment < tick:
            await trio.sleep(min(tick - moment + 0.001, longest))
            moment = now()
        for job in plan:
            if times[job.name] == tick:
                await _tick(job, tick, store, app)
        began = tick
    await trio.sleep_forever()


async def _tick(job: Job[Any], tick: float, store: JobStore, app: Any) -> None:
    async with store.database.transaction():
        if await store.tick(job.name, tick):
            with entered(app):
                await job.enqueue()
