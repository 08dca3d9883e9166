"""What only SQLite does."""

from __future__ import annotations

import sqlite3
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from fxtrio.db import Database, DatabaseBusy, DatabaseUnusable, TransactionAborted
from fxtrio.db.sqlite.connection import BUSY_TIMEOUT, statements
from fxtrio.db.sqlite.engine import reads_only
from tests.db.engines import opened

ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"


@pytest.fixture
def engine() -> str:
    return "file"


async def test_a_cancelled_query_is_interrupted(db: Database) -> None:
    with trio.move_on_after(0.05) as scope:
        await db.value(ENDLESS)

    assert scope.cancelled_caught
    assert await db.value("select 1") == 1


async def test_readers_wait_for_no_writer(db: Database) -> None:
    async with trio.open_nursery() as nursery:
        inside, leave = trio.Event(), trio.Event()

        async def write() -> None:
            async with db.transaction():
                await db.execute("insert into notes values (1, 'a')")
                inside.set()
                await leave.wait()

        nursery.start_soon(write)
        await inside.wait()
        assert await db.value("select count(*) from notes") == 0
        leave.set()
    assert await db.value("select count(*) from notes") == 1


async def test_another_process_that_writes_is_waited_for_so_long_and_no_longer(
    db: Database, tmp_path: Path
) -> None:
    other = sqlite3.connect(tmp_path / "data/app.db", isolation_level=None)
    other.execute("begin immediate")
    try:
        with trio.move_on_after(0.05) as scope:  # a cancellation ends the wait at once
            await db.execute("insert into notes values (1, 'a')")
        assert scope.cancelled_caught
    finally:
        other.rollback()
        other.close()
    await db.execute("insert into notes values (1, 'a')")


async def test_a_writer_that_waits_too_long_gets_busy(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with opened("file", tmp_path) as db:
        await db.execute("create table t (a)")
        other = sqlite3.connect(tmp_path / "data/app.db", isolation_level=None)
        other.execute("begin immediate")
        with pytest.raises(DatabaseBusy, match="another process writes for 5 s"):
            await db.execute("insert into t values (1)")
        assert trio.current_time() >= BUSY_TIMEOUT
        other.close()


async def test_files_are_their_owners_alone(db: Database, tmp_path: Path) -> None:
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "data").iterdir()]

    assert modes and not any(mode & 0o077 for mode in modes)


async def test_a_database_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way")

    with pytest.raises(DatabaseUnusable, match=r"database\.url"):
        async with opened("file", tmp_path):
            pass


async def test_a_transaction_that_sqlite_rolled_back_is_not_continued(db: Database) -> None:
    with pytest.raises(TransactionAborted):
        async with db.transaction():
            await db.execute("insert into notes values (1, 'a')")
            with pytest.raises(sqlite3.IntegrityError):
                await db.execute("insert or rollback into notes values (2, 'a')")
            await db.execute("insert into notes values (3, 'c')")

    assert await db.value("select count(*) from notes") == 0


async def test_a_transaction_begun_by_hand_is_undone(db: Database) -> None:
    await db.execute("begin immediate")
    await db.execute("insert into notes values (1, 'a')")

    assert await db.value("select count(*) from notes") == 1
    with pytest.raises(sqlite3.OperationalError, match="no transaction"):
        await db.execute("commit")


OUTSIDE = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=10)
db.execute("insert into notes (text) values (?)", sys.argv[2:])
db.commit()
db.close()
"""


async def test_other_processes_come_and_go_and_no_write_is_lost(
    db: Database, tmp_path: Path
) -> None:
    """A process that closes any descriptor of the file loses all its locks (POSIX), so that
    the next one to leave takes itself for the last, and removes the log that is in use."""
    path = tmp_path / "data/app.db"
    async with db.stream(dict, "select 1"):  # whose readers are opened after the writer
        assert await db.value("select count(*) from notes") == 0
    with trio.fail_after(60):
        for number in range(3):
            outside = [sys.executable, "-c", OUTSIDE, str(path), f"outside {number}"]
            await trio.run_process(outside)
            await db.execute("insert into notes (text) values ($1)", f"inside {number}")

    assert await db.value("select count(*) from notes") == 6


async def test_a_reader_never_writes(db: Database) -> None:
    await db.value("with a as (select 1) insert into notes select 1, 'a' from a returning id")
    assert await db.value("select text from notes") == "a"
    assert [
        reads_only(sql) for sql in ("select 1", " values (1)", "with a as (select 1) select 1")
    ] == [True] * 3
    assert not reads_only("update notes set text = 'select'")


async def test_a_script_within_a_transaction_takes_one_turn_of_the_thread(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_sync, turns = trio.to_thread.run_sync, list[object]()

    async def run_counted(*args: Any, **options: Any) -> Any:
        turns.append(args)
        return await run_sync(*args, **options)

    async with db.transaction():
        await db.execute("insert into notes (text) values ('a')")
        monkeypatch.setattr(trio.to_thread, "run_sync", run_counted)
        await db.run_script("create table b (c text); insert into b values ('d'); select 1;")
        monkeypatch.undo()
    assert len(turns) == 1
    assert await db.value("select c from b") == "d"

    with pytest.raises(sqlite3.OperationalError):
        async with db.transaction():
            await db.run_script("insert into b values ('e'); insert into missing values (1);")
    assert await db.all(dict, "select c from b") == [{"c": "d"}]


def test_a_script_is_divided_at_its_statements() -> None:
    script = """
    create table a (b text default ';'); -- a; b
    create trigger t after insert on a begin insert into a values ('x'); end;
    select 1 -- the end
    """
    found = statements(script)

    assert len(found) == 3 and "".join(found).strip() == script.strip()
    assert statements("select 1; -- nothing\n/* more; */ ") == ["select 1;"]


@given(st.text(alphabet="a;'-\n /*\"", max_size=40))
def test_dividing_loses_nothing_but_what_does_nothing(text: str) -> None:
    assert text.startswith("".join(statements(text)))
