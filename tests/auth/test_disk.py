"""A database that cannot be written or read: a full disk, a lock, a damaged file."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import trio

from fxtrio.config import DatabaseConfig
from fxtrio.db import open_database
from fxtrio.db.sqlite import engine as sqlite
from fxtrio.plugins.auth.errors import AuthStorageUnavailable
from fxtrio.plugins.auth.storage import queries
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
async def auth(root: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Auth]:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT", 0.05)
    with trio.fail_after(60):
        async with open_auth_with_user(root) as auth:
            yield auth


async def pragma(auth: Auth, text: str) -> Any:
    """Tell the connection that writes."""
    return await auth.storage.database.value(f"pragma {text}")


@asynccontextmanager
async def read_only(auth: Auth) -> AsyncIterator[None]:
    database = auth.storage.database
    if database.dialect == "sqlite":
        await pragma(auth, "query_only = on")
        yield
        await pragma(auth, "query_only = off")
    else:
        await database.execute("set default_transaction_read_only = on")
        yield
        await database.execute("set default_transaction_read_only = off")


@asynccontextmanager
async def without_room(auth: Auth) -> AsyncIterator[None]:
    """Let the disk be full (SQLITE_FULL)."""
    pages = await pragma(auth, "page_count")
    await pragma(auth, f"max_page_count = {pages}")
    yield
    await pragma(auth, "max_page_count = 1000000")


@asynccontextmanager
async def locked(auth: Auth) -> AsyncIterator[None]:
    """Let another program write for long."""
    config = auth.plugin.config.database
    if not config.url:
        config = DatabaseConfig(url=f"sqlite:///{auth.plugin._file}")
    async with open_database(config, auth.plugin.root) as other:

        async def hold(task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
            async with other.transaction():
                if other.dialect == "postgresql":
                    for table in ("users", "sessions", "marks"):
                        await other.execute(f"lock table fx_auth_{table} in share mode")
                else:
                    await other.execute("delete from fx_auth where version = 0")
                task_status.started()
                await trio.sleep_forever()

        async with trio.open_nursery() as nursery:
            await nursery.start(hold)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(queries, "LIMIT", 0.2)
                yield
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def damaged(auth: Auth) -> AsyncIterator[None]:
    """Let every look at the tables fail, as with a damaged file or a server that is unreachable."""
    database = auth.storage.database
    plain_one = database.one

    async def fail(*_: object) -> None:
        if database.dialect == "postgresql":
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        raise sqlite3.DatabaseError("database disk image is malformed")

    database.one = fail  # type: ignore[method-assign, assignment]  # and the file stays whole
    yield
    database.one = plain_one  # type: ignore[method-assign]


@pytest.mark.parametrize("broken", [read_only, locked])
async def test_logging_out_ends_the_session_though_that_cannot_be_written(
    auth: Auth, broken
) -> None:
    client = auth.client()
    cookie = (await log_in(client)).headers["set-cookie"].partition(";")[0]
    async with broken(auth):
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
    async with broken(auth):
        assert await user_of(client) == EMAIL


@pytest.mark.parametrize("broken", [read_only, locked])
@pytest.mark.parametrize("name", ["login", "register", "logout-all"])
async def test_everything_else_is_a_503_in_words(auth: Auth, broken, name: str) -> None:
    client = auth.client()
    await log_in(client)
    body = {"email": EMAIL if name == "login" else "new@example.org", "password": PASSWORD}
    async with broken(auth):
        answer = await client.post(f"/api/__auth/{name}", json=body)
    assert (answer.status_code, answer.json()) == (503, UNAVAILABLE)
    assert answer.headers["retry-after"] == "60"


@pytest.mark.parametrize("root", ["own-file", "file"], indirect=True)
async def test_a_database_that_may_not_grow_fails_and_recovers(auth: Auth) -> None:
    statuses = set()
    async with without_room(auth):
        for number in range(60):
            body = {"email": f"user{number}@{'x' * 200}.org", "password": PASSWORD}
            client = auth.client(host=f"203.0.113.{number}")
            statuses.add((await client.post("/api/__auth/register", json=body)).status_code)
    assert statuses == {200, 503}
    assert (await log_in(auth.client())).status_code == 200


async def test_a_password_cannot_be_changed_meanwhile_and_nothing_is_raised(auth: Auth) -> None:
    account = await auth.service.storage.find_account(EMAIL)
    assert account is not None
    async with read_only(auth):
        rejection = await auth.service.change_password(account.user, PASSWORD, "another password")
    assert rejection is not None
    assert (rejection.code, rejection.status) == ("unavailable", 503)


async def test_nobody_is_a_stranger_because_sessions_cannot_be_read(auth: Auth) -> None:
    client = auth.client()
    await log_in(client)
    async with damaged(auth):
        answer = await client.get("/me")
        assert (answer.status_code, answer.text) == (503, SAYS + "\n")
        assert answer.headers["cache-control"] == "no-store"
        assert (await client.get("/api/__auth/session")).json() == UNAVAILABLE
        assert await user_of(auth.client()) is None  # who has no cookie needs no database


async def test_it_is_logged_once_and_without_a_traceback(
    auth: Auth, caplog: pytest.LogCaptureFixture
) -> None:
    async with read_only(auth):
        for _ in range(5):
            await log_in(auth.client())
    (error,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert error.getMessage().startswith("auth: the database does not work: ")
    assert error.exc_info is None


async def test_what_could_not_be_written_is_written_later(auth: Auth) -> None:
    await log_in(auth.client())
    (key,) = await sessions(auth)
    auth.service.pending_revocations.add(key, AuthStorageUnavailable("disk full"))
    async with read_only(auth):
        await auth.service.pending_revocations._write_once()
        assert key in auth.service.pending_revocations
    await auth.service.pending_revocations._write_once()
    assert key not in auth.service.pending_revocations
    assert await sessions(auth) == []


async def sessions(auth: Auth) -> list[bytes]:
    return [row["key"] for row in await auth.rows("select key from fx_auth_sessions")]
