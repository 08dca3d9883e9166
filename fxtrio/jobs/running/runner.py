"""Runs durable jobs: claims what is due, runs it, writes what became of it.

All times come from `JobRunner.now`: the database's, or a test's. Statements are those of
`JobRunner.house`, which wait behind no request of the application.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from math import inf
from typing import Any

import attrs
import trio

from fxtrio.context import entered
from fxtrio.db.database import limited
from fxtrio.jobs.decorators import Job
from fxtrio.jobs.lanes import SUSPECT
from fxtrio.jobs.notifications import JobNews
from fxtrio.jobs.running.counts import JobStatistics
from fxtrio.jobs.running.execution import JobAttempts
from fxtrio.jobs.running.finished_jobs import Ended
from fxtrio.jobs.running.job_clock import JobClock
from fxtrio.jobs.running.prefetch import Intake
from fxtrio.jobs.running.purging import run_purge
from fxtrio.jobs.running.retry import surely
from fxtrio.jobs.running.schedule_runner import Schedules
from fxtrio.jobs.running.threads import OVERDUE, JobThreads
from fxtrio.jobs.running.workers import BEAT, Workers
from fxtrio.jobs.store import Claimed, Due, JobStore

_POLL = 5.0  # longest wait for news that did not come, in seconds
_WRITE = 0.02  # longest that a job that has ended is not written while others wait, in seconds
_LEAVING = 5.0  # for the last words to the database, and for threads to end, in seconds
_STATEMENT = 15.0  # for one of housekeeping, which is tried again, in seconds
_CLOCK = 60.0  # between two looks at the database's clock where no jobs run, in seconds

log = logging.getLogger("fx.jobs")


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

    keep_failed: float = inf
    """How long jobs that have failed stay in the table (seconds)."""

    app: Any = None
    """The app that they belong to, set by `open_jobs`."""

    house: JobStore = attrs.field(init=False)
    """`store` with a place in the database that requests cannot take, and a limit of time."""

    clock: JobClock = attrs.field(factory=JobClock.started)
    """By which it tells what is due."""

    _workers: Workers = attrs.field(init=False)
    _threads: JobThreads = attrs.field(init=False)
    _attempts: JobAttempts = attrs.field(init=False)
    _running: set[Claimed] = attrs.field(init=False, factory=set)
    _overdue: set[Claimed] = attrs.field(init=False, factory=set)
    """Whose threads go on without a place among the workers."""

    _waiting: Intake = attrs.field(init=False)
    _ended: Ended = attrs.field(init=False)
    _claiming: trio.Lock = attrs.field(init=False, factory=trio.Lock)
    """Held while an answer may name jobs that are this process's and not known to it yet."""

    _doubted: bool = attrs.field(init=False, default=False)
    """Whether a claim may have taken jobs though its answer never came."""

    _news: JobNews = attrs.field(init=False)
    _room: trio.Event = attrs.field(init=False, factory=trio.Event)
    _left: trio.Event = attrs.field(init=False, factory=trio.Event)
    _intake: trio.CancelScope = attrs.field(init=False, factory=trio.CancelScope)
    _counts: dict[str, int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        reserved = limited(self.store.database.reserve(), _STATEMENT)
        self.house = attrs.evolve(self.store, database=reserved)
        self._news = JobNews(self.house.database)
        self._workers = Workers(store=self.house, clock=self.clock, changed=self.tell)
        self._threads = JobThreads(self.workers)
        self._attempts = JobAttempts(
            self.store, self.house, self._threads, self.clock.now, self._release
        )
        self._waiting = Intake(self.workers)
        self._counts = dict.fromkeys(("done", "retried", "failed", "lost", "returned"), 0)
        self._ended = Ended(self.house, self.now, self._counts)

    def now(self) -> float:
        """Return the time of the database, in seconds since 1970."""
        return self.clock.now()

    def beat_age(self) -> float | None:
        """Return how long ago the database has heard of this process (seconds); None where no
        other one could."""
        if not self.workers or self.store.database.alone:
            return None
        return self._workers.beat_age

    def statistics(self) -> JobStatistics:
        """Return the present counts."""
        return JobStatistics(running=len(self._running), overdue=len(self._overdue), **self._counts)

    def wake(self) -> None:
        """Look for jobs now: something has changed."""
        self._news.wake()

    def tell(self) -> None:
        """Wake this process and the others."""
        self._news.tell()

    async def follow_clock(self) -> None:
        """Take over the time of the database."""
        await self._workers.look_at_clock()

    async def drain(self, timeout: float) -> None:
        """Take no more jobs, and wait for those that run, ``timeout`` seconds at most."""
        self._intake.cancel()
        with trio.move_on_after(timeout):
            while True:
                self._left = trio.Event()  # its own: the intake may be at its last round
                await surely(self._ended.write)
                await surely(self._give_back_waiting)  # a claim may have been under way
                if not self._running:
                    break
                await self._left.wait()

    async def run(self, nursery: trio.Nursery) -> None:
        """Run jobs in ``nursery`` until `drain`; a database that is away is waited for."""
        nursery.start_soon(self.announce)
        await surely(self._workers.begin)
        nursery.start_soon(surely, self._watch)  # until the last job has ended
        keep = {"done": self.keep, "failed": self.keep_failed}
        if not self.store.database.alone:
            nursery.start_soon(surely, partial(run_purge, self.house, keep, self.now))
        schedules = Schedules(
            jobs=[job for job in self.jobs.values() if job.schedule is not None],
            store=self.house,
            app=self.app,
            now=self.now,
            enqueued=self.tell,
            longest=self._longest,
        )
        with self._intake:
            async with trio.open_nursery() as tasks:
                tasks.start_soon(surely, partial(self._pump, nursery))
                tasks.start_soon(surely, schedules.run)
                tasks.start_soon(surely, self._news.listen)

    async def _pump(self, nursery: trio.Nursery) -> None:
        """Write what has ended, and take what is due: one statement each for many jobs."""
        try:
            more = True  # may be due
            looked = -inf
            while True:
                self._room = trio.Event()
                self._start_waiting(nursery)
                if self._doubted:
                    await self._give_back_unknown()
                await self._ended.write()
                if more and trio.current_time() - looked > BEAT and self._begins_soon():
                    looked = trio.current_time()  # where there is always more, nobody rests
                    due = await self.house.next_due(list(self.jobs), self.queues)
                    await self._take_suspect(due, nursery)
                if more:
                    more = await self._claim(nursery)
                if self._waiting.waiting:
                    with trio.move_on_after(_WRITE):
                        await self._room.wait()
                    await self._give_back(self._waiting.take_held(trio.current_time()))
                elif len(self._running) >= self.workers:
                    await self._room.wait()
                elif not more:
                    more = await self._rest(nursery)
        except Exception:
            self._doubted = True
            raise

    async def _claim(self, nursery: trio.Nursery) -> bool:
        """Take what is due; tell whether there may be more of it."""
        room = self._waiting.room(trio.current_time(), len(self._running))
        if room <= 0:
            return True
        async with self._claiming:
            claimed = await self._claim_some(room)
            self._waiting.add(claimed, room, trio.current_time())
        self._start_waiting(nursery)
        return len(claimed) == room

    async def _claim_some(self, most: int, *, suspects: bool = False) -> list[Claimed]:
        return await self.house.claim(
            self._workers.me, self.now(), list(self.jobs), self.queues, most, suspects=suspects
        )

    def _start_waiting(self, nursery: trio.Nursery) -> None:
        waiting = self._waiting.waiting
        while waiting and len(self._running) < self.workers and not self._intake.cancel_called:
            job = waiting.popleft()
            self._running.add(job)
            nursery.start_soon(self._work, job, nursery, name=f"fx.jobs.{job.name}")

    async def _rest(self, nursery: trio.Nursery) -> bool:
        """Wait until there is something to write, or to claim; tell whether that is due."""
        while not self._ended:
            self._news.arrived = trio.Event()
            due = await self.house.next_due(list(self.jobs), self.queues)
            await self._take_suspect(due, nursery)
            wait = inf if due.next is None else due.next - self.now()
            if wait <= 0:
                return True
            with trio.move_on_after(min(wait + 0.001, self._longest)):
                await self._news.arrived.wait()
            if self._doubted:
                break
        return False

    async def _take_suspect(self, due: Due, nursery: trio.Nursery) -> None:
        """Run one of the jobs that may have killed processes, and no second one beside it."""
        if due.suspect is None or due.suspect > self.now():
            return
        if any(job.crashes >= SUSPECT for job in (*self._running, *self._waiting.waiting)):
            return
        async with self._claiming:
            self._waiting.waiting.extendleft(await self._claim_some(1, suspects=True))
        self._start_waiting(nursery)

    def _begins_soon(self) -> bool:
        """Tell whether a job that is claimed now begins now, or as soon as a short one ends."""
        return bool(self._waiting.waiting) or len(self._running) < self.workers

    @property
    def _longest(self) -> float:
        """How long to trust that news come: for ever where nobody else can write."""
        return inf if self.store.database.alone else _POLL

    async def _give_back_unknown(self) -> None:
        """Give back what is this worker's by the table, and not known to it.

        A claim took it whose answer was lost with its connection; the server may have committed
        that much later.
        """
        async with self._claiming:
            self._doubted = False
            claimed = await self.house.claimed_by(self._workers.me)
            known = {
                job.id
                for job in (*self._running, *self._overdue, *self._waiting.waiting, *self._ended)
            }
            unknown = [number for number in claimed if number not in known]
            if unknown:
                self._counts["returned"] += await self.house.give_back(self._workers.me, unknown)
                self.tell()

    async def _give_back_waiting(self) -> None:
        await self._give_back(self._waiting.take_all())

    async def _give_back(self, jobs: list[Claimed]) -> None:
        if not jobs:
            return
        try:
            for worker in {job.worker for job in jobs}:
                own = [job.id for job in jobs if job.worker == worker]
                self._counts["returned"] += await self.house.give_back(worker, own)
        except BaseException:
            self._waiting.waiting.extend(jobs)
            raise
        self.tell()

    async def _work(self, job: Claimed, nursery: trio.Nursery) -> None:
        try:
            with entered(self.app, job.request_id):
                outcome = await self._attempts.run(self.jobs[job.name], job)
            if outcome == "ended":
                self._ended.add(job)
            else:
                self._counts[outcome] += 1
        finally:
            if job in self._overdue:
                self._overdue.remove(job)
            else:
                self._running.remove(job)
            self._left.set()
            if self._waiting.end_one():
                self._room.set()
                self._news.wake()
            self._start_waiting(nursery)

    def _release(self, job: Claimed) -> bool:
        """Give the place of a job to others whose thread goes on; False when too many do."""
        if len(self._overdue) >= OVERDUE:
            return False
        self._running.remove(job)
        self._overdue.add(job)
        self._left.set()
        self._room.set()
        self._news.wake()
        return True

    async def _watch(self) -> None:
        """Say that this worker lives, and give back the jobs of those that do not."""
        if self.store.database.alone:
            return
        while True:
            if not await self._workers.beat():  # what it runs is others' by now
                self._waiting.take_all()
            await self._give_back_unknown()
            await trio.sleep(BEAT)

    async def announce(self) -> None:
        """Tell other processes of jobs until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(surely, self._news.announce)
            if not self.workers:
                nursery.start_soon(surely, self._keep_following)

    async def _keep_following(self) -> None:
        while not self.clock.fixed:
            await trio.sleep(_CLOCK)
            await self.follow_clock()

    async def leave(self) -> None:
        """Write what has ended, and give back what has not."""
        with trio.move_on_after(_LEAVING):
            try:
                await self._ended.write()
                self._waiting.take_all()
                me, alive = self._workers.me, self._threads.alive()
                self._counts["returned"] += await self.house.give_back(me, but=alive)
                # Their threads end with the process, which takes a moment.
                later = self.now() + _LEAVING
                self._counts["returned"] += await self.house.give_back(me, until=later)
                await self.house.leave(me)
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
    await runner.follow_clock()
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
