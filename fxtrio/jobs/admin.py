"""Administers durable jobs from outside: the operations behind `fx jobs`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fxtrio.jobs.notifications import CHANNEL
from fxtrio.jobs.store import PURGED, JobStore

STATES = ("waiting", "running", "done", "failed")


async def list_jobs(
    store: JobStore, *, state: str | None, queue: str | None, most: int
) -> list[dict[str, Any]]:
    """Return the newest jobs first; those that wait have the error of their last try."""
    return await store.database.all(
        dict,
        "select id, name, queue, state, args, due, attempts, crashes, made, ended, priority, error"
        " from fx_jobs"
        " where (state = $1 or $2 = 1) and (queue = $3 or $4 = 1) order by id desc limit $5",
        state or "",
        int(state is None),
        queue or "",
        int(queue is None),
        most,
    )


async def show_job(store: JobStore, number: int) -> dict[str, Any] | None:
    """Return all of a job; None when there is none."""
    return await store.database.one(dict, "select * from fx_jobs where id = $1", number)


_TWIN = (
    "exists (select 1 from fx_jobs as twin where twin.name = fx_jobs.name"
    " and twin.key = fx_jobs.key and twin.state in ('waiting', 'running'))"
)
"""Whether one with the key of a `unique` job waits or runs; there is no second one then."""

_NEWER = (
    "exists (select 1 from fx_jobs as newer where newer.name = fx_jobs.name"
    " and newer.key = fx_jobs.key and newer.state = 'failed' and newer.id > fx_jobs.id)"
)
_AGAIN = (
    "update fx_jobs set state = 'waiting', due = $1, attempts = 0, crashes = 0, misfits = 0,"
    " ended = null where state = 'failed'"
)


async def retry_jobs(store: JobStore, numbers: Sequence[int], now: float) -> list[int]:
    """Let failed jobs wait again, as if they had never been tried; return which.

    Not a `unique` one where another one with its key waits or runs.
    """
    sql = f"{_AGAIN} and id = $2 and not {_TWIN}"
    return [number for number in numbers if await store.database.execute(sql, now, number)]


async def retry_all(store: JobStore, now: float, *, name: str | None, queue: str | None) -> int:
    """Let all failed jobs of a name and a queue wait again, or of all; return how many.

    Of `unique` ones with the same key the newest.
    """
    return await store.database.execute(
        f"{_AGAIN} and (name = $2 or $3 = 1) and (queue = $4 or $5 = 1)"
        f" and not {_TWIN} and not {_NEWER}",
        now,
        *_chosen(name, queue),
    )


async def why_not_retried(store: JobStore, number: int) -> str:
    """Say why a job does not wait again."""
    sql = f"select {_TWIN} from fx_jobs where id = $1 and state = 'failed'"
    if await store.database.value(sql, number):
        return "is unique, and another job with its key is waiting or running"
    return "has not failed"


async def discard_jobs(store: JobStore, numbers: Sequence[int]) -> list[int]:
    """Forget jobs that do not run; return which."""
    sql = "delete from fx_jobs where id = $1 and state <> 'running'"
    return [number for number in numbers if await store.database.execute(sql, number)]


async def discard_all(store: JobStore, state: str, *, name: str | None, queue: str | None) -> int:
    """Forget all jobs in ``state``, of a name and a queue, or of all; return how many."""
    sql = (
        "delete from fx_jobs where id in (select id from fx_jobs where state = $1"
        f" and state <> 'running' and (name = $2 or $3 = 1) and (queue = $4 or $5 = 1)"
        f" limit {PURGED})"
    )
    total = 0
    while found := await store.database.execute(sql, state, *_chosen(name, queue)):
        total += found
    return total


def _chosen(name: str | None, queue: str | None) -> tuple[str, int, str, int]:
    """Return arguments: a value, and whether it does not matter, each."""
    return name or "", int(name is None), queue or "", int(queue is None)


async def pause_queue(store: JobStore, queue: str, now: float) -> bool:
    """Pause a queue: no process claims its jobs, running ones continue. False if it was paused."""
    sql = "insert into fx_paused (queue, since) values ($1, $2) on conflict do nothing"
    return bool(await store.database.execute(sql, queue, now))


async def resume_queue(store: JobStore, queue: str) -> bool:
    """Let processes take jobs of a queue again; False when they did."""
    found = await store.database.execute("delete from fx_paused where queue = $1", queue)
    await store.database.notify(CHANNEL)
    return bool(found)


async def list_paused(store: JobStore) -> dict[str, float]:
    """Return the queues that are paused, and since when."""
    rows = await store.database.all(dict, "select queue, since from fx_paused order by queue")
    return {row["queue"]: row["since"] for row in rows}


async def count_jobs(store: JobStore) -> list[dict[str, Any]]:
    """Return how many there are of each queue, name and state, and when the next is due."""
    return await store.database.all(
        dict,
        "select queue, name, state, count(*) as jobs, min(due) as due from fx_jobs"
        " group by queue, name, state order by queue, name, state",
    )


async def count_unfinished(store: JobStore) -> list[dict[str, Any]]:
    """Return how many there are of each queue and state but ``done``, and when the next is due.

    Jobs that are done are most of the table, so they are left out.
    """
    return await store.database.all(
        dict,
        "select queue, state, count(*) as jobs, min(due) as due from fx_jobs"
        " where state in ('waiting', 'running', 'failed') group by queue, state",
    )


async def list_failures(store: JobStore, most: int) -> list[dict[str, Any]]:
    """Return the failed jobs with their errors, the last one to fail first."""
    return await store.database.all(
        dict,
        "select id, name, queue, args, attempts, crashes, ended, error from fx_jobs"
        " where state = 'failed' order by ended desc, id desc limit $1",
        most,
    )


async def list_workers(store: JobStore) -> list[dict[str, Any]]:
    """Return the processes that run jobs: ``id``, when they were ``seen``, how many are running."""
    return await store.database.all(
        dict,
        "select id, seen, (select count(*) from fx_jobs where worker = fx_workers.id"
        " and state = 'running') as running from fx_workers order by id",
    )
