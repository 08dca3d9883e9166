"""A process that is busy lives, and what is no fault of a job costs it no try."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from fx.db import db
from fx.jobs import JobArgumentsMismatch, job
from fxtrio.db import Database, DatabaseBusy
from fxtrio.jobs.running.execution import MISFITS
from fxtrio.jobs.running.job_clock import JobClock
from fxtrio.jobs.running.runner import _purge
from fxtrio.jobs.running.threads import OVERDUE
from fxtrio.jobs.store import PURGED, JobStore
from fxtrio.process_identity import new_identity
from tests.db.engines import opened
from tests.jobs.running import rows, running


@pytest.fixture(params=["file", "postgresql"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    kind = request.param
    if kind == "postgresql":
        kind = request.getfixturevalue("postgres_url")
    with trio.fail_after(120):
        async with opened(kind, tmp_path, pool=2, waiters=1) as opened_database:
            yield opened_database


@pytest.fixture
async def memory(tmp_path: Path, autojump_clock: MockClock) -> AsyncIterator[Database]:
    async with opened("memory", tmp_path) as opened_database:
        yield opened_database


async def until(condition: Callable[[], bool]) -> None:
    with trio.fail_after(60):
        while not condition():  # noqa: ASYNC110  # no event tells
            await trio.sleep(0.01)


async def test_housekeeping_waits_behind_no_request(postgres_url: str, tmp_path: Path) -> None:
    release = trio.Event()

    async def hold(database: Database) -> None:
        async with database.transaction():
            await database.value("select 1")
            await release.wait()

    @job()
    async def work() -> None: ...

    with trio.fail_after(60):
        async with opened(postgres_url, tmp_path, pool=2, waiters=1) as database:
            async with running(database, work) as runner, trio.open_nursery() as nursery:
                for _ in range(3):
                    await work.enqueue(delay=1)
                for _ in range(3):  # of which one waits for a connection
                    nursery.start_soon(hold, database)
                while database._engine._pool.statistics().waiting < 1:  # type: ignore[attr-defined]  # noqa: ASYNC110
                    await trio.sleep(0.01)
                with pytest.raises(DatabaseBusy):
                    await database.value("select 1")
                await until(lambda: runner.statistics().done == 3)
                await until(lambda: (runner.beat_age() or 0.0) < 1)
                release.set()


async def test_a_statement_of_housekeeping_that_gets_no_answer_is_abandoned(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fxtrio.jobs.running.runner._STATEMENT", 0.3)

    @job()
    async def work() -> None: ...

    async with opened(postgres_url, tmp_path) as database, opened(postgres_url, tmp_path) as other:
        with trio.fail_after(60):
            async with running(database, work) as runner:
                async with other.transaction():
                    await other.execute("lock table fx_jobs, fx_workers in exclusive mode")
                    with pytest.raises(trio.TooSlowError):
                        await runner.reserved.beat("somebody", 0.0)
                    with pytest.raises(trio.TooSlowError):
                        async with runner.reserved.database.transaction():
                            await runner.reserved.leave("somebody")
                    sql = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                    while await other.value(sql) > 1:  # noqa: ASYNC110  # cancelled there as well
                        await trio.sleep(0.01)
                await work.enqueue()
                await until(lambda: runner.statistics().done == 1)


async def test_a_job_that_finds_the_pool_full_costs_no_try(database: Database) -> None:
    seen: list[int] = []

    @job(retries=0)
    async def work() -> None:
        seen.append(1)
        if len(seen) == 1:
            raise DatabaseBusy("too many wait")
        if len(seen) == 2:
            raise BaseExceptionGroup("both", [DatabaseBusy("one"), DatabaseBusy("two")])

    async with running(database, work) as runner:
        await work.enqueue()
        await until(lambda: runner.statistics().done == 1)
        assert runner.statistics().returned == 2

    assert await rows(database, "state, attempts") == [{"state": "done", "attempts": 1}]


async def test_a_full_disk_costs_no_try(memory: Database, autojump_clock: MockClock) -> None:
    @job(retries=0)
    async def work() -> None:
        if runner.statistics().returned < 2:
            await db.execute("pragma max_page_count = 30")
            try:
                await db.execute("insert into blobs values (zeroblob(1000000))")
            finally:
                await db.execute("pragma max_page_count = 100000")

    await memory.execute("create table blobs (b blob)")
    async with running(memory, work) as runner:
        await work.enqueue()
        await trio.sleep(10)

    assert runner.statistics().returned == 2
    assert await rows(memory, "state, attempts") == [{"state": "done", "attempts": 1}]


async def test_a_mistake_in_a_statement_costs_a_try(
    memory: Database, autojump_clock: MockClock
) -> None:
    @job(retries=0)
    async def work() -> None:
        with pytest.raises(sqlite3.OperationalError):
            await db.execute("select * from nothing")
        await db.execute("select * from nothing")

    async with running(memory, work):
        await work.enqueue()
        await trio.sleep(10)

    assert await rows(memory) == ["failed"]


async def test_on_one_machine_the_end_of_a_process_decides(database: Database) -> None:
    silent = new_identity()  # of this process, which lives

    @job()
    async def work() -> None: ...

    async with running(database, work, workers=0) as runner:
        await work.enqueue()
        await work.enqueue()
        await runner.store.beat(silent, runner.now() - 3600, first=True)
        await runner.store.claim(silent, runner.now(), [work.name], [], 1)
    machine, pid, _, random = silent.split("/")
    dead = f"{machine}/{pid}/1/{random}"
    async with running(database, work) as runner:
        await until(lambda: runner.statistics().done == 1)
        await trio.sleep(3.5)  # as long as another machine would be watched
        assert await rows(database, "state, crashes") == [
            {"state": "running", "crashes": 0},
            {"state": "done", "crashes": 0},
        ]
        await database.execute("update fx_jobs set worker = $1 where id = 1", dead)
        await database.execute("update fx_workers set id = $1 where id = $2", dead, silent)
        await until(lambda: runner.statistics().done == 2)


async def test_a_claim_of_which_its_worker_does_not_know_is_released(database: Database) -> None:
    @job()
    async def work() -> None: ...

    async with running(database, work) as runner:
        me = runner._workers.me
        async with database.transaction():
            await work.enqueue(delay=1000)
            await database.execute(
                "update fx_jobs set state = 'running', worker = $1, attempts = 1, due = 0", me
            )
        await until(lambda: runner.statistics().done == 1)

    assert await rows(database, "state, attempts") == [{"state": "done", "attempts": 1}]


async def test_jobs_of_two_names_of_a_worker_are_counted_once(
    memory: Database, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = JobStore.finish
    failures = ["away"]

    async def finish(store: JobStore, worker: str, *args: Any) -> int:
        if worker != runner._workers.me and failures:
            failures.pop()
            raise OSError("away")
        return await real(store, worker, *args)

    @job()
    async def work(first: bool) -> None:
        if first:
            runner._workers.me = "another/1/1/a"
        await trio.sleep(1)

    async with running(memory, work, workers=2) as runner:
        await work.enqueue(True)
        await trio.sleep(0.1)
        await work.enqueue(False)
        monkeypatch.setattr(JobStore, "finish", finish)
        await trio.sleep(10)
        assert (runner.statistics().done, runner.statistics().lost) == (2, 0)


async def test_jobs_whose_write_was_committed_without_an_answer_count_as_done(
    memory: Database, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = JobStore.finish
    failures = ["the connection is lost"]

    async def finish(store: JobStore, worker: str, *args: Any) -> int:
        written = await real(store, worker, *args)
        if failures:
            raise OSError(failures.pop())
        return written

    @job()
    async def work() -> None: ...

    async with running(memory, work) as runner:
        monkeypatch.setattr(JobStore, "finish", finish)
        await work.enqueue()
        await trio.sleep(10)
        assert not failures
        assert (runner.statistics().done, runner.statistics().lost) == (1, 0)


def test_a_clock_follows_the_database_by_no_more_than_it_must() -> None:
    async def main() -> None:
        clock = JobClock(1000.0, fixed=False)
        await trio.sleep(10)
        # Read while it showed 1005 to 1010.
        assert clock.observe(read=1008.0, requested_at=5.0) == 0.0
        assert clock.now() == 1010.0
        assert clock.observe(read=1100.0, requested_at=10.0) == 0.0
        assert clock.now() == 1100.0
        assert clock.observe(read=500.0, requested_at=10.0) == 600.0
        assert clock.now() == 500.0

    trio.run(main, clock=MockClock(autojump_threshold=0))


async def test_a_clock_that_is_set_back_takes_delayed_jobs_along(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = [3600.0]
    real = JobStore.now

    async def now(store: JobStore) -> float:
        return await real(store) + ahead[0]

    @job()
    async def work() -> None: ...

    monkeypatch.setattr(JobStore, "now", now)
    async with running(database, work) as one, running(database, work) as two:
        await work.enqueue(delay=3)
        before = two.now()
        ahead[0] = 0.0
        await until(lambda: one.statistics().done + two.statistics().done == 1)
        # Whichever has done it has noticed; the other one does with its next beat.
        await until(lambda: max(one.now(), two.now()) < before - 3000)
        assert sum(await rows(database, "crashes")) == 0

        # Enqueued by who had not noticed, or in a transaction that ends only now.
        await database.execute(
            "insert into fx_jobs (name, queue, args, due, made)"
            " select name, queue, args, $1, $2 from fx_jobs",
            before + 1,
            before,
        )
        await until(lambda: one.statistics().done + two.statistics().done == 2)


async def test_a_retry_waits_for_the_thread_of_the_try_before(memory_file: Database) -> None:
    together: list[int] = []
    go = threading.Event()
    count = 0

    @job(retries=1, timeout=0.05, backoff=0)
    def hang() -> None:
        nonlocal count
        count += 1
        together.append(count)
        go.wait(30)
        count -= 1

    @job()
    async def work() -> None: ...

    @job()
    def plain() -> None: ...

    async with running(memory_file, hang, work, plain, workers=1) as runner:
        await hang.enqueue()
        await until(lambda: runner.statistics().overdue == 1)
        await work.enqueue()  # it has left its place to others
        await plain.enqueue()
        await until(lambda: runner.statistics().done == 2)
        assert together == [1]
        go.set()
        await until(lambda: runner.statistics().done + runner.statistics().failed == 3)
    assert together in ([1, 1], [1, 1, 1])


async def test_threads_that_hang_are_bounded(memory_file: Database) -> None:
    go = threading.Event()

    @job(retries=0, timeout=0.01)
    def hang() -> None:
        go.wait(30)

    async with running(memory_file, hang, workers=2) as runner:
        for _ in range(OVERDUE + 5):
            await hang.enqueue()
        await until(lambda: runner.statistics().overdue == OVERDUE)
        await until(lambda: runner.statistics().running == 2)
        # The site's own threads are not theirs.
        with trio.fail_after(10):
            await trio.to_thread.run_sync(int)
        go.set()
        await until(lambda: runner.statistics().done + runner.statistics().failed == OVERDUE + 5)


@pytest.fixture
async def memory_file(tmp_path: Path) -> AsyncIterator[Database]:
    with trio.fail_after(60):
        async with opened("file", tmp_path) as opened_database:
            yield opened_database


async def test_arguments_that_do_not_fit_are_left_to_other_code(
    memory: Database, autojump_clock: MockClock
) -> None:
    got: list[tuple[int, str]] = []

    @job(retries=0)
    async def new(number: int, text: str) -> None:
        got.append((number, text))

    @job(retries=0)
    async def old(number: int) -> None:
        raise AssertionError("must not run")

    async with running(memory, new, workers=0):
        with pytest.raises(JobArgumentsMismatch, match="'text'"):
            await new.enqueue(1)
        await new.enqueue(1, "a")
    async with running(memory, old) as runner:
        runner.jobs[new.name] = old
        runner.wake()
        await trio.sleep(20)
        assert (await rows(memory, "attempts"))[0] == 0
        assert "too many positional" in (await rows(memory, "error"))[0]
    async with running(memory, new):
        await trio.sleep(60)
    assert got == [(1, "a")]


async def test_arguments_that_fit_no_code_have_failed_at_last(
    memory: Database, autojump_clock: MockClock
) -> None:
    @job(retries=0)
    async def work(number: int) -> None: ...

    async with running(memory, work):
        await work.enqueue(1)
        await memory.execute("update fx_jobs set args = '[[],{}]'")
        await trio.sleep(1200)

    assert await rows(memory, "state, attempts, misfits") == [
        {"state": "failed", "attempts": 1, "misfits": MISFITS - 1}
    ]
    assert "do not fit its function" in (await rows(memory, "error"))[0]


async def test_what_ended_long_ago_is_forgotten_some_at_a_time(
    memory: Database, autojump_clock: MockClock
) -> None:
    await JobStore(memory).prepare()
    most = []
    real = JobStore.purge

    class Counting(JobStore):
        async def purge(self, state: str, before: float) -> int:
            most.append(await real(self, state, before))
            return most[-1]

    for state in ("done", "failed", "waiting"):
        await memory.executemany(
            f"insert into fx_jobs (name, queue, args, state, due, made, ended)"
            f" values ('a', 'b', '[[],{{}}]', '{state}', 1, 1, $1)",
            [[float(n)] for n in range(2 * PURGED + 10)],
        )
    await _purge(Counting(memory), "done", 2 * PURGED + 5)
    await _purge(Counting(memory), "failed", 10)

    assert most == [PURGED, PURGED, 5, 10]
    left = await memory.all(dict, "select state, count(*) as n from fx_jobs group by state")
    assert {row["state"]: row["n"] for row in left} == {
        "done": 5,
        "failed": 2 * PURGED,
        "waiting": 2 * PURGED + 10,
    }
