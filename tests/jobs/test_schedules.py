"""Many schedules, broken ones, and clocks that are set back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import attrs
import pytest
import trio
from trio.testing import MockClock

from fx.jobs import every
from fxtrio.db import Database
from fxtrio.db.sqlite.connection import SqliteConnection
from tests.db.engines import opened
from tests.jobs.running import running


@pytest.fixture
async def database(tmp_path: Path, autojump_clock: MockClock) -> AsyncIterator[Database]:
    async with opened("memory", tmp_path) as opened_database:
        yield opened_database


START = datetime(2026, 1, 1, 12, 5, 30, tzinfo=UTC).timestamp()


async def test_thousands_of_schedules_are_enqueued_by_few_statements(
    database: Database, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = 0
    statements = 0
    real = SqliteConnection.run

    async def counting(*args: object) -> object:
        nonlocal statements
        statements += 1
        return await real(*args)  # type: ignore[arg-type]

    @every("* * * * *")
    async def tick() -> None: ...

    jobs = [attrs.evolve(tick, name=f"tick{n}", queue="others") for n in range(1000)]
    async with running(database, *jobs, workers=1, queues=("none",)) as runner:
        runner.clock.offset = START - trio.current_time()
        await trio.sleep(1)
        monkeypatch.setattr(SqliteConnection, "run", counting)
        begun = statements
        await trio.sleep(60)
    assert await database.value("select count(*) from fx_jobs") == 1000
    # One transaction for a hundred of them, and one insert each.
    assert statements - begun < 1000 + 100


async def test_a_schedule_whose_key_fails_delays_no_other(
    database: Database, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[int] = []

    def no_key() -> str:
        raise SystemExit(3)

    @every("* * * * *", unique=no_key)
    async def broken() -> None: ...

    @every("* * * * *")
    async def sound() -> None:
        seen.append(1)

    async with running(database, broken, sound) as runner:
        runner.clock.offset = START - trio.current_time()
        await trio.sleep(150)
    assert len(seen) == 2
    assert "broken was not enqueued" in caplog.text


async def test_schedules_continue_when_the_clock_is_set_back(
    database: Database, autojump_clock: MockClock
) -> None:
    minutes: list[int] = []
    hours: list[int] = []

    @every("* * * * *")
    async def each_minute() -> None:
        minutes.append(1)

    @every("0 12 * * *")
    async def at_noon() -> None:
        hours.append(1)

    async with running(database, each_minute, at_noon) as runner:
        runner.clock.offset = START - 600 - trio.current_time()
        runner.wake()
        await trio.sleep(600)  # noon is over
        before = len(minutes)
        runner.clock.offset -= 3600
        await trio.sleep(120)
        assert len(minutes) - before in (1, 2, 3)
        await trio.sleep(3600)
    assert len(minutes) >= 65
    assert len(hours) == 1
