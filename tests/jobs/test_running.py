"""What becomes of a durable job, on every engine and in real time."""

from __future__ import annotations

import os
import resource
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from fx.db import db
from fx.jobs import JobArgumentsInvalid, JobsNotRunning, job
from fx.tasks import enqueue
from fxtrio.context import get_request_id
from fxtrio.db import Database
from fxtrio.jobs.store import CRASHES, JobStore
from fxtrio.process_identity import is_dead, is_here, new_identity
from fxtrio.tasks import open_task_queue
from tests.db.engines import opened
from tests.jobs.running import rows, running
from tests.short import amount


@pytest.fixture
async def database(engine: str, tmp_path: Path) -> AsyncIterator[Database]:
    with trio.fail_after(60):
        async with opened(engine, tmp_path) as opened_database:
            await opened_database.execute("create table effects (n integer)")
            yield opened_database


class Seen(list[object]):
    """What jobs have recorded, and a wait for so many records."""

    def __init__(self) -> None:
        super().__init__()
        self._more = trio.Event()

    def add(self, value: object) -> None:
        self.append(value)
        self._more.set()

    async def wait(self, count: int) -> None:
        while len(self) < count:
            self._more = trio.Event()
            await self._more.wait()


async def test_a_job_is_run_with_its_arguments_and_its_request(database: Database) -> None:
    seen = Seen()

    @job()
    async def send(number: int, *, to: list[str]) -> None:
        seen.add((number, to, get_request_id()))

    async with running(database, send):
        assert await send.enqueue(7, to=["a"]) == 1
        await seen.wait(1)

    assert seen == [(7, ["a"], "0123")]
    assert await rows(database) == ["done"]


async def test_a_job_is_part_of_the_transaction_around(database: Database) -> None:
    seen = Seen()

    @job()
    def send(number: int) -> None:
        trio.from_thread.run_sync(seen.add, number)

    async with running(database, send):
        with pytest.raises(KeyError):
            async with database.transaction():
                await send.enqueue(1)
                raise KeyError
        async with database.transaction():
            await send.enqueue(2)
            await trio.sleep(0.02)
            assert seen == []
        await seen.wait(1)

    assert seen == [2]


async def test_a_unique_job_waits_or_runs_once(database: Database) -> None:
    seen, go = Seen(), trio.Event()

    @job(unique=True)
    async def report(number: int) -> None:
        await go.wait()
        seen.add(number)

    @job(unique=lambda number, text: str(number))
    async def other(number: int, text: str) -> None: ...

    async with running(database, report, other):
        assert [await report.enqueue(n) is None for n in (1, 1, 2)] == [False, True, False]
        assert [await other.enqueue(1, text) is None for text in "ab"] == [False, True]
        go.set()
        await seen.wait(2)
        with trio.fail_after(5):
            while await report.enqueue(1) is None:  # until the end of the first is written
                await trio.lowlevel.checkpoint()
        await seen.wait(3)

    assert sorted(map(str, seen)) == ["1", "1", "2"]


async def test_an_atomic_job_leaves_its_effect_and_its_end_together(database: Database) -> None:
    tries = Seen()

    @job(atomic=True, retries=1, backoff=0)
    async def count(number: int) -> None:
        await db.execute("insert into effects values ($1)", number)
        tries.add(number)
        if len(tries) == 1:
            raise KeyError("the first time")

    async with running(database, count):
        await count.enqueue(5)
        await tries.wait(2)

    assert await database.all(dict, "select n from effects") == [{"n": 5}]
    assert await rows(database, "state, attempts") == [{"state": "done", "attempts": 2}]


async def test_a_job_that_fails_may_be_claimed_again_at_once(database: Database) -> None:
    retries = amount(60, long=200)
    tries = Seen()

    @job(retries=retries, backoff=0)
    async def fail() -> None:
        tries.add(1)
        raise KeyError("again")

    async with running(database, fail, workers=2) as runner:
        await fail.enqueue()
        while runner.statistics().failed < 1:  # its next claim comes while it ends
            runner.wake()
            await trio.lowlevel.checkpoint()

    assert len(tries) == retries + 1
    assert await rows(database, "state, attempts") == [{"state": "failed", "attempts": retries + 1}]


