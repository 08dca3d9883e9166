"""A database that refuses to write, though it can be read: its disk is full, or it only reads."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

import psycopg
import pytest
import trio

from fxtrio.db import Database
from fxtrio.db.sqlite import engine as sqlite
from tests.db.engines import opened


async def make_read_only(db: Database) -> None:
    if db.dialect == "sqlite":
        await db.execute("pragma max_page_count = 1")
    else:
        name = await db.value("select current_database()")
        await db.execute(f"alter database {name} set default_transaction_read_only = on")
        await db.execute("set default_transaction_read_only = on")


async def restore(db: Database) -> None:
    if db.dialect == "sqlite":
        await db.execute("pragma max_page_count = 100000")
    else:
        name = await db.value("select current_database()")
        await db.run_script(
            "set transaction read write;"
            "set default_transaction_read_only = off;"
            f"alter database {name} reset default_transaction_read_only"
        )


async def write(db: Database) -> None:
    await db.execute("insert into notes values (1, $1)", "a" * 100_000)


WRITE_ERRORS = (sqlite3.OperationalError, psycopg.errors.ReadOnlySqlTransaction)


@pytest.mark.parametrize("in_transaction", [False, True])
async def test_one_that_rejected_a_write_is_tried_until_it_takes_one(
    db: Database, in_transaction: bool
) -> None:
    await make_read_only(db)
    assert await db.can_write()  # nothing was refused yet
    with pytest.raises(WRITE_ERRORS):
        if in_transaction:
            async with db.transaction():
                await write(db)
        else:
            await write(db)
    for each in (db, db.reserve(), db):
        assert not await each.can_write()
    assert await db.value("select count(*) from notes") == 0  # reading goes on
    await restore(db)
    for each in (db.reserve(), db):
        assert await each.can_write()
    await write(db)


async def test_a_trial_leaves_nothing_behind(db: Database, tmp_path: Path) -> None:
    await make_read_only(db)
    with pytest.raises(WRITE_ERRORS):
        await write(db)
    await restore(db)
    files = sorted((tmp_path / "data").glob("*"))
    assert await db.can_write()
    assert sorted((tmp_path / "data").glob("*")) == files
    assert not db.in_transaction
    with pytest.raises((sqlite3.OperationalError, psycopg.errors.UndefinedTable)):
        await db.value("select count(*) from fx_trial")


async def test_many_rows_and_scripts_are_rejected_like_single_statements(db: Database) -> None:
    for number in range(2):
        await make_read_only(db)
        with pytest.raises(WRITE_ERRORS):
            if number:
                await db.run_script(f"insert into notes values (1, '{'a' * 100_000}')")
            else:
                await db.executemany("insert into notes values ($1, $2)", [(1, "a" * 100_000)])
        assert not await db.can_write()
        await restore(db)
        assert await db.can_write()


async def test_the_disk_itself_is_tried_where_sqlite_has_the_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")

    def fail(folder: Path) -> None:
        assert folder == tmp_path / "data"
        raise full

    with trio.fail_after(60):
        async with opened("file", tmp_path) as db:
            await db.execute("create table notes (id integer primary key, text text)")
            await make_read_only(db)
            with pytest.raises(sqlite3.OperationalError):
                await write(db)
            await restore(db)
            with monkeypatch.context() as patch:
                patch.setattr(sqlite, "try_folder", fail)
                assert not await db.can_write()
            assert await db.can_write()


async def test_who_may_make_no_table_is_believed_to_write(
    postgres_url: str, tmp_path: Path
) -> None:
    name = postgres_url.partition("@/")[2].partition("?")[0]
    with trio.fail_after(60):
        async with opened(postgres_url, tmp_path) as db:
            await db.execute("do $$ begin create role visitor login; exception"
                             " when duplicate_object then null; end $$")  # fmt: skip
            await db.execute(f"revoke temporary on database {name} from public")
        async with opened(postgres_url.replace("//fx@", "//visitor@"), tmp_path) as db:
            with pytest.raises(psycopg.errors.DiskFull):
                await db.execute("do $$ begin raise exception using errcode = '53100'; end $$")
            assert await db.can_write()
