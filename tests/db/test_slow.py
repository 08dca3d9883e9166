"""Statements that take long are in the log, with their place and without their values."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from fxtrio.config import DatabaseConfig
from fxtrio.db.open import open_database

CANARY = "canary-99e1"


async def test_a_slow_statement_is_logged_without_values(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, autojump_clock: MockClock
) -> None:
    async with open_database(DatabaseConfig(url="sqlite://", slow=0.5), tmp_path) as database:

        async def hold() -> None:
            async with database.transaction():
                await database.execute("create table t (name text)")
                task_status.set()
                await trio.sleep(2)

        task_status = trio.Event()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(hold)
            await task_status.wait()
            await database.all(dict, f"select $1 as a, '{CANARY}' as b, 1234567 as c", CANARY)
        await database.value("select 1")

    [line] = [one.getMessage() for one in caplog.records if one.name == "fx.db"]
    assert line.endswith(
        "a statement took 2.00 s (1 rows, the wait for a connection included): "
        "select $1 as a, ? as b, ? as c"
    )
    assert "test_slow.py:" in line
    assert CANARY not in line
