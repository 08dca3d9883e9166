"""A database that cannot be written or read: a full disk, a lock, a damaged file."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fxtrio.plugins.auth import sqlite
from fxtrio.plugins.auth.failures import AuthStorageUnavailable
from fxtrio.plugins.auth.sqlite import SqliteStorage
from tests.auth.harness import (
    EMAIL,
    PASSWORD,
    Auth,
    cookie_of,
    log_in,
    open_auth_with_user,
    user_of,
)

SAYS = "Accounts cannot be reached for now. Try again in a minute."
UNAVAILABLE = {
    "ok": False,
    "error": SAYS,
    "code": "unavailable",
}


@pytest.fixture
async def auth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Auth]:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT", 0.05)
    async with open_auth_with_user(tmp_path) as auth:
        yield auth


def storage_of(auth: Auth) -> SqliteStorage:
    assert isinstance(auth.service.storage, SqliteStorage)
    return auth.service.storage


@contextmanager
def read_only(auth: Auth) -> Iterator[None]:
    writer = storage_of(auth)._writer
    writer.execute("PRAGMA query_only = ON")
    yield
    writer.execute("PRAGMA query_only = OFF")


@contextmanager
def without_room(auth: Auth) -> Iterator[None]:
    """Let the disk be full (SQLITE_FULL)."""
    writer = storage_of(auth)._writer
    (pages,) = writer.execute("PRAGMA page_count").fetchone()
    writer.execute(f"PRAGMA max_page_count = {pages}")
    yield
    writer.execute("PRAGMA max_page_count = 1000000")


@contextmanager
def locked(auth: Auth) -> Iterator[None]:
    other = sqlite3.connect(auth.plugin._database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.close()


@contextmanager
def damaged(auth: Auth) -> Iterator[None]:
    reader = storage_of(auth)._reader
    storage_of(auth)._reader = sqlite3.connect(":memory:", check_same_thread=False)
    yield
    storage_of(auth)._reader = reader


@pytest.mark.parametrize("broken", [read_only, locked])
async def test_logging_out_ends_the_session_though_that_cannot_be_written(
    auth: Auth, broken
) -> None:
    client = auth.client()
    cookie = (await log_in(client)).headers["set-cookie"].partition(";")[0]
    with broken(auth):
        answer = await client.post("/api/__auth/logout")
        assert (answer.status_code, answer.json()) == (200, {"ok": True})
        assert cookie_of(answer)["max-age"] == "0"
        client.headers["cookie"] = cookie
        assert await user_of(client) is None


@pytest.mark.parametrize("broken", [read_only, locked])
async def test_signed_in_visitors_stay_signed_in(auth: Auth, broken) -> None:
    client = auth.client()
    await log_in(client)
    auth.clock.advance(3 * 86400)  # late enough for a new end of the session
    with broken(auth):
        assert await user_of(client) == EMAIL


@pytest.mark.parametrize("broken", [read_only, locked])
@pytest.mark.parametrize("name", ["login", "register", "logout-all"])
async def test_everything_else_is_a_503_in_words(auth: Auth, broken, name: str) -> None:
    client = auth.client()
    await log_in(client)
    body = {"email": EMAIL if name == "login" else "new@example.org", "password": PASSWORD}
    with broken(auth):
        answer = await client.post(f"/api/__auth/{name}", json=body)
    assert (answer.status_code, answer.json()) == (503, UNAVAILABLE)
    assert answer.headers["retry-after"] == "60"


async def test_a_database_that_may_not_grow_refuses_and_recovers(auth: Auth) -> None:
    statuses = set()
    with without_room(auth):
        for number in range(60):
            body = {"email": f"user{number}@{'x' * 200}.org", "password": PASSWORD}
            client = auth.client(host=f"203.0.113.{number}")
            statuses.add((await client.post("/api/__auth/register", json=body)).status_code)
    assert statuses == {200, 503}
    assert (await log_in(auth.client())).status_code == 200


async def test_a_password_cannot_be_changed_meanwhile_and_nothing_is_raised(auth: Auth) -> None:
    account = await auth.service.storage.find_account(EMAIL)
    assert account is not None
    with read_only(auth):
        refusal = await auth.service.change_password(account.user, PASSWORD, "another password")
    assert refusal is not None
    assert (refusal.code, refusal.status) == ("unavailable", 503)


async def test_nobody_is_a_stranger_because_sessions_cannot_be_read(auth: Auth) -> None:
    client = auth.client()
    await log_in(client)
    with damaged(auth):
        answer = await client.get("/me")
        assert (answer.status_code, answer.text) == (503, SAYS + "\n")
        assert answer.headers["cache-control"] == "no-store"
        assert (await client.get("/api/__auth/session")).json() == UNAVAILABLE
        assert await user_of(auth.client()) is None  # who has no cookie needs no database


async def test_the_log_tells_it_once_and_without_a_traceback(
    auth: Auth, caplog: pytest.LogCaptureFixture
) -> None:
    with read_only(auth):
        for _ in range(5):
            await log_in(auth.client())
    (told,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert told.getMessage().startswith("auth: the database does not work: ")
    assert told.exc_info is None


async def test_what_could_not_be_written_is_written_later(auth: Auth) -> None:
    await log_in(auth.client())
    key = bytes.fromhex((await sessions(auth))[0])
    auth.service.unwritten.add(key, AuthStorageUnavailable("disk full"))
    with read_only(auth):
        await auth.service.unwritten._write_once()
        assert key in auth.service.unwritten
    await auth.service.unwritten._write_once()
    assert key not in auth.service.unwritten
    assert await sessions(auth) == []


async def sessions(auth: Auth) -> list[str]:
    rows = await storage_of(auth)._read_all("SELECT hex(key) FROM sessions", ())
    return [row[0] for row in rows]
