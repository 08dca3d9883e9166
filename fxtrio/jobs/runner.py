"""Runs durable jobs: claims what is due, runs it, writes what became of it.

All times come from `JobRunner.now`, which follows trio's clock where that is a test's.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from math import inf
from typing import Any

import attrs
import trio

from fxtrio.context import entered
from fxtrio.identity import is_dead, new_identity
from fxtrio.jobs.attempt import attempt
from fxtrio.jobs.declared import Job
from fxtrio.jobs.intake import Intake
from fxtrio.jobs.store import SUSPECT, Claimed, Due, JobStore
from fxtrio.jobs.surely import surely
from fxtrio.jobs.ticking import run_schedules

LEASE = 15.0
"""A worker that has not been seen for so long is dead, wherever it was (seconds)."""

CHANNEL = "fx_jobs"
_BEAT = 1.0  # between two looks at the other workers, in seconds
_POLL = 5.0  # longest wait for news that did not come, in seconds
_PURGE = 3600.0
_WRITE = 0.02  # longest that a job that has ended is not written while others wait, in seconds
_DOUBT = 2.0  # for a server to end what it worked at when a connection was lost, in seconds
_QUIET = 0.005  # between two calls to other processes, in seconds
_LEAVING = 5.0  # for the last words to the database, in seconds

log = logging.getLogger("fx.jobs")


@attrs.frozen(kw_only=True)
class JobStatistics:
    """What a process has done with durable jobs (counts)."""

    running: int
    done: int
    retried: int
    failed: int
    lost: int
    """Ended here after they had been given to somebody else."""

    returned: int
    """Given back at the shutdown, or because the database was lost."""


@attrs.define(eq=False, kw_only=True)
class JobRunner:
    """Runs jobs of one process. Made by `open_jobs`."""

    store: JobStore
    jobs: dict[str, Job[Any]]
    """What this process can run, by name."""

    workers: int
    """How many run at a time; without any they can be enqueued, and nothing else (count)."""

    queues: tuple[str, ...]
    """Those from which this process takes jobs; empty for all."""

    keep: float
    """How long jobs that are done stay in the table (seconds)."""

    app: Any = None
    """The app that they belong to, set by `open_jobs`."""

    _offset: float | None = attrs.field(init=False)
    _me: str = attrs.field(init=False, factory=new_identity)
    _running: set[Claimed] = attrs.field(init=False, factory=set)
    _waiting: Intake = attrs.field(init=False)
    _ended: list[Claimed] = attrs.field(init=False, factory=list)
    _doubted: float | None = attrs.field(init=False, default=None)
    """Since when it is unknown what a claim has done whose answer never came."""

    _news: trio.Event = attrs.field(init=False, factory=trio.Event)
    _room: trio.Event = attrs.field(init=False, factory=trio.Event)
    _left: trio.Event = attrs.field(init=False, factory=trio.Event)
    _untold: trio.Event = attrs.field(init=False, factory=trio.Event)
    _intake: trio.CancelScope = attrs.field(init=False, factory=trio.CancelScope)
    _counts: dict[str, int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        # A clock that can jump is a test's: its seconds count from now on.
        jumps = hasattr(trio.lowlevel.current_clock(), "jump")
        self._offset = time.time() - trio.current_time() if jumps else None
        self._waiting = Intake(self.workers)
        self._counts = dict.fromkeys(("done", "retried", "failed", "lost", "returned"), 0)

    def now(self) -> float:
        """Return the time, in seconds since 1970."""
        return time.time() if self._offset is None else self._offset + trio.current_time()

    def statistics(self) -> JobStatistics:
        """Return the present counts."""
        return JobStatistics(running=len(self._running), **self._counts)

    def wake(self) -> None:
        """Look for jobs now: something has changed."""
        self._news.set()

    def tell(self) -> None:
        """Wake this process and the others."""
        self._news.set()
        self._untold.set()

    async def drain(self, timeout: float) -> None:
        """Take no more jobs, and wait for those that run, ``timeout`` seconds at most."""
        self._intake.cancel()
        with trio.move_on_after(timeout):
            while True:
                self._left = trio.Event()  # its own: the intake may be at its last round
                await surely(self._flush)
                await surely(self._give_back_waiting)  # a claim may have been under way
                if not self._running:
                    break
                await self._left.wait()

    async def run(self, nursery: trio.Nursery) -> None:
        """Run jobs in ``nursery`` until `drain`; a database that is away is waited for."""
        nursery.start_soon(self.announce)
        await surely(self._begin)
        nursery.start_soon(surely, self._watch)  # until the last job has ended
        schedules = partial(
            run_schedules,
            list(self.jobs.values()),
            self.store,
            self.app,
            now=self.now,
            longest=self._longest,
        )
        with self._intake:
            async with trio.open_nursery() as tasks:
                tasks.start_soon(surely, partial(self._pump, nursery))
                tasks.start_soon(surely, schedules)
                tasks.start_soon(surely, self._listen)

    async def _begin(self) -> None:
        await self.store.beat(self._me, self.now(), first=True)
        await self._bury()

    async def _pump(self, nursery: trio.Nursery) -> None:
        """Write what has ended, and take what is due: one statement each for many jobs."""
        try:
            more = True  # may be due
            looked = -inf
            while True:
                self._room = trio.Event()
                await self._settle_doubt()
                await self._flush()
                if more and trio.current_time() - looked > _BEAT and self._begins_soon():
                    looked = trio.current_time()  # where there is always more, nobody rests
                    due = await self.store.next_due(list(self.jobs), self.queues)
                    await self._take_suspect(due, nursery)
                if more:
                    more = await self._claim(nursery)
                if self._waiting.waiting:
                    with trio.move_on_after(_WRITE):
                        await self._room.wait()
                    await self._give_back_held()
                elif len(self._running) >= self.workers:
                    await self._room.wait()
                elif not more:
                    more = await self._rest(nursery)
        except Exception:
            self._doubted = trio.current_time()
            raise

    async def _claim(self, nursery: trio.Nursery) -> bool:
        """Take what is due; tell whether there may be more of it."""
        asked = self._waiting.room(trio.current_time(), len(self._running))
        if asked <= 0:
            return True
        claimed = await self.store.claim(self._me, self.now(), list(self.jobs), self.queues, asked)
        self._waiting.add(claimed, asked, trio.current_time())
        self._start_waiting(nursery)
        return len(claimed) == asked

    def _start_waiting(self, nursery: trio.Nursery) -> None:
        waiting = self._waiting.waiting
        while waiting and len(self._running) < self.workers and not self._intake.cancel_called:
            job = waiting.popleft()
            self._running.add(job)
            nursery.start_soon(self._work, job, nursery, name=f"fx.jobs.{job.name}")

    async def _rest(self, nursery: trio.Nursery) -> bool:
        """Wait until there is something to write, or to claim; tell whether that is due."""
        while not self._ended:
            self._news = trio.Event()
            due = await self.store.next_due(list(self.jobs), self.queues)
            await self._take_suspect(due, nursery)
            wait = inf if due.next is None else due.next - self.now()
            if wait <= 0:
                return True
            with trio.move_on_after(min(wait + 0.001, self._longest)):
                await self._news.wait()
            if self._doubted is not None:
                break
        return False

    async def _take_suspect(self, due: Due, nursery: trio.Nursery) -> None:
        """Run one of the jobs that may have killed processes, and no second one beside it."""
        if due.suspect is None or due.suspect > self.now():
            return
        if any(job.crashes >= SUSPECT for job in (*self._running, *self._waiting.waiting)):
            return
        claimed = await self.store.claim(
            self._me, self.now(), list(self.jobs), self.queues, 1, suspects=True
        )
        self._waiting.waiting.extendleft(claimed)
        self._start_waiting(nursery)

    def _begins_soon(self) -> bool:
        """Tell whether a job that is claimed now begins now, or as soon as a short one ends."""
        return bool(self._waiting.waiting) or len(self._running) < self.workers

    @property
    def _longest(self) -> float:
        """How long to trust that news come: for ever where nobody else can write."""
        return inf if self.store.database.alone else _POLL

    async def _settle_doubt(self) -> None:
        """Give back what a claim took whose answer was lost with its connection."""
        if self._doubted is not None:
            known = [*self._running, *self._waiting.waiting, *self._ended]
            await self.store.give_back(self._me, but=[job.id for job in known])
            # Once more a moment later: a server may work at it still.
            if trio.current_time() > self._doubted + _DOUBT:
                self._doubted = None

    async def _give_back_held(self) -> None:
        held = self._waiting.take_held(trio.current_time())
        await self._give_back(held)

    async def _give_back_waiting(self) -> None:
        await self._give_back(self._waiting.take_all())

    async def _give_back(self, jobs: list[Claimed]) -> None:
        if not jobs:
            return
        try:
            for worker in {job.worker for job in jobs}:
                own = [job.id for job in jobs if job.worker == worker]
                self._counts["returned"] += await self.store.give_back(worker, own)
        except BaseException:
            self._waiting.waiting.extend(jobs)
            raise
        self.tell()

    async def _flush(self) -> None:
        ended, self._ended = self._ended, []
        for worker in {job.worker for job in ended}:
            own = [job.id for job in ended if job.worker == worker]
            try:
                kept = await self.store.finish(worker, own, self.now())
            except BaseException:
                self._ended += ended
                raise
            self._counts["done"] += kept
            self._counts["lost"] += len(own) - kept

    async def _work(self, job: Claimed, nursery: trio.Nursery) -> None:
        try:
            with entered(self.app, job.request_id):
                outcome = await attempt(self.jobs[job.name], job, self.store, self.now)
            if outcome == "ended":
                self._ended.append(job)
            else:
                self._counts[outcome] += 1
        finally:
            self._running.remove(job)
            self._left.set()
            if self._waiting.end_one():
                self._room.set()
                self._news.set()
            self._start_waiting(nursery)

    async def _watch(self) -> None:
        """Say that this worker lives, and give back the jobs of those that do not."""
        if self.store.database.alone:
            return
        purged = -inf
        while True:
            if not await self.store.beat(self._me, self.now()):
                # Given up by others while it was away: what it runs is theirs.
                self._me = new_identity()
                self._waiting.take_all()
                await self.store.beat(self._me, self.now(), first=True)
            await self._bury()
            if self.now() - purged > _PURGE:
                purged = self.now()
                await self.store.purge(purged - self.keep)
            await trio.sleep(_BEAT)

    async def _bury(self) -> None:
        now = self.now()
        seen = await self.store.workers()
        dead = [
            worker
            for worker, at in seen.items()
            if worker != self._me and (at < now - LEASE or is_dead(worker))
        ]
        if dead and await self.store.bury(dead, now):
            self.tell()

    async def _listen(self) -> None:
        await self.store.database.listen(CHANNEL, self.wake)

    async def announce(self) -> None:
        """Tell other processes of jobs until cancelled."""
        await surely(self._announce)

    async def _announce(self) -> None:
        """Do so once for all that was enqueued since the last time."""
        while True:
            await self._untold.wait()
            self._untold = trio.Event()
            await self.store.database.notify(CHANNEL)
            await trio.sleep(_QUIET)

    async def leave(self) -> None:
        """Write what has ended, and give back what has not."""
        with trio.move_on_after(_LEAVING):
            try:
                await self._flush()
                self._waiting.take_all()
                self._counts["returned"] += await self.store.give_back(self._me)
                await self.store.leave(self._me)
            except Exception as error:
                log.warning("jobs: could not give back what runs, others will take it: %s", error)


@asynccontextmanager
async def open_jobs(runner: JobRunner | None, app: Any) -> AsyncIterator[None]:
    """Run the jobs of ``app``, if it has any, for as long as the block lasts.

    What still runs when it ends is cancelled and given back; `JobRunner.drain` before that
    lets it finish.
    """
    if runner is None:
        yield
        return
    runner.app = app
    await runner.store.prepare()
    try:
        async with trio.open_nursery() as nursery:
            if runner.workers:
                nursery.start_soon(runner.run, nursery)
            else:
                nursery.start_soon(runner.announce)
            try:
                yield
            finally:
                nursery.cancel_scope.cancel()
    finally:
        if runner.workers:
            with trio.CancelScope(shield=True):
                await runner.leave()
