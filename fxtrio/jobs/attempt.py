"""One try of one job, and what becomes of it. Called by the runner, in a task of its own."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any, Literal

import trio

from fxtrio.jobs.declared import Job
from fxtrio.jobs.faults import JobTimeout
from fxtrio.jobs.store import Claimed, JobStore, decoded
from fxtrio.jobs.surely import surely
from fxtrio.tasks.calls import is_async
from fxtrio.tracebacks import trimmed

Outcome = Literal["ended", "done", "lost", "returned", "retried", "failed"]
"""``ended`` is to be written still, all others have been; see `JobStatistics`."""

_LONGEST_ERROR = 8000  # characters of a traceback that are kept

LONGEST_PAUSE = 30 * 86_400.0
"""Before a job is tried again, however often it has failed (seconds)."""

log = logging.getLogger("fx.jobs")


class _Lost(Exception):
    """A job belongs to another worker by now; what this one did is undone."""


async def attempt(
    declared: Job[Any], job: Claimed, store: JobStore, now: Callable[[], float]
) -> Outcome:
    """Run a job once, and see to it that its outcome is written, or say that it has ended."""
    try:
        if declared.timeout == inf:
            await _run(declared, job, store, now)
        else:
            with trio.move_on_after(declared.timeout) as scope:
                await _run(declared, job, store, now)
            if scope.cancelled_caught:
                raise JobTimeout(job.name, declared.timeout)
    except _Lost:
        return "lost"
    except (Exception, SystemExit) as error:  # application code
        if store.database.is_away(error):  # which is no fault of the job's
            log.warning("Job %s (%d) goes back: %s", job.name, job.id, error)
            await surely(partial(store.give_back, job.worker, [job.id]))
            return "returned"
        return await _fail(declared, job, error, store, now)
    return "done" if declared.atomic else "ended"


async def _run(declared: Job[Any], job: Claimed, store: JobStore, now: Callable[[], float]) -> None:
    if not declared.atomic:
        await _call(declared, job)
        return
    async with store.database.transaction():
        await _call(declared, job)
        if not await store.finish(job.worker, [job.id], now()):
            raise _Lost


async def _call(declared: Job[Any], job: Claimed) -> None:
    args, kwargs = decoded(job.args)
    if is_async(declared.function):
        await declared.function(*args, **kwargs)
    else:
        work = partial(declared.function, *args, **kwargs)
        await trio.to_thread.run_sync(work, abandon_on_cancel=True)


async def _fail(
    declared: Job[Any],
    job: Claimed,
    error: BaseException,
    store: JobStore,
    now: Callable[[], float],
) -> Outcome:
    again = job.attempts <= declared.retries
    shown = trimmed(error)
    level = logging.WARNING if again else logging.ERROR
    log.log(level, "Job %s (%d) failed", job.name, job.id, exc_info=shown)
    text = "".join(traceback.format_exception(shown))[-_LONGEST_ERROR:]
    ended = now()
    due = (
        ended + min(declared.backoff * 2 ** min(job.attempts - 1, 50), LONGEST_PAUSE)
        if again
        else None
    )
    await surely(partial(store.fail, job, text, ended, due))
    return "retried" if again else "failed"
