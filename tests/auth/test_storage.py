"""The storage of accounts: its transactions, in a database of each kind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
import trio

from fxtrio.config import load_config
from fxtrio.plugins.auth.errors import AuthInTransaction
from fxtrio.plugins.auth.models import PendingRegistration, Session, User
from fxtrio.plugins.auth.storage.open_storage import open_own_file, open_shared
from fxtrio.plugins.auth.storage.sql_storage import DatabaseStorage
from fxtrio.plugins.auth.throttle import Marks

ADA = User(id="a" * 32, email="ada@example.org", created_at=1.5)


def session(key: bytes, *, at: float = 10.0, ends: float = 100.0) -> Session:
    return Session(
        key=key, user_id=ADA.id, created_at=at, expires_at=ends, ends_at=200.0, persistent=True
    )


def opened(root: Path) -> AbstractAsyncContextManager[DatabaseStorage]:
    """Open the storage of the project, as another process would."""
    config = load_config(root)
    file = root / "data/auth.sqlite3"
    if not config.database.url:
        return open_own_file(file)
    return open_shared(config.database, root, file, None)


@pytest.fixture
async def storage(root: Path) -> AsyncIterator[DatabaseStorage]:
    with trio.fail_after(60):
        async with opened(root) as storage:
            yield storage


async def test_users_are_read_as_they_were_stored(storage: DatabaseStorage) -> None:
    assert await storage.add_user(ADA, "hash") is True
    account = await storage.find_account(ADA.email)
    assert account is not None
    assert (account.user, account.password_hash) == (ADA, "hash")


async def test_a_taken_email_leaves_the_first_user_alone(storage: DatabaseStorage) -> None:
    await storage.add_user(ADA, "hash")
    again = User(id="b" * 32, email=ADA.email, created_at=2.0)
    assert await storage.add_user(again, "other") is False
    account = await storage.find_account(ADA.email)
    assert account is not None
    assert account.user == ADA


async def test_sessions_come_back_with_their_user_until_they_are_over(
    storage: DatabaseStorage,
) -> None:
    await storage.add_user(ADA, "hash")
    await storage.add_session(session(b"k"), proof="hash", replaces=None, most=5)
    assert await storage.find_session(b"k", 99.9) == (session(b"k"), ADA)
    assert await storage.find_session(b"k", 100.0) is None
    assert await storage.find_session(b"other", 50.0) is None


async def test_a_session_is_never_extended_past_its_greatest_age_or_back_to_life(
    storage: DatabaseStorage,
) -> None:
    await storage.add_user(ADA, "hash")
    await storage.add_session(session(b"k"), proof="hash", replaces=None, most=5)
    await storage.extend_session(b"k", 500.0, 500.0)
    found = await storage.find_session(b"k", 150.0)
    assert found is not None
    assert found[0].expires_at == 200.0
    await storage.end_session(b"k")
    await storage.extend_session(b"k", 190.0, 200.0)
    assert await storage.find_session(b"k", 150.0) is None


async def test_ending_all_sessions_says_how_many_there_were(storage: DatabaseStorage) -> None:
    await storage.add_user(ADA, "hash")
    for key in (b"1", b"2", b"3"):
        await storage.add_session(session(key), proof="hash", replaces=None, most=5)
    assert await storage.end_sessions(ADA.id) == 3
    assert await storage.end_sessions(ADA.id) == 0


async def test_marks_change_in_one_transaction_even_between_processes(root: Path) -> None:
    """Two pools of connections stand for two processes."""

    def increase(marks: Marks) -> tuple[Marks, None]:
        return {"k": marks.get("k", 1000.0) + 1}, None

    async with opened(root) as one, opened(root) as two:
        async with trio.open_nursery() as nursery:
            for storage in (one, two) * 25:
                nursery.start_soon(storage.change_marks, ["k"], increase, 0.0)
        marks = await one.change_marks(["k"], lambda marks: ({}, marks), 0.0)
    assert marks == {"k": 1050.0}


async def test_marks_of_the_past_are_dropped(storage: DatabaseStorage) -> None:
    await storage.change_marks(["a", "b"], lambda _: ({"a": 5.0, "b": 9.0}, None), 0.0)
    assert await storage.change_marks(["a", "b"], lambda m: ({}, m), 5.0) == {"b": 9.0}
    assert await storage.database.value(storage._named("select count(*) from fx_auth_marks")) == 1


async def test_a_failed_change_leaves_everything_as_it_was(storage: DatabaseStorage) -> None:
    def fail(marks: Marks) -> tuple[Marks, None]:
        raise ZeroDivisionError

    await storage.change_marks(["a"], lambda _: ({"a": 5.0}, None), 0.0)
    with pytest.raises(ZeroDivisionError):
        await storage.change_marks(["a"], fail, 6.0)
    assert await storage.change_marks(["a"], lambda m: ({}, m), 0.0) == {"a": 5.0}


async def test_every_call_is_counted(storage: DatabaseStorage) -> None:
    assert storage.statistics().queries == 0
    await storage.add_user(ADA, "hash")
    await storage.find_account(ADA.email)
    await storage.end_session(b"k")
    assert storage.statistics().queries == 3


async def test_a_registration_is_stored_until_it_expires_and_confirmed_once(
    storage: DatabaseStorage,
) -> None:
    pending = PendingRegistration(key=b"p", email=ADA.email, password_hash="hash", expires_at=9.0)
    await storage.add_pending(pending, 1.0)
    assert await storage.find_pending(b"p", 8.0) == pending
    assert await storage.find_pending(b"p", 9.0) is None
    assert await storage.confirm(pending, ADA) is True
    assert await storage.confirm(pending, ADA) is False
    assert await storage.find_pending(b"p", 8.0) is None


async def test_many_logins_of_a_user_at_once_keep_as_many_sessions_as_are_allowed(
    root: Path,
) -> None:
    async with opened(root) as one, opened(root) as two:
        await one.add_user(ADA, "hash")

        async def begin(storage: DatabaseStorage, number: int) -> None:
            new = session(b"%d" % number, at=10.0 + number)
            await storage.add_session(new, proof="hash", replaces=None, most=3)

        async with trio.open_nursery() as nursery:
            for number in range(20):
                nursery.start_soon(begin, (one, two)[number % 2], number)
        assert await one.end_sessions(ADA.id) == 3


async def test_who_watches_the_number_learns_of_every_end_elsewhere(root: Path) -> None:
    async with opened(root) as one, opened(root) as two:
        await one.add_user(ADA, "hash")
        for key in (b"a", b"b", b"c"):
            await one.add_session(session(key), proof="hash", replaces=None, most=5)
        known = await two.version()
        assert await two.version() == known
        for end in (one.end_session(b"a"), one.end_sessions(ADA.id), one.remove_user(ADA.id)):
            await end
            number = await two.version()
            assert number != known
            known = number
        assert await two.live_sessions([b"a", b"b"], 50.0) == {}


async def test_many_sessions_are_requested_in_parts(storage: DatabaseStorage) -> None:
    await storage.add_user(ADA, "hash")
    await storage.add_session(session(b"k"), proof="hash", replaces=None, most=5)
    keys = [b"%d" % number for number in range(1200)]
    assert await storage.live_sessions([*keys, b"k"], 50.0) == {b"k": 100.0}
    assert await storage.live_sessions([], 50.0) == {}


@asynccontextmanager
async def undone(storage: DatabaseStorage) -> AsyncIterator[None]:
    with pytest.raises(ZeroDivisionError):
        async with storage.database.transaction():
            yield
            raise ZeroDivisionError


async def test_what_a_transaction_of_the_application_undoes_is_undone(
    storage: DatabaseStorage,
) -> None:
    committed: list[str] = []
    async with undone(storage):
        await storage.add_user(ADA, "hash")
        storage.after_commit(lambda: committed.append("kept"))
    assert await storage.find_account(ADA.email) is None
    assert committed == []


async def test_no_attempt_is_counted_where_it_would_be_forgotten(storage: DatabaseStorage) -> None:
    with pytest.raises(AuthInTransaction, match="change_password count attempts"):
        async with storage.database.transaction():
            await storage.change_marks(["k"], lambda _: ({"k": 9.0}, None), 0.0)
