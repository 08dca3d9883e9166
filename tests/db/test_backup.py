"""Backups of SQLite while it is used, the way back, and a file that is replaced under a server."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner, Result

from fx.testing import open_app
from fxtrio.cli import main
from fxtrio.db import DatabaseBusy
from fxtrio.db.sqlite.backup import BackupFailed, back_up, restore
from tests.db.engines import opened
from tests.trees import page, write_tree

CONFIG = '{"database": {"url": "sqlite:///data/app.db"}}'


def fx(root: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["db", *words, "--root", str(root)])


async def test_a_backup_is_whole_while_others_write(tmp_path: Path) -> None:
    async with opened("file", tmp_path) as db:
        await db.execute("create table t (a integer, b integer)")

        async def write() -> None:
            for number in range(300):
                async with db.transaction():
                    await db.execute("insert into t values ($1, 1)", number)
                    await db.execute("insert into t values ($1, -1)", number)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(write)
            await trio.to_thread.run_sync(back_up, tmp_path / "data/app.db", tmp_path / "b")
            written = await db.value("select count(*) from t")
    with sqlite3.connect(tmp_path / "b") as copy:
        [(total, count)] = copy.execute("select coalesce(sum(b), 0), count(*) from t").fetchall()
    copy.close()
    assert total == 0 and count <= written
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / ".b.part").exists()


async def test_a_backup_comes_back_into_the_same_file(tmp_path: Path) -> None:
    write_tree(tmp_path, {"fx.config.json": CONFIG})
    file = tmp_path / "data/app.db"
    async with opened("file", tmp_path) as db:
        await db.execute("create table t (a integer)")
        assert fx(tmp_path, "backup", str(tmp_path / "b")).exit_code == 0
        await db.execute("insert into t values (1)")
        running = fx(tmp_path, "restore", str(tmp_path / "b"))
        assert running.exit_code == 1
        assert "a process uses it" in running.output + str(running.exception)
        await db.execute("insert into t values (2)")  # which goes on as before
    inode = file.stat().st_ino
    assert fx(tmp_path, "restore", str(tmp_path / "b")).exit_code == 0
    assert file.stat().st_ino == inode
    async with opened("file", tmp_path) as db:
        assert await db.value("select count(*) from t") == 0
    [before] = (tmp_path / "data").glob("app.db.before-*")
    raw = sqlite3.connect(before)
    assert raw.execute("select count(*) from t").fetchone() == (2,)
    raw.close()


def test_a_file_that_is_no_backup_changes_nothing(tmp_path: Path) -> None:
    for name in ("app.db", "other"):
        raw = sqlite3.connect(tmp_path / name)
        raw.execute("create table t (a text)")
        raw.executemany("insert into t values (?)", [("x" * 1000,)] * 100)
        raw.commit()
        raw.close()
    damaged = bytearray((tmp_path / "other").read_bytes())
    damaged[8192:40960] = bytes(32768)
    (tmp_path / "damaged").write_bytes(damaged)
    (tmp_path / "text").write_text("no database" * 1000)
    before = (tmp_path / "app.db").read_bytes()
    for name in ("damaged", "text", "nowhere", "app.db"):
        with pytest.raises(BackupFailed):
            restore(tmp_path / name, tmp_path / "app.db")
    with pytest.raises(BackupFailed, match="there is such a file"):
        back_up(tmp_path / "app.db", tmp_path / "other")
    assert (tmp_path / "app.db").read_bytes() == before


def test_postgresql_has_its_own_tools(tmp_path: Path) -> None:
    write_tree(
        tmp_path, {"fx.config.json": CONFIG.replace("sqlite:///data/app.db", "postgresql://x/y")}
    )
    assert "Use pg_dump" in fx(tmp_path, "backup", "b").output


@pytest.mark.parametrize("how", ["replaced", "deleted"])
async def test_nothing_is_written_into_a_file_that_was_removed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    file = tmp_path / "data/app.db"
    async with opened("file", tmp_path) as db, trio.open_nursery() as nursery:
        await db.execute("create table t (a integer)")
        back_up(file, tmp_path / "copy")
        if how == "replaced":
            (tmp_path / "copy").replace(file)
        else:
            file.unlink()
        for _ in range(2):
            with pytest.raises(DatabaseBusy, match="was replaced, moved or deleted"):
                await db.execute("insert into t values (1)")
        with pytest.raises(DatabaseBusy):
            await db.value("select count(*) from t")
        nursery.start_soon(db.watch)
    assert [record.levelname for record in caplog.records] == ["CRITICAL"]


async def test_a_file_that_is_replaced_before_the_commit_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "data/app.db"
    async with opened("file", tmp_path) as db:
        await db.execute("create table t (a integer)")
        back_up(file, tmp_path / "copy")
        with pytest.raises(DatabaseBusy, match="was replaced"):
            async with db.transaction():
                await db.execute("insert into t values (1)")
                (tmp_path / "copy").replace(file)


PAGE = """
    from fx.db import db

    @action
    async def fill(request):
        await db.execute("pragma max_page_count = 1")
        await db.execute("insert into t values (randomblob(1000000))")
        return {}
    """


async def test_a_full_disk_is_a_503(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_tree(
        tmp_path,
        {
            "fx.config.json": CONFIG,
            "pages/index.fxl": page(PAGE),
            "migrations/0001_t.sql": "create table t (a blob)",
        },
    )
    async with open_app(tmp_path) as client:
        result = await client.action("/", "fill", {})
    assert result.status == 503
    assert "database or disk is full" in caplog.text and "full" not in str(result.data)
