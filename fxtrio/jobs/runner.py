"""Runs durable jobs: claims what is due, runs it, writes what became of it.

All times come from `JobRunner.now`, which follows trio's clock where that is a test's.
"""

from __future__ import annotations

import logging
import random
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from math import inf
from typing import Any

import attrs
import trio

from fxtrio.context import entered
from fxtrio.jobs.declared import Job
from fxtrio.jobs.faults import JobTimeout
from fxtrio.jobs.identity import is_dead, new_identity
from fxtrio.jobs.store import Claimed, JobStore, decoded
from fxtrio.tasks.calls import is_async
from fxtrio.tracebacks import trimmed

LEASE = 15.0
"""A worker that has not been seen for so long is dead, wherever it was (seconds)."""

CHANNEL = "fx_jobs"
_BEAT = 1.0  # between two looks at the other workers, in seconds
_POLL = 5.0  # longest wait for news that did not come, in seconds
_PURGE = 3600.0
_LONGEST_ERROR = 8000  # characters of a traceback that are kept
_LEAVING = 5.0  # for the last words to the database, in seconds

log = logging.getLogger("fx.jobs")


class _Lost(Exception):
    """A job belongs to another worker by now; what this one did is undone."""


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
    _ended: list[Claimed] = attrs.field(init=False, factory=list)
    _news: trio.Event = attrs.field(init=False, factory=trio.Event)
    _untold: trio.Event = attrs.field(init=False, factory=trio.Event)
    _idle: trio.Event = attrs.field(init=False, factory=trio.Event)
    _intake: trio.CancelScope = attrs.field(init=False, factory=trio.CancelScope)
    _counts: dict[str, int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        # A clock that can jump is a test's: its seconds count from now on.
        jumps = hasattr(trio.lowlevel.current_clock(), "jump")
        self._offset = time.time() - trio.current_time() if jumps else None
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
            while self._running:
                self._idle = trio.Event()
                await self._idle.wait()

    async def run(self, nursery: trio.Nursery) -> None:
        """Run jobs in ``nursery`` until `drain`; a database that is away is waited for."""
        nursery.start_soon(self.announce)
        await self._surely(self._begin)
        nursery.start_soon(self._surely, self._watch)  # until the last job has ended
        with self._intake:
            async with trio.open_nursery() as tasks:
                tasks.start_soon(self._surely, partial(self._pump, nursery))
                tasks.start_soon(self._surely, self._schedule)
                tasks.start_soon(self._surely, self._listen)

    async def _begin(self) -> None:
        await self.store.beat(self._me, self.now(), first=True)
        await self._bury()

    async def _surely(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do something that needs the database, again and again until it is done."""
        pause = 0.05
        while True:
            try:
                await work()
                return
            except Exception as error:
                level = logging.WARNING if pause < 0.1 else logging.DEBUG  # told once
                log.log(level, "jobs: the database fails, trying again: %s", error)
            await trio.sleep(random.uniform(0.5, 1) * pause)
            pause = min(2 * pause, 2.0)

    async def _pump(self, nursery: trio.Nursery) -> None:
        """Write what has ended, and take what is due: one statement each for many jobs."""
        while True:
            self._news = trio.Event()
            await self._flush()
            free = self.workers - len(self._running)
            claimed: list[Claimed] = []
            if free:
                claimed = await self.store.claim(
                    self._me, self.now(), list(self.jobs), self.queues, free
                )
            for job in claimed:
                self._running.add(job)
                nursery.start_soon(self._work, job, name=f"fx.jobs.{job.name}")
            if len(claimed) < free:
                await self._wait_for_news()
            else:  # a job that ends is news
                await self._news.wait()

    async def _wait_for_news(self) -> None:
        due = await self.store.next_due(list(self.jobs), self.queues)
        wait = inf if due is None else max(0.0, due - self.now()) + 0.001
        with trio.move_on_after(min(wait, self._longest)):
            await self._news.wait()

    @property
    def _longest(self) -> float:
        """How long to trust that news come: for ever where nobody else can write."""
        return inf if self.store.database.alone else _POLL

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

    async def _work(self, job: Claimed) -> None:
        try:
            with entered(self.app, job.request_id):
                await self._attempt(job)
        finally:
            self._running.remove(job)
            self._news.set()
            if not self._running:
                self._idle.set()

    async def _attempt(self, job: Claimed) -> None:
        """Run a job once, and see to it that its outcome is written."""
        declared = self.jobs[job.name]
        try:
            with trio.move_on_after(declared.timeout) as scope:
                if declared.atomic:
                    async with self.store.database.transaction():
                        await self._call(declared, job)
                        if not await self.store.finish(job.worker, [job.id], self.now()):
                            raise _Lost
                else:
                    await self._call(declared, job)
            if scope.cancelled_caught:
                raise JobTimeout(job.name, declared.timeout)
        except _Lost:
            self._counts["lost"] += 1
        except (Exception, SystemExit) as error:  # application code
            if self.store.database.is_away(error):  # which is no fault of the job's
                log.warning("Job %s (%d) goes back: %s", job.name, job.id, error)
                self._counts["returned"] += 1
                await self._surely(partial(self.store.give_back, job.worker, job.id))
            else:
                await self._fail(declared, job, error)
        else:
            if declared.atomic:
                self._counts["done"] += 1
            else:
                self._ended.append(job)

    async def _call(self, declared: Job[Any], job: Claimed) -> None:
        args, kwargs = decoded(job.args)
        if is_async(declared.function):
            await declared.function(*args, **kwargs)
        else:
            work = partial(declared.function, *args, **kwargs)
            await trio.to_thread.run_sync(work, abandon_on_cancel=True)

    async def _fail(self, declared: Job[Any], job: Claimed, error: BaseException) -> None:
        again = job.attempts <= declared.retries
        shown = trimmed(error)
        level = logging.WARNING if again else logging.ERROR
        log.log(level, "Job %s (%d) failed", job.name, job.id, exc_info=shown)
        self._counts["retried" if again else "failed"] += 1
        text = "".join(traceback.format_exception(shown))[-_LONGEST_ERROR:]
        now = self.now()
        due = now + declared.backoff * 2 ** min(job.attempts - 1, 50) if again else None
        await self._surely(partial(self.store.fail, job, text, now, due))

    async def _watch(self) -> None:
        """Say that this worker lives, and give back the jobs of those that do not."""
        if self.store.database.alone:
            return
        purged = -inf
        while True:
            if not await self.store.beat(self._me, self.now()):
                # Given up by others while it was away: what it runs is theirs.
                self._me = new_identity()
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

    async def _schedule(self) -> None:
        """Enqueue each time of each schedule once, whichever process comes first."""
        plan = [job for job in self.jobs.values() if job.schedule is not None]
        last = await self.store.ticks()
        began = self.now()
        for job in plan:
            assert job.schedule is not None
            missed = job.schedule.before(began)
            if job.name not in last:
                await self.store.tick(job.name, missed)  # it is new: nothing was missed
            elif last[job.name] < missed:
                await self._tick(job, missed)
        while plan:
            now = self.now()
            times = {job.name: job.schedule.after(began) for job in plan if job.schedule}
            tick = min(times.values())
            # In parts, since the clock of the machine may be set meanwhile.
            while now < tick:
                await trio.sleep(min(tick - now + 0.001, self._longest))
                now = self.now()
            for job in plan:
                if times[job.name] == tick:
                    await self._tick(job, tick)
            began = tick
        await trio.sleep_forever()

    async def _tick(self, job: Job[Any], tick: float) -> None:
        async with self.store.database.transaction():
            if await self.store.tick(job.name, tick):
                with entered(self.app):
                    await job.enqueue()

    async def _listen(self) -> None:
        await self.store.database.listen(CHANNEL, self.wake)

    async def announce(self) -> None:
        """Tell other processes of jobs until cancelled."""
        await self._surely(self._announce)

    async def _announce(self) -> None:
        """Do so once for all that was enqueued since the last time."""
        while True:
            await self._untold.wait()
            self._untold = trio.Event()
            await self.store.database.notify(CHANNEL)

    async def leave(self) -> None:
        """Write what has ended, and give back what has not."""
        with trio.move_on_after(_LEAVING):
            try:
                await self._flush()
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
