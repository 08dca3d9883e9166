"""Runs durable jobs: claims due ones, runs them, writes their outcomes.

One task, `JobRunner._claim_and_write`, makes the statements for all jobs; each job runs in a task
of its own. `claims` knows which jobs are this process's, and `execution` runs one attempt.

All times come from `JobRunner.now`: the database's, or a test's. Statements are those of
`JobRunner.reserved`, which wait behind no request of the application.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from functools import partial
from math import inf
from typing import Any

import attrs
import trio

from fxtrio.context import entered
from fxtrio.db.database import limited
from fxtrio.jobs.decorators import Job
from fxtrio.jobs.notifications import JobNotifications
from fxtrio.jobs.running.claims import Claims
from fxtrio.jobs.running.execution import JobAttempts, retry_until_done
from fxtrio.jobs.running.job_clock import JobClock
from fxtrio.jobs.running.prefetch import Prefetch
from fxtrio.jobs.running.schedule_runner import Schedules
from fxtrio.jobs.running.threads import OVERDUE, JobThreads
from fxtrio.jobs.running.workers import BEAT, LOOK, Workers
from fxtrio.jobs.store import PURGED, Claimed, JobStore
from fxtrio.requester import decode_requester

_POLL = 5.0  # longest wait for a notification that did not come, in seconds
_WRITE = 0.02  # longest that a job that has ended is not written while others wait, in seconds
_LEAVING = 5.0  # for the last words to the database, and for threads to end, in seconds
_STATEMENT = 15.0  # for one of housekeeping, which is tried again, in seconds
_CLOCK = 60.0  # between two looks at the database's clock where no jobs run, in seconds

log = logging.getLogger("fx.jobs")


@attrs.frozen(kw_only=True)
class JobStatistics:
    """Statistics of a process about durable jobs (counts)."""

    running: int
    overdue: int
    """Have run out of time, and their threads go on."""

    done: int
    retried: int
    failed: int
    lost: int
    """Ended here after they had been reassigned to another process."""

    returned: int
    """Released at the shutdown, because the database was lost or full, or for other code."""


@attrs.define(eq=False, kw_only=True)
class JobRunner:
    """Runs jobs of one process. Created by `open_jobs`."""

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

    reserved: JobStore = attrs.field(init=False)
    """`store` with connections that requests cannot take, and a limit of time."""

    clock: JobClock = attrs.field(factory=JobClock.started)
    """By which it tells what is due."""

    _workers: Workers = attrs.field(init=False)
    _threads: JobThreads = attrs.field(init=False)
    _attempts: JobAttempts = attrs.field(init=False)
    _claims: Claims = attrs.field(init=False)
    _notifications: JobNotifications = attrs.field(init=False)
    _room: trio.Event = attrs.field(init=False, factory=trio.Event)
    """Set when there may be room for more claims; replaced before it is awaited."""

    _left: trio.Event = attrs.field(init=False, factory=trio.Event)
    """Set when a job no longer runs; replaced before it is awaited."""

    _claiming: trio.CancelScope = attrs.field(init=False, factory=trio.CancelScope)
    """Ends when no more jobs are taken."""

    def __attrs_post_init__(self) -> None:
        database = limited(self.store.database.reserve(), _STATEMENT)
        self.reserved = attrs.evolve(self.store, database=database)
        self._notifications = JobNotifications(self.reserved.database)
        self._workers = Workers(store=self.reserved, clock=self.clock, changed=self.notify)
        self._threads = JobThreads(self.workers)
        self._attempts = JobAttempts(
            self.store, self.reserved, self._threads, self.clock.now, self._release
        )
        self._claims = Claims(
            store=self.reserved,
            jobs=self.jobs,
            queues=self.queues,
            worker=lambda: self._workers.me,
            now=self.now,
            returned=self.notify,
            prefetch=Prefetch(self.workers),
        )

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
        claims = self._claims
        return JobStatistics(
            running=len(claims.running), overdue=len(claims.overdue), **claims.counts
        )

    def wake(self) -> None:
        """Look for jobs now: something has changed."""
        self._notifications.wake()

    def notify(self) -> None:
        """Wake this process and the others."""
        self._notifications.notify()

    async def follow_clock(self) -> None:
        """Take over the time of the database."""
        await self._workers.look_at_clock()

    async def run(self, nursery: trio.Nursery) -> None:
        """Run jobs in ``nursery`` until `drain`; a database that is away is waited for."""
        nursery.start_soon(self.announce)
        await retry_until_done(self._workers.begin)
        nursery.start_soon(retry_until_done, self._watch)  # until the last job has ended
        keep = {"done": self.keep, "failed": self.keep_failed}
        if not self.store.database.alone:
            purge = partial(run_purge, self.reserved, keep, self.now)
            nursery.start_soon(retry_until_done, purge)
        schedules = Schedules(
            jobs=[job for job in self.jobs.values() if job.schedule is not None],
            store=self.reserved,
            app=self.app,
            now=self.now,
            enqueued=self.notify,
            longest=self._longest,
        )
        with self._claiming:
            async with trio.open_nursery() as tasks:
                tasks.start_soon(retry_until_done, partial(self._claim_and_write, nursery))
                tasks.start_soon(retry_until_done, schedules.run)
                tasks.start_soon(retry_until_done, self._notifications.listen)

    async def announce(self) -> None:
        """Notify other processes of jobs until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(retry_until_done, self._notifications.announce)
            if not self.workers:
                nursery.start_soon(retry_until_done, self._keep_following)

    async def drain(self, timeout: float) -> None:
        """Take no more jobs, and wait for those that run, ``timeout`` seconds at most."""
        self._claiming.cancel()
        with trio.move_on_after(timeout):
            while True:
                self._left = trio.Event()  # its own: the claiming task may be at its last round
                await retry_until_done(self._claims.write)
                await retry_until_done(self._claims.give_back_waiting)  # a claim was under way
                if not self._claims.running:
                    break
                await self._left.wait()

    async def leave(self) -> None:
        """Write what has ended, and give back what has not."""
        with trio.move_on_after(_LEAVING):
            try:
                await self._claims.leave(alive=self._threads.alive(), later=self.now() + _LEAVING)
            except Exception as error:
                log.warning(
                    "jobs: could not release running jobs; other processes take them: %s", error
                )

    async def _claim_and_write(self, nursery: trio.Nursery) -> None:
        """Write outcomes of ended jobs, and claim due ones: one statement each for many jobs."""
        claims = self._claims
        try:
            more = True  # may be due
            looked = -inf
            while True:
                self._room = trio.Event()  # before all else: what is set from here on is not missed
                self._start_waiting(nursery)
                if claims.in_doubt:
                    await claims.give_back_unknown()
                await claims.write()
                if more and trio.current_time() - looked > BEAT and self._begins_soon():
                    looked = trio.current_time()  # where there is always more, nobody rests
                    await claims.claim_suspect(await claims.next_due())
                    self._start_waiting(nursery)
                if more:
                    more = await claims.claim()
                    self._start_waiting(nursery)
                if claims.prefetch.waiting:
                    with trio.move_on_after(_WRITE):
                        await self._room.wait()
                    await claims.give_back_held()
                elif len(claims.running) >= self.workers:
                    await self._room.wait()
                elif not more:
                    more = await self._rest(nursery)
        except Exception:
            # A claim may be in the table although its answer was lost: the table is read first
            # when this task starts again, or its jobs would wait until this worker counts as dead.
            claims.in_doubt = True
            raise

    def _begins_soon(self) -> bool:
        """Tell whether a job that is claimed now begins now, or as soon as a short one ends."""
        return bool(self._claims.prefetch.waiting) or len(self._claims.running) < self.workers

    async def _rest(self, nursery: trio.Nursery) -> bool:
        """Wait until there is something to write, or to claim; tell whether that is due."""
        claims = self._claims
        while not claims.has_results:
            # Replaced before the table is read: a notification in between ends the wait below.
            self._notifications.arrived = trio.Event()
            due = await claims.next_due()
            await claims.claim_suspect(due)
            self._start_waiting(nursery)
            wait = inf if due.next is None else due.next - self.now()
            if wait <= 0:
                return True
            # A moment later: a wait that ends just before finds nothing due, and asks once more.
            with trio.move_on_after(min(wait + 0.001, self._longest)):
                await self._notifications.arrived.wait()
            if claims.in_doubt:
                break
        return False

    @property
    def _longest(self) -> float:
        """How long to trust that notifications come: for ever where nobody else can write."""
        return inf if self.store.database.alone else _POLL

    def _start_waiting(self, nursery: trio.Nursery) -> None:
        """Begin the claimed jobs for which there are workers."""
        waiting, running = self._claims.prefetch.waiting, self._claims.running
        while waiting and len(running) < self.workers and not self._claiming.cancel_called:
            job = waiting.popleft()
            running.add(job)
            nursery.start_soon(self._work, job, nursery, name=f"fx.jobs.{job.name}")

    async def _work(self, job: Claimed, nursery: trio.Nursery) -> None:
        try:
            requester = decode_requester(job.requester)
            with entered(self.app, job.request_id, requester), self._span_of(job):
                outcome = await self._attempts.run(self.jobs[job.name], job)
            self._claims.end(job, outcome)
        finally:
            self._claims.discard(job)
            self._left.set()
            if self._claims.prefetch.end_one():
                self._room.set()
                self.wake()
            self._start_waiting(nursery)

    def _span_of(self, job: Claimed) -> AbstractContextManager[Any]:
        root: AbstractContextManager[Any] = self.app.spans.open_root(
            "job", job.name, job.traceparent
        )
        return root

    def _release(self, job: Claimed) -> bool:
        """Give the place of a job to others whose thread goes on; False when too many do."""
        if len(self._claims.overdue) >= OVERDUE:
            return False
        self._claims.running.remove(job)
        self._claims.overdue.add(job)
        self._left.set()
        self._room.set()
        self.wake()
        return True

    async def _watch(self) -> None:
        """Say that this worker lives, and give back the jobs of those that do not."""
        if self.store.database.alone:
            return
        while True:
            await trio.sleep(LOOK)
            # At the look that is nearest to BEAT: the one behind it may be almost LOOK too late.
            if self._workers.beat_age > BEAT - LOOK / 2:
                if not await self._workers.beat():  # what it runs is others' by now
                    self._claims.prefetch.take_all()
            elif not self._workers.misses_one():
                continue
            await self._workers.release_dead(await self._claims.give_back_unknown())

    async def _keep_following(self) -> None:
        while not self.clock.fixed:
            await trio.sleep(_CLOCK)
            await self.follow_clock()


@asynccontextmanager
async def open_jobs(runner: JobRunner, app: Any) -> AsyncIterator[None]:
    """Run the jobs of ``app`` for as long as the block lasts.

    What still runs when it ends is cancelled and given back; `JobRunner.drain` before that
    lets it finish.
    """
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
            # `leave` has a deadline. Without it others would run these jobs only once this worker
            # counts as dead.
            with trio.CancelScope(shield=True):
                await runner.leave()


_PURGE = 3600.0  # between two checks for old jobs, in seconds
_SHARE = 4  # the pause after a statement is this many times its duration


async def run_purge(store: JobStore, keep: Mapping[str, float], now: Callable[[], float]) -> None:
    """Delete jobs that ended longer ago than their state's ``keep`` (seconds), until cancelled.

    The batches are small, so that no other statement waits for one.
    """
    while True:
        for state, seconds in keep.items():
            if seconds < inf:
                await _purge(store, state, now() - seconds)
        await trio.sleep(_PURGE)


async def _purge(store: JobStore, state: str, before: float) -> None:
    while True:
        began = trio.current_time()
        if await store.purge(state, before) < PURGED:
            return
        await trio.sleep(_SHARE * (trio.current_time() - began))
