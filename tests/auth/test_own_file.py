"""The SQLite file of accounts in an app without a database: its folder, its versions."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
import trio

from fxtrio.plugins.auth.errors import AuthDatabaseUnusable
from fxtrio.plugins.auth.models import User
from fxtrio.plugins.auth.storage.open_storage import open_own_file

ADA = User(id="a" * 32, email="ada@example.org", created_at=1.5)


async def test_the_file_and_its_folder_are_created_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "auth.sqlite3"
    async with open_own_file(path) as storage:
        await storage.add_user(ADA, "hash")
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
        folder = stat.S_IMODE(path.parent.stat().st_mode)
    assert set(modes) == {path.name, f"{path.name}-wal", f"{path.name}-shm"}
    assert set(modes.values()) == {0o600}
    assert folder == 0o700


async def test_a_folder_that_others_may_open_is_reported_and_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    async with open_own_file(folder / "auth.sqlite3"):
        pass
    (warning,) = caplog.messages
    assert warning.startswith(f"{folder}: users of this machine other than its owner may open it")
    assert f"chmod 700 {folder}" in warning
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


async def test_a_folder_of_our_own_is_not_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        async with open_own_file(tmp_path / "data" / "auth.sqlite3"):
            pass
    assert caplog.messages == []


async def test_readers_and_the_writer_do_not_block_each_other(tmp_path: Path) -> None:
    path = tmp_path / "auth.sqlite3"
    async with open_own_file(path) as storage:
        with closing(sqlite3.connect(path, isolation_level=None)) as other, trio.fail_after(5):
            other.execute("begin immediate")
            assert await storage.find_account(ADA.email) is None


async def test_a_file_of_a_newer_version_is_rejected_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "auth.sqlite3"
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("pragma user_version = 99")
    with pytest.raises(AuthDatabaseUnusable, match="newer version of fxtrio"):
        async with open_own_file(path):
            raise AssertionError("must not open")
    with closing(sqlite3.connect(path)) as newer:
        assert newer.execute("select name from sqlite_master").fetchall() == []


async def test_a_file_that_is_no_database_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "auth.sqlite3"
    path.write_text("This is a text, and long enough to be read as a header." * 20)
    with pytest.raises(AuthDatabaseUnusable, match=r"auth\.sqlite3: .*not a database"):
        async with open_own_file(path):
            raise AssertionError("must not open")


async def test_a_folder_in_the_place_of_the_file_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(AuthDatabaseUnusable):
        async with open_own_file(tmp_path):
            raise AssertionError("must not open")
