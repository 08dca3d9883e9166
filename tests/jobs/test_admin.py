"""What operators do with jobs: retry, discard, pause."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from fx.jobs import job
from fxtrio.db import Database
from fxtrio.jobs import admin
from fxtrio.jobs.store import JobStore
from tests.db.engines import opened
from tests.jobs.running import rows, running


@pytest.fixture(params=["file", "postgresql"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    kind = request.param
    if kind == "postgresql":
        kind = request.getfixturevalue("postgres_url")
    with trio.fail_after(120):
        async with opened(kind, tmp_path) as opened_database:
            yield opened_database


async def test_a_paused_queue_waits_in_every_process_until_it_is_resumed(
    database: Database,
) -> None:
    done: list[str] = []

    @job(queue="mail")
    async def send() -> None:
        done.append("mail")

    @job()
    async def other() -> None:
        done.append("other")

    await JobStore(database).prepare()
    assert await admin.pause_queue(JobStore(database), "mail", 1.0)
    assert not await admin.pause_queue(JobStore(database), "mail", 2.0)
    async with running(database, send, other) as one, running(database, send, other) as two:
        await send.enqueue()
        await database.execute("update fx_jobs set crashes = 2")  # nor a suspect
        await send.enqueue()
        await other.enqueue()
        while one.statistics().done + two.statistics().done < 1:  # noqa: ASYNC110  # no event tells
            await trio.sleep(0.01)
        await trio.sleep(0.3)
        assert done == ["other"]
        assert await admin.list_paused(JobStore(database)) == {"mail": 1.0}
        assert await admin.resume_queue(JobStore(database), "mail")
        assert not await admin.resume_queue(JobStore(database), "mail")
        while one.statistics().done + two.statistics().done < 3:  # noqa: ASYNC110  # no event tells
            await trio.sleep(0.01)
    assert sorted(done) == ["mail", "mail", "other"]


async def fail_some(store: JobStore) -> None:
    await store.prepare()
    for name, queue, state, key in (
        ("a", "x", "failed", "k"),
        ("a", "x", "failed", "k"),
        ("a", "y", "failed", None),
        ("b", "x", "failed", "k"),
        ("b", "x", "waiting", "k"),
        ("c", "x", "done", None),
    ):
        await store.database.execute(
            "insert into fx_jobs (name, queue, args, state, due, made, ended, key)"
            " values ($1, $2, '[[],{}]', $3, 1, 1, 1, $4)",
            name,
            queue,
            state,
            key,
        )


async def test_of_unique_jobs_one_waits_again(database: Database) -> None:
    store = JobStore(database)
    await fail_some(store)

    assert await admin.retry_jobs(store, [1, 2, 4, 5], 7.0) == [1]
    assert await admin.why_not_retried(store, 4) == (
        "is unique, and another job with its key is waiting or running"
    )
    assert await admin.why_not_retried(store, 5) == "has not failed"
    assert (await rows(database))[:2] == ["waiting", "failed"]


async def test_jobs_are_retried_and_discarded_by_what_they_are(database: Database) -> None:
    store = JobStore(database)
    await fail_some(store)

    assert await admin.retry_all(store, 7.0, name=None, queue="x") == 1
    assert await rows(database) == ["failed", "waiting", "failed", "failed", "waiting", "done"]
    assert await admin.discard_all(store, "failed", name="a", queue="x") == 1
    assert await admin.discard_all(store, "done", name=None, queue=None) == 1
    assert await admin.discard_all(store, "running", name=None, queue=None) == 0
    assert await rows(database, "id") == [2, 3, 4, 5]