async def test_at_shutdown_unfinished_jobs_return_to_the_queue(database: Database) -> None:
    begun = Seen()

    @job()
    async def long(number: int) -> None:
        begun.add(number)
        await trio.sleep_forever()

    async with running(database, long, workers=2, drain=0.01) as runner:
        for number in range(3):
            await long.enqueue(number)
        await begun.wait(2)

    assert await rows(database, "state, attempts") == [{"state": "waiting", "attempts": 0}] * 3
    assert runner.statistics().returned == 2
    assert await JobStore(database).look("") == ({}, [])


async def test_jobs_of_a_dead_process_go_back_and_at_last_fail(database: Database) -> None:
    seen = Seen()

    @job()
    async def send(number: int) -> None:
        seen.add(number)

    async with running(database, send, workers=0) as runner:
        await send.enqueue(1)
        await send.enqueue(2)
        store, now = runner.store, runner.now()
        await store.claim("machine/1/1/a", now, [send.name], [], 2)
        await store.beat("machine/1/1/a", now - 60, first=True)
        await database.execute("update fx_jobs set crashes = $1 where id = 2", CRASHES - 1)
    async with running(database, send):
        await seen.wait(1)

    assert seen == [1]
    assert await rows(database, "state, attempts, crashes") == [
        {"state": "done", "attempts": 1, "crashes": 1},
        {"state": "failed", "attempts": 0, "crashes": CRASHES},
    ]


async def test_who_was_abandoned_cannot_end_what_others_run(database: Database) -> None:
    seen, go = Seen(), trio.Event()

    @job(atomic=True)
    async def count() -> None:
        await db.execute("insert into effects values (1)")
        seen.add(1)

    async with running(database, count, workers=0) as runner:
        await count.enqueue()
        await runner.store.claim("a/1/1/a", runner.now(), [count.name], [], 1)
        await runner.store.release_dead([], runner.now())
        await runner.store.claim("a/1/1/b", runner.now(), [count.name], [], 1)
        assert await runner.store.finish("a/1/1/a", [1], runner.now()) == 0
        assert await runner.store.finish("a/1/1/b", [1], runner.now()) == 1
    go.set()


