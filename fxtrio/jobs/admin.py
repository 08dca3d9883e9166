"""Looks after durable jobs from outside: what `fx jobs` prints and does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fxtrio.jobs.store import JobStore

STATES = ("waiting", "running", "done", "failed")


async def list_jobs(
    store: JobStore, *, state: str | None, queue: str | None, most: int
) -> list[dict[str, Any]]:
    """Return the newest jobs first, without their errors."""
    return await store.database.all(
        dict,
        "select id, name, queue, state, args, due, attempts, crashes, made, ended from fx_jobs"
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


async def retry_jobs(store: JobStore, numbers: Sequence[int], now: float) -> list[int]:
    """Let failed jobs wait again, as if they had never been tried; return which."""
    done = []
    for number in numbers:
        if await store.database.execute(
            "update fx_jobs set state = 'waiting', due = $1, attempts = 0, crashes = 0,"
            " ended = null where id = $2 and state = 'failed'",
            now,
            number,
        ):
            done.append(number)
    return done


async def discard_jobs(store: JobStore, numbers: Sequence[int]) -> list[int]:
    """Forget jobs that do not run; return which."""
    sql = "delete from fx_jobs where id = $1 and state <> 'running'"
    return [number for number in numbers if await store.database.execute(sql, number)]


async def count_jobs(store: JobStore) -> list[dict[str, Any]]:
    """Return how many there are of each queue, name and state, and when the next is due."""
    return await store.database.all(
        dict,
        "select queue, name, state, count(*) as jobs, min(due) as due from fx_jobs"
        " group by queue, name, state order by queue, name, state",
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
