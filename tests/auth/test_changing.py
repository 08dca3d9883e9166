"""Passwords and users that change while somebody signs in with what was true before."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import trio
from httpx import Response

from fxtrio.plugins.auth.errors import AuthStorageUnavailable
from fxtrio.plugins.auth.models import Account
from fxtrio.plugins.auth.passwords.passwords import Verification
from tests.auth.harness import (
    EMAIL,
    PASSWORD,
    Auth,
    carry,
    log_in,
    open_auth_with_user,
    user_of,
)

NEW = "another password"


@pytest.fixture
async def auth(root: Path) -> AsyncIterator[Auth]:
    async with open_auth_with_user(root) as auth:
        yield auth


async def account_of(auth: Auth) -> Account:
    account = await auth.service.storage.find_account(EMAIL)
    assert account is not None
    return account


def after_the_next_check(
    auth: Auth, monkeypatch: pytest.MonkeyPatch, then: Callable[[], Awaitable[object]]
) -> None:
    """Let ``then`` happen between the check of a password and what follows from it."""
    verify = auth.service.hasher.verify

    async def slow(stored: str | None, password: str) -> Verification:
        found = await verify(stored, password)
        monkeypatch.undo()
        await then()
        return found

    monkeypatch.setattr(auth.service.hasher, "verify", slow)


async def test_who_was_checked_before_the_password_changed_is_not_let_in(
    auth: Auth, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = (await account_of(auth)).user
    after_the_next_check(auth, monkeypatch, lambda: auth.service.set_password(user, NEW))
    client = auth.client()
    response: Response = await log_in(client)
    assert response.status_code == 401
    assert await user_of(client) is None
    assert (await log_in(client, password=NEW)).status_code == 200


async def test_who_was_checked_before_the_account_was_removed_is_not_let_in(
    auth: Auth, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = (await account_of(auth)).user
    after_the_next_check(auth, monkeypatch, lambda: auth.service.remove_user(user))
    assert (await log_in(auth.client())).status_code == 401


async def test_of_two_changes_of_a_password_at_once_the_later_one_is_rejected(
    auth: Auth, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = (await account_of(auth)).user
    after_the_next_check(auth, monkeypatch, lambda: auth.service.set_password(user, NEW))
    rejection = await auth.service.change_password(user, PASSWORD, "a third password")
    assert rejection is not None
    assert (await log_in(auth.client(), password=NEW)).status_code == 200


async def test_a_hash_with_today_s_cost_does_not_bring_a_former_password_back(
    auth: Auth, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await account_of(auth)
    await auth.service.set_password(account.user, NEW)
    assert not await auth.service.storage.rehash(account, account.password_hash)
    assert (await log_in(auth.client())).status_code == 401


async def test_a_password_changes_and_ends_the_sessions_or_neither(
    auth: Auth, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = auth.client()
    client.headers["cookie"] = carry(await log_in(client))
    account = await account_of(auth)
    execute = auth.service.storage.database.execute  # type: ignore[attr-defined]  # the one on fx.db

    async def failing(sql: str, *args: object) -> int:
        if sql.startswith("delete from") and "sessions" in sql:
            raise trio.TooSlowError
        count: int = await execute(sql, *args)
        return count

    monkeypatch.setattr(auth.service.storage.database, "execute", failing)  # type: ignore[attr-defined]
    with pytest.raises(AuthStorageUnavailable):
        await auth.service.set_password(account.user, NEW)
    monkeypatch.undo()
    assert await account_of(auth) == account
    assert await user_of(client) == EMAIL