async def test_the_log_names_a_job_that_fails_since_its_processes_died(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    @job
    async def crash() -> None:
        """Never run."""

    async with running(database, crash, workers=0) as runner:
        await crash.enqueue()
        for number in range(CRASHES):
            assert caplog.text == ""
            claim, now = runner.store.claim, runner.now()
            await claim(f"a/1/1/{number}", now, [crash.name], [], 1, suspects=number >= 2)
            assert await runner.store.release_dead([], now) == 1
    assert f"Job {crash.name} (1) failed: 5 processes that ran it died" in caplog.text


async def test_a_process_takes_its_queues_and_what_it_knows(database: Database) -> None:
    seen = Seen()

    @job(queue="mail")
    async def send() -> None:
        seen.add("mail")

    @job()
    async def other() -> None:
        seen.add("other")

    async with running(database, send, other, queues=("mail",)):
        await other.enqueue()
        await send.enqueue()
        await seen.wait(1)
    async with running(database, send):
        pass
    assert seen == ["mail"]
    assert await rows(database) == ["waiting", "done"]


async def test_news_reach_other_processes(
    database: Database, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "memory":
        return  # no other process sees it
    seen = Seen()

    @job()
    async def send() -> None:
        seen.add(1)

    monkeypatch.setattr("fxtrio.jobs.running.runner._POLL", 3600.0)  # it does not look by itself
    async with opened(engine, tmp_path) as elsewhere, running(database, send):
        async with running(elsewhere, send, workers=0):
            while not seen:  # the first may come before it listens
                await send.enqueue()
                with trio.move_on_after(0.2):
                    await seen.wait(1)


async def test_a_job_without_options_needs_no_brackets(database: Database) -> None:
    ran: list[str] = []
    done = trio.Event()

    @job
    async def send(text: str) -> None:
        ran.append(text)
        done.set()

    async with running(database, send):
        await send.enqueue("hello")
        with trio.fail_after(30):
            await done.wait()
    assert ran == ["hello"]


async def test_arguments_that_cannot_be_stored_are_rejected(database: Database) -> None:
    @job()
    async def send(value: object) -> None: ...

    with pytest.raises(JobsNotRunning, match=r"send\.enqueue: no app of fxtrio runs here"):
        await send.enqueue(1)
    async with running(database, send):
        for value in (object(), float("nan")):
            with pytest.raises(JobArgumentsInvalid, match="stored as JSON"):
                await send.enqueue(value)


async def test_the_queue_in_the_process_names_the_durable_one() -> None:
    @job()
    async def send() -> None: ...

    async with open_task_queue(capacity=1, workers=1, drain_timeout=1) as queue:
        with pytest.raises(TypeError, match=r"write await send\.enqueue\(…\)"):
            queue.enqueue(send)
    assert callable(enqueue)


def test_a_process_that_has_ended_is_known() -> None:
    me = new_identity()
    machine, pid, _, random = me.split("/")

    assert not is_dead(me)
    assert is_dead(f"{machine}/{pid}/1/{random}")  # the number is used again
    assert not is_dead(f"other/{pid}/1/{random}")


def test_without_descriptors_nobody_is_taken_for_dead() -> None:
    me = new_identity()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
    try:
        here, dead, nameless = is_here(me), is_dead(me), new_identity()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert here  # so that no lease decides instead
    assert not dead
    assert not is_here(nameless)


def test_an_atomic_job_is_async() -> None:
    with pytest.raises(TypeError, match="async def"):

        @job(atomic=True)
        def send() -> None: ...


async def test_an_error_that_no_database_can_hold_keeps_no_worker(database: Database) -> None:
    @job(retries=0)
    async def fail(text: str) -> None:
        raise ValueError(text + os.fsdecode(b"\xff"))  # as names of files can be

    with trio.fail_after(10):
        async with running(database, fail, workers=1):
            await fail.enqueue("a\0b")
            await fail.enqueue("c")
            while await rows(database) != ["failed", "failed"]:  # noqa: ASYNC110  # no event tells
                await trio.sleep(0.01)

    assert "a\N{REPLACEMENT CHARACTER}b" in (await rows(database, "error"))[0]


async def test_a_job_that_is_retried_without_end_stays_one(database: Database) -> None:
    @job(retries=10_000, backoff=0.0)
    async def fail() -> None:
        raise ValueError("no")

    with trio.fail_after(10):
        async with running(database, fail):
            number = await fail.enqueue(delay=3600)
            sql = "update fx_jobs set attempts = 5000, due = 0 where id = $1"
            await database.execute(sql, number)
            await fail.enqueue()
            while (await rows(database, "attempts"))[0] < 5001:  # noqa: ASYNC110  # no event tells
                await trio.sleep(0.01)


async def test_what_was_done_long_ago_is_forgotten(database: Database) -> None:
    seen = Seen()

    @job()
    async def send() -> None:
        seen.add(1)

    async with running(database, send):
        await send.enqueue()
        await send.enqueue()
        await seen.wait(2)
    await database.execute("update fx_jobs set ended = ended - 4000 where id = 1")  # kept: 3600 s
    if database.alone:
        assert await JobStore(database).purge(
            "done", await database.value("select max(ended)-9 from fx_jobs")
        )
    async with running(database, send):
        while len(await rows(database)) > 1:  # noqa: ASYNC110  # no event tells
            await trio.sleep(0.01)
    assert await rows(database, "id") == [2]
