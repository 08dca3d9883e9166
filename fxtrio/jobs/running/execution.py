"""One attempt of one job, and its outcome. Called by the runner, in a separate task."""

from __future__ import annotations

import logging
import random
import traceback
from collections.abc import Awaitable, Callable
from functools import partial
from math import inf
from typing import Any, Literal

import attrs
import trio

from fxtrio.callables import contain
from fxtrio.errors import Signal
from fxtrio.jobs.decorators import Job
from fxtrio.jobs.errors import JobArgumentsMismatch, JobTimeout
from fxtrio.jobs.running.threads import JobThread, JobThreads
from fxtrio.jobs.store import Claimed, JobStore, decoded
from fxtrio.tasks.calls import is_async
from fxtrio.tracebacks import trimmed

Outcome = Literal["ended", "done", "lost", "returned", "retried", "failed"]
"""``ended`` is to be written still, all others have been; see `JobStatistics`."""

_LONGEST_ERROR = 8000  # characters of a traceback that are stored

LONGEST_PAUSE = 30 * 86_400.0
"""Before a job is tried again, however often it has failed (seconds)."""

BUSY_PAUSE = 1.0
"""Pause before a job is retried that found the database too busy or full (seconds)."""

MISFITS = 20
"""A job that so many processes could not call has failed (count)."""

_MISFIT_PAUSE = 30.0  # longest between two of them, in seconds: some eight minutes in all
_LEAVING = 5.0  # for a process to end after it has said so, in seconds

_FIRST_WAIT, _LONGEST_WAIT = 0.05, 2.0
"""Before work that needs the database is tried again, doubled each time (seconds)."""

log = logging.getLogger("fx.jobs")


class _ClaimLost(Signal):
    """A job was reassigned to another worker; the changes of this one are rolled back."""


@attrs.frozen(eq=False)
class JobAttempts:
    """Runs attempts. ``reserved`` has reserved connections, ``store`` joins their transactions."""

    store: JobStore
    reserved: JobStore
    threads: JobThreads
    now: Callable[[], float]
    release: Callable[[Claimed], bool]
    """Gives the slot of a job to another one, if allowed; its thread continues."""

    async def run(self, declared: Job[Any], job: Claimed) -> Outcome:
        """Run a job once, and see to it that its outcome is written, or say that it has ended."""
        error = await contain(partial(self._in_time, declared, job))
        if error is None:
            return "done" if declared.atomic else "ended"
        if isinstance(error, _ClaimLost):
            return "lost"
        if isinstance(error, _Misfit):
            return await self._put_off_misfit(job, error.cause)
        if self._is_unavailable(error):  # which is no fault of the job's
            log.warning("Job %s (%d) returns to its queue: %s", job.name, job.id, error)
            # Jobs that found the database busy together would meet again after equal pauses.
            pause = random.uniform(0.5, 1.5) * BUSY_PAUSE
            await self._put_off(job, pause, str(error))
            return "returned"
        thread = self.threads.left(job.id)
        if thread is not None:
            await self._outlast(declared, job, error, thread)
        return await self._fail(declared, job, error)

    def _is_unavailable(self, error: BaseException) -> bool:
        """Whether a job failed only because the database was unavailable, in all of its tasks."""
        if isinstance(error, BaseExceptionGroup):
            return all(map(self._is_unavailable, error.exceptions))
        return self.store.database.is_unavailable(error)

    async def _in_time(self, declared: Job[Any], job: Claimed) -> None:
        if declared.timeout == inf:
            await self._run(declared, job)
            return
        with trio.move_on_after(declared.timeout) as scope:
            await self._run(declared, job)
        if scope.cancelled_caught:
            raise JobTimeout(job.name, declared.timeout)

    async def _run(self, declared: Job[Any], job: Claimed) -> None:
        args, kwargs = decoded(job.args)
        mismatch = declared.mismatch(args, kwargs)
        if mismatch is not None:
            raise _Misfit(mismatch)
        if not is_async(declared.function):
            await self.threads.run(job.id, partial(declared.function, *args, **kwargs))
        elif not declared.atomic:
            await declared.function(*args, **kwargs)
        else:
            async with self.store.database.transaction():
                await declared.function(*args, **kwargs)
                # In its own transaction: what it wrote is committed with its end, or neither is.
                if not await self.store.finish(job.worker, [job.id], self.now()):
                    raise _ClaimLost

    async def _put_off(self, job: Claimed, pause: float, error: str, **how: Any) -> None:
        until = self.now() + pause
        await retry_until_done(partial(self.reserved.put_off, job, until, error, **how))

    async def _put_off_misfit(self, job: Claimed, cause: JobArgumentsMismatch) -> Outcome:
        """Leave a job to another version of the code; at last it has failed, with the reason."""
        if job.misfits + 1 >= MISFITS:
            log.error("Job %s (%d) failed: %s", job.name, job.id, cause)
            await retry_until_done(partial(self.reserved.fail, job, str(cause), self.now(), None))
            return "failed"
        log.warning("Job %s (%d) waits for a process with other code: %s", job.name, job.id, cause)
        pause = min(2.0**job.misfits, _MISFIT_PAUSE)
        await self._put_off(job, random.uniform(0.5, 1) * pause, str(cause), misfit=True)
        return "returned"

    async def _outlast(
        self, declared: Job[Any], job: Claimed, error: BaseException, thread: JobThread
    ) -> None:
        """Wait for the end of a thread, which cannot be stopped, before another attempt."""
        released = self.release(job)
        log.error(
            "Job %s (%d) timed out, but its thread is still running: the retry starts after "
            "it has ended%s. Set a timeout in the code that it calls.",
            job.name,
            job.id,
            "" if released else ", and occupies a worker until then",
        )
        try:
            await thread.ended.wait()
        except trio.Cancelled:  # the process ends, and its threads with it
            with trio.CancelScope(shield=True), trio.move_on_after(_LEAVING):
                again = self.now() + max(declared.backoff, _LEAVING)
                due = again if job.attempts <= declared.retries else None
                await self.reserved.fail(job, str(error), self.now(), due)
            raise
        finally:
            self.threads.forget(job.id)

    async def _fail(self, declared: Job[Any], job: Claimed, error: BaseException) -> Outcome:
        again = job.attempts <= declared.retries
        trimmed_error = trimmed(error)
        level = logging.WARNING if again else logging.ERROR
        log.log(level, "Job %s (%d) failed", job.name, job.id, exc_info=trimmed_error)
        text = "".join(traceback.format_exception(trimmed_error))[-_LONGEST_ERROR:]
        ended = self.now()
        due = (
            ended + min(declared.backoff * 2 ** min(job.attempts - 1, 50), LONGEST_PAUSE)
            if again
            else None
        )
        await retry_until_done(partial(self.reserved.fail, job, text, ended, due))
        return "retried" if again else "failed"


class _Misfit(Signal):
    """The arguments of a job do not fit the function that this process has."""

    def __init__(self, cause: JobArgumentsMismatch) -> None:
        super().__init__(str(cause))
        self.cause = cause


async def retry_until_done(work: Callable[[], Awaitable[object]]) -> None:
    """Do work that needs the database; while that fails, try again."""
    pause = _FIRST_WAIT
    while True:
        try:
            await work()
            return
        except Exception as error:
            level = logging.WARNING if pause == _FIRST_WAIT else logging.DEBUG  # warn once
            log.log(level, "jobs: the database fails, retrying: %s", error)
        await trio.sleep(random.uniform(0.5, 1) * pause)
        pause = min(2 * pause, _LONGEST_WAIT)
