"""How many jobs a process claims, and what becomes of those that it cannot begin."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
import trio
from trio.testing import MockClock

from fx.jobs import job
from fxtrio.db import Database
from fxtrio.jobs import Job, JobRunner
from fxtrio.jobs.lanes import SUSPECT
from fxtrio.jobs.running.prefetch import AHEAD, HOLD, MOST, Prefetch
from fxtrio.jobs.store import CRASHES, Claimed, JobStore
from tests.db.engines import opened
from tests.jobs.running import rows, running


def claimed(*numbers: int) -> list[Claimed]:
    return [Claimed(n, "a.b", "[[],{}]", 1, None, "w", 0.0, 0) for n in numbers]


@pytest.fixture
async def database(tmp_path: Path, autojump_clock: MockClock) -> AsyncIterator[Database]:
    async with opened("memory", tmp_path) as opened_database:
        yield opened_database


async def fill(runner: JobRunner, *jobs: tuple[Job[Any], Sequence[object]]) -> None:
    """Keep jobs, all of them at once."""
    async with runner.store.database.transaction():
        for one, args in jobs:
            await one.enqueue(*args)


def test_nothing_is_claimed_ahead_before_it_is_known_how_fast_jobs_end() -> None:
    prefetch = Prefetch(4)

    assert prefetch.room(0.0, running=1) == 3
    prefetch.add(claimed(1, 2, 3), 3, 0.0)
    assert prefetch.room(1.0, running=1) == 0


@pytest.mark.parametrize(
    ("ended", "seconds", "ahead"),
    [(0, 1.0, 0), (1, 1.0, 0), (100, 1.0, 100 * AHEAD), (10_000, 0.1, MOST), (5, 0.0, 0)],
)
def test_as_many_are_claimed_ahead_as_end_in_a_moment(
    ended: int, seconds: float, ahead: float
) -> None:
    prefetch = Prefetch(4)
    prefetch.add([], 4, 0.0)
    for _ in range(ended):
        prefetch.end_one()

    assert prefetch.room(seconds, running=0) == 4 + ahead


def test_more_are_claimed_when_half_of_them_have_begun_or_all_where_no_more_were_there() -> None:
    full, short = Prefetch(1), Prefetch(1)
    full.add(claimed(*range(10)), 10, 0.0)
    short.add(claimed(*range(10)), 11, 0.0)

    def begun_when_it_is_time(prefetch: Prefetch) -> int:
        while not prefetch.end_one():
            prefetch.waiting.popleft()
        return 10 - len(prefetch.waiting)

    assert begun_when_it_is_time(full) == 5
    assert begun_when_it_is_time(short) == 10


def test_what_was_held_for_too_long_is_taken_away() -> None:
    prefetch = Prefetch(1)
    assert prefetch.take_held(100.0) == []
    prefetch.add(claimed(1, 2), 2, 0.0)

    assert prefetch.take_held(HOLD / 2) == []
    assert [one.id for one in prefetch.take_held(HOLD)] == [1, 2]
    assert not prefetch.waiting


async def test_jobs_behind_slow_ones_go_back_to_other_processes(
    database: Database, autojump_clock: MockClock
) -> None:
    begun: list[int] = []

    @job()
    async def sleep(number: int, seconds: float) -> None:
        begun.append(number)
        await trio.sleep(seconds)

    async with running(database, sleep, workers=1, drain=0) as runner:
        short = [(sleep, [n, 0.001]) for n in range(500)]
        await fill(runner, *short, *((sleep, [n, 60]) for n in range(500, 600)))
        await trio.sleep(5)
        assert begun == list(range(501))
        assert (await rows(database))[500:] == ["running"] + ["waiting"] * 99
        assert set(await rows(database, "attempts")) == {0, 1}


async def test_many_short_jobs_need_few_statements(
    database: Database, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[str] = []

    def counted(name: str, real: Any) -> Any:
        async def call(*args: Any, **named: Any) -> Any:
            statements.append(name)
            await trio.sleep(0.002)
            return await real(*args, **named)

        return call

    for name in ("claim", "finish", "next_due"):
        monkeypatch.setattr(JobStore, name, counted(name, getattr(JobStore, name)))

    @job()
    async def no_op() -> None:
        await trio.sleep(0.00001)

    async with running(database, no_op) as runner:
        await fill(runner, *((no_op, []) for _ in range(3000)))
        while runner.statistics().done < 3000:  # noqa: ASYNC110  # no event tells
            await trio.sleep(0.01)

    assert len(statements) < 200


async def test_jobs_that_may_have_killed_processes_run_one_at_a_time(
    database: Database, autojump_clock: MockClock
) -> None:
    together: list[set[str]] = []
    now: set[str] = set()

    @job()
    async def work(name: str) -> None:
        now.add(name)
        together.append(set(now))
        await trio.sleep(1)
        now.remove(name)

    async with running(database, work, workers=0) as runner:
        await fill(runner, *((work, [name]) for name in ("s1", "s2", "s3", "a", "b", "c")))
        await database.execute("update fx_jobs set crashes = $1 where id <= 3", SUSPECT)
    async with running(database, work):
        await trio.sleep(10)

    assert set(await rows(database)) == {"done"}
    assert max(len(group) for group in together) > 1
    assert all(sum(name.startswith("s") for name in group) <= 1 for group in together)


async def test_they_come_also_where_there_is_always_something_else(
    database: Database, autojump_clock: MockClock
) -> None:
    done: list[str] = []

    @job()
    async def work(name: str) -> None:
        done.append(name)
        await trio.sleep(1)
        await work.enqueue(name)

    async with running(database, work, workers=0) as runner:
        await fill(runner, *((work, [name]) for name in ("suspect", *"abcdefgh")))
        await database.execute("update fx_jobs set crashes = $1 where id = 1", SUSPECT)
    async with running(database, work, workers=2, drain=0):
        await trio.sleep(20)

    assert "suspect" in done


async def test_the_company_of_a_job_that_kills_does_not_fail_with_it(
    database: Database, autojump_clock: MockClock
) -> None:
    @job()
    async def work(number: int) -> None: ...

    async with running(database, work, workers=0) as runner:
        await fill(runner, *((work, [number]) for number in range(20)))
        store, now = runner.store, runner.now()
        for crash in range(2 * CRASHES):  # processes that take all they can, and die of job 1
            await store.claim(f"a/1/1/{crash}", now, [work.name], [], 8)
            await store.claim(f"a/1/1/{crash}", now, [work.name], [], 1, suspects=True)
            taken = await database.value("select state from fx_jobs where id = 1")
            if taken == "running":
                await store.release_dead([], now)
            else:
                await store.give_back(f"a/1/1/{crash}")

    failed = await database.all(dict, "select id, crashes from fx_jobs where state = 'failed'")
    assert failed == [{"id": 1, "crashes": CRASHES}]


async def test_what_a_claim_took_whose_answer_was_lost_is_run(
    database: Database, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int] = []
    real = JobStore.claim

    async def claim(*args: Any, **named: Any) -> list[Claimed]:
        found = await real(*args, **named)
        if found and not lost:
            lost.extend(found)
            raise psycopg.OperationalError("the connection is lost")
        return found

    @job()
    async def work(number: int) -> None:
        done.append(number)

    lost: list[Claimed] = []
    monkeypatch.setattr(JobStore, "claim", claim)
    async with running(database, work) as runner:
        await fill(runner, *((work, [number]) for number in range(4)))
        await trio.sleep(5)

    assert len(lost) == 4
    assert sorted(done) == [0, 1, 2, 3]
    assert set(await rows(database, "attempts")) == {1}


async def test_a_claim_that_comes_while_the_process_stops_holds_nobody_up(
    database: Database, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = JobStore.claim

    async def claim(*args: Any, **named: Any) -> list[Claimed]:
        with trio.CancelScope(shield=True):  # as a thread that is not given up
            await trio.sleep(1)
            found: list[Claimed] = await real(*args, **named)
        return found

    @job()
    async def sleep(seconds: float) -> None:
        await trio.sleep(seconds)

    monkeypatch.setattr(JobStore, "claim", claim)
    async with running(database, sleep, workers=2, drain=3600) as runner:
        await fill(runner, (sleep, [5]), (sleep, [10]))
        await trio.sleep(1.5)
        await fill(runner, *((sleep, [5]) for _ in range(20)))
        await trio.sleep(4.6)

    assert trio.current_time() < 20
    assert await rows(database) == ["done"] * 2 + ["waiting"] * 20


async def test_at_shutdown_claims_that_have_not_begun_are_released_at_once(
    database: Database, autojump_clock: MockClock
) -> None:
    states: list[list[str]] = []

    @job()
    async def sleep(seconds: float) -> None:
        await trio.sleep(seconds)

    async with running(database, sleep, workers=1, drain=60) as runner:
        await fill(runner, *((sleep, [0.001]) for _ in range(100)), (sleep, [1.0]))
        await trio.sleep(0.15)
        async with trio.open_nursery() as nursery:
            await fill(runner, *((sleep, [9.0]) for _ in range(3)))
            nursery.start_soon(runner.drain, 60)
            await trio.sleep(0.5)
            states.append((await rows(database))[100:])
            await trio.sleep(1.0)
            states.append((await rows(database))[100:])

    assert states == [
        ["running", "waiting", "waiting", "waiting"],
        ["done", "waiting", "waiting", "waiting"],  # written before the process ends
    ]
