"""The SQLite storage: its file, its transactions, its versions."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import pytest
import trio

from fxtrio.plugins.auth.failures import AuthDatabaseUnusable
from fxtrio.plugins.auth.models import Session, User
from fxtrio.plugins.auth.sqlite import open_sqlite
from fxtrio.plugins.auth.throttle import Marks

ADA = User(id="a" * 32, email="ada@example.org", created_at=1.5)


def session(key: bytes, *, at: float = 10.0, ends: float = 100.0) -> Session:
    return Session(
        key=key, user_id=ADA.id, created_at=at, expires_at=ends, ends_at=200.0, persistent=True
    )


async def test_the_file_and_its_folder_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "auth.sqlite3"
    async with open_sqlite(path) as storage:
        await storage.add_user(ADA, "hash")
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
        folder = stat.S_IMODE(path.parent.stat().st_mode)
    assert set(modes) == {path.name, f"{path.name}-wal", f"{path.name}-shm"}
    assert set(modes.values()) == {0o600}
    assert folder == 0o700


async def test_a_folder_that_others_may_open_is_told_and_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    async with open_sqlite(folder / "auth.sqlite3"):
        pass
    (told,) = caplog.messages
    assert told.startswith(f"{folder}: users of this machine other than its owner may open it")
    assert f"chmod 700 {folder}" in told
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


async def test_a_folder_of_our_own_is_not_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        async with open_sqlite(tmp_path / "data" / "auth.sqlite3"):
            pass
    assert caplog.messages == []


async def test_readers_and_the_writer_do_not_block_each_other(tmp_path: Path) -> None:
    path = tmp_path / "auth.sqlite3"
    async with open_sqlite(path) as storage:
        (mode,) = storage._writer.execute("PRAGMA journal_mode").fetchone()
        assert mode == "wal"
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            with trio.fail_after(5):
                assert await storage.find_account(ADA.email) is None
        finally:
            other.close()


async def test_users_come_back_as_they_were_kept(tmp_path: Path) -> None:
    async with open_sqlite(tmp_path / "a") as storage:
        assert await storage.add_user(ADA, "hash") is True
        account = await storage.find_account(ADA.email)
    assert account is not None
    assert (account.user, account.password_hash) == (ADA, "hash")


async def test_a_taken_email_leaves_the_first_user_alone(tmp_path: Path) -> None:
    async with open_sqlite(tmp_path / "a") as storage:
        await storage.add_user(ADA, "hash")
        again = User(id="b" * 32, email=ADA.email, created_at=2.0)
        assert await storage.add_user(again, "other") is False
        account = await storage.find_account(ADA.email)
    assert account is not None
    assert account.user == ADA


async def test_sessions_come_back_with_their_user_until_they_are_over(tmp_path: Path) -> None:
    async with open_sqlite(tmp_path / "a") as storage:
        await storage.add_user(ADA, "hash")
        await storage.add_session(session(b"k"), replaces=None, most=5)
        assert await storage.find_session(b"k", 99.9) == (session(b"k"), ADA)
        assert await storage.find_session(b"k", 100.0) is None
        assert await storage.find_session(b"other", 50.0) is None


async def test_a_session_is_never_extended_past_its_greatest_age_or_back_to_life(
    tmp_path: Path,
) -> None:
    async with open_sqlite(tmp_path / "a") as storage:
        await storage.add_user(ADA, "hash")
        await storage.add_session(session(b"k"), replaces=None, most=5)
        await storage.extend_session(b"k", 500.0, 500.0)
        found = await storage.find_session(b"k", 150.0)
        assert found is not None
        assert found[0].expires_at == 200.0
        await storage.end_session(b"k")
        await storage.extend_session(b"k", 190.0, 200.0)
        assert await storage.find_session(b"k", 150.0) is None


async def test_ending_all_sessions_says_how_many_there_were(tmp_path: Path) -> None:
    async with open_sqlite(tmp_path / "a") as storage:
        await storage.add_user(ADA, "hash")
        for key in (b"1", b"2", b"3"):
            await storage.add_session(session(key), replaces=None, most=5)
        assert await storage.end_sessions(ADA.id) == 3
        assert await storage.end_sessions(ADA.id) == 0


async def test_marks_change_in_one_transaction_even_between_processes(tmp_path: Path) -> None:
    """Two connections to one file stand for two processes."""

    def increase(marks: Marks) -> tuple[Marks, None]:
        return {"k": marks.get("k", 1000.0) + 1}, None

    async with open_sqlite(tmp_path / "a") as one, open_sqlite(tmp_path / "a") as two:
        async with trio.open_nursery() as nursery:
            for storage in (one, two) * 25:
                nursery.start_soon(storage.change_marks, ["k"], increase, 0.0)
        marks = await one.change_marks(["k"], lambda marks: ({}, marks), 0.0)
    assert marks == {"k": 1050.0}


async def test_marks_of_the_past_are_dropped(tmp_path: Path) -> None:
    async with open_sqlite(tmp_path / "a") as storage:
        await storage.change_marks(["a", "b"], lambda _: ({"a": 5.0, "b": 9.0}, None), 0.0)
        assert await storage.change_marks(["a", "b"], lambda m: ({}, m), 5.0) == {"b": 9.0}
        (count,) = storage._writer.execute("SELECT count(*) FROM marks").fetchone()
    assert count == 1


async def test_a_failed_change_leaves_everything_as_it_was(tmp_path: Path) -> None:
    def fail(marks: Marks) -> tuple[Marks, None]:
        raise ZeroDivisionError

    async with open_sqlite(tmp_path / "a") as storage:
        await storage.change_marks(["a"], lambda _: ({"a": 5.0}, None), 0.0)
        with pytest.raises(ZeroDivisionError):
            await storage.change_marks(["a"], fail, 6.0)
        assert await storage.change_marks(["a"], lambda m: ({}, m), 0.0) == {"a": 5.0}


async def test_every_call_is_counted(tmp_path: Path) -> None:
    async with open_sqlite(tmp_path / "a") as storage:
        assert storage.statistics().queries == 0
        await storage.add_user(ADA, "hash")
        await storage.find_account(ADA.email)
        await storage.end_session(b"k")
        assert storage.statistics().queries == 3


async def test_a_file_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "auth.sqlite3"
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(AuthDatabaseUnusable, match="newer version of fxtrio"):
        async with open_sqlite(path):
            raise AssertionError("must not open")


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "auth.sqlite3"
    path.write_text("This is a text, and long enough to be read as a header." * 20)
    with pytest.raises(AuthDatabaseUnusable, match=r"auth\.sqlite3: .*not a database"):
        async with open_sqlite(path):
            raise AssertionError("must not open")


async def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AuthDatabaseUnusable):
        async with open_sqlite(tmp_path):
            raise AssertionError("must not open")
