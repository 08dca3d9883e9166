"""Retries, timeouts and schedules, on a clock that jumps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import trio
from trio.testing import MockClock

from fx.jobs import CronInvalid, every, job
from fxtrio.db import Database
from fxtrio.db.sqlite.connection import SqliteConnection
from fxtrio.jobs import JobRunner
from fxtrio.jobs.decorators import Schedule
from tests.db.engines import opened
from tests.jobs.running import rows, running

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
async def database(tmp_path: Path, autojump_clock: MockClock) -> AsyncIterator[Database]:
    async with opened("memory", tmp_path) as opened_database:
        yield opened_database


def begin_at(runner: JobRunner, moment: datetime) -> None:
    """Let the runner's time begin at a moment."""
    runner.clock.offset = moment.timestamp() - trio.current_time()


async def test_a_job_is_tried_again_after_longer_and_longer_pauses(
    database: Database, autojump_clock: MockClock
) -> None:
    times: list[float] = []

    @job(retries=3, backoff=2)
    async def send() -> None:
        times.append(trio.current_time())
        raise KeyError("again")

    async with running(database, send):
        await send.enqueue(delay=60)
        await trio.sleep(1000)

    assert times == pytest.approx([60, 62, 66, 74], abs=0.1)
    assert await rows(database, "state, attempts") == [{"state": "failed", "attempts": 4}]
    (error,) = await rows(database, "error")
    assert "KeyError: 'again'" in error and "test_time.py" in error


async def test_the_pauses_between_tries_end_growing(
    database: Database, autojump_clock: MockClock
) -> None:
    times: list[float] = []

    @job(retries=3, backoff=20 * 86_400)
    async def send() -> None:
        times.append(trio.current_time() / 86_400)
        raise KeyError("again")

    async with running(database, send):
        await send.enqueue()
        await trio.sleep(100 * 86_400)

    assert times == pytest.approx([0, 20, 50, 80], abs=0.1)


@pytest.mark.parametrize("delay", [float("inf"), float("nan"), 1e12])
async def test_a_moment_without_a_date_is_rejected(database: Database, delay: float) -> None:
    @job()
    async def send() -> None:
        raise AssertionError("must not run")

    async with running(database, send):
        with pytest.raises(ValueError, match="the delay is"):
            await send.enqueue(delay=delay)

    assert await rows(database, "state") == []


async def test_a_job_that_takes_too_long_has_failed(
    database: Database, autojump_clock: MockClock
) -> None:
    @job(retries=0, timeout=30)
    async def send() -> None:
        await trio.sleep(60)

    async with running(database, send):
        await send.enqueue()
        await trio.sleep(31)

    (error,) = await rows(database, "error")
    assert "took longer than 30 s" in error


async def test_each_time_of_a_year_comes_once_through_both_changes_of_the_clock(
    database: Database, autojump_clock: MockClock
) -> None:
    days: list[datetime] = []

    @every("30 2 * * *", tz="Europe/Berlin")
    async def nightly() -> None:
        days.append(datetime.fromtimestamp(runner.now(), BERLIN))

    async with running(database, workers=0) as runner:
        pass
    async with running(database, nightly) as runner:
        begin_at(runner, datetime(2026, 1, 1, tzinfo=UTC))
        await trio.sleep(365 * 86400)

    assert len(days) == 365 and len({day.date() for day in days}) == 365
    assert {(day.hour, day.minute) for day in days} == {(2, 30), (3, 0)}
    assert [day.date().isoformat() for day in days if day.hour == 3] == ["2026-03-29"]


async def test_a_year_of_schedules_retries_and_timeouts_is_little_work(
    database: Database, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[datetime] = []
    statements = 0
    run = SqliteConnection.run

    async def counting(*args: Any) -> Any:
        nonlocal statements
        statements += 1
        return await run(*args)

    monkeypatch.setattr(SqliteConnection, "run", counting)

    @every("30 2 * * *", tz="Europe/Berlin", retries=1, timeout=30, backoff=60)
    async def nightly() -> None:
        tried.append(datetime.fromtimestamp(runner.now(), BERLIN))
        if len(tried) % 2:
            await trio.sleep(3600)

    async with running(database, nightly) as runner:
        begin_at(runner, datetime(2026, 1, 1, tzinfo=UTC))
        await trio.sleep(365 * 86400)

    assert len(tried) == 2 * 365
    assert runner.statistics().retried == runner.statistics().done == 365
    assert {(later - first).total_seconds() for first, later in batched(tried)} <= {90.0}
    assert [day.date().isoformat() for day in tried[::2] if day.hour == 3] == ["2026-03-29"]
    assert statements < 20 * 365


def batched(moments: list[datetime]) -> list[tuple[datetime, datetime]]:
    """Return the tries of each night; the offset of Berlin changes in no pair."""
    return [
        (first.replace(microsecond=0), later.replace(microsecond=0))
        for first, later in zip(moments[::2], moments[1::2], strict=True)
    ]


async def test_of_missed_times_only_the_last_is_run(
    database: Database, autojump_clock: MockClock
) -> None:
    seen: list[int] = []

    @every("0 * * * *")
    async def hourly() -> None:
        seen.append(1)

    start = datetime(2026, 1, 1, 0, 30, tzinfo=UTC)
    async with running(database, hourly) as runner:
        begin_at(runner, start)
        await trio.sleep(3600)
    assert len(seen) == 1
    await trio.sleep(10 * 3600)  # nobody runs
    async with running(database, hourly) as runner:
        begin_at(runner, start.replace(hour=11))
        await trio.sleep(60)
    assert len(seen) == 2


async def test_several_processes_run_each_time_once(
    database: Database, autojump_clock: MockClock
) -> None:
    seen: list[int] = []

    @every("* * * * *")
    async def each_minute() -> None:
        seen.append(1)

    async with running(database, each_minute) as one, running(database, each_minute) as two:
        for runner in (one, two):
            begin_at(runner, datetime(2026, 1, 1, tzinfo=UTC))
        await trio.sleep(3600 - 30)

    assert len(seen) == 59


@pytest.mark.parametrize(
    ("times", "tz", "cause"),
    [
        ("0 3 * *", "UTC", "it has 4 fields"),
        ("61 * * * *", "UTC", "[Bb]ad minute"),
        ("0 0 31 2 *", "UTC", "Bad day-of-month"),
        ("0 3 * * *", "Europe/Atlantis", "no time zone 'Europe/Atlantis'"),
    ],
)
def test_times_that_never_come_are_rejected(times: str, tz: str, cause: str) -> None:
    with pytest.raises(CronInvalid, match=cause):
        every(times, tz=tz)


def test_before_and_after_meet() -> None:
    schedule = Schedule.read("0 3 * * *", "Europe/Berlin")
    noon = datetime(2026, 3, 29, 12, tzinfo=BERLIN).timestamp()

    assert (
        datetime.fromtimestamp(schedule.before(noon), BERLIN).isoformat()[:16] == "2026-03-29T03:00"
    )
    assert (
        datetime.fromtimestamp(schedule.after(noon), BERLIN).isoformat()[:16] == "2026-03-30T03:00"
    )
