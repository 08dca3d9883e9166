"""What code of the application does with accounts: find, change, bring and forget them."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path

import bcrypt
import httpx
import pytest
import trio
from argon2 import PasswordHasher as Argon2
from argon2 import Type
from starlette.requests import Request

from fxtrio.errors import ExtraMissing
from fxtrio.plugins.auth.models import User
from fxtrio.plugins.auth.passwords.hashes import (
    cost_of,
    cost_of_new,
    dummy_hash,
    is_cost,
    matches,
)
from fxtrio.plugins.auth.passwords.passwords import MOST_COSTS
from fxtrio.plugins.protocol import PluginFailed
from tests.auth.harness import (
    EMAIL,
    PASSWORD,
    Auth,
    carry,
    log_in,
    open_auth,
    open_auth_with_user,
    user_of,
)

NEW = "another password"
OTHER = "grace@example.org"


@pytest.fixture
async def auth(root: Path) -> AsyncIterator[Auth]:
    async with open_auth_with_user(root) as auth:
        yield auth


async def ada_of(auth: Auth) -> User:
    found = await auth.service.find_user(email=EMAIL)
    assert found is not None
    return found


async def signed_in(auth: Auth) -> tuple[httpx.AsyncClient, Request]:
    """Sign in; return the browser, and a request of it as an action gets it."""
    client = auth.client()
    cookie = carry(await log_in(client))
    client.headers["cookie"] = cookie
    headers = [(b"cookie", cookie.encode())]
    return client, Request({"type": "http", "scheme": "https", "headers": headers})


async def test_a_user_is_found_by_address_and_by_id(auth: Auth) -> None:
    ada = await ada_of(auth)
    assert await auth.service.find_user(email=" ADA@Example.org") == ada
    assert await auth.service.find_user(id=ada.id) == ada
    assert await auth.service.find_user(id="nobody") is None
    assert await auth.service.find_user(email=OTHER) is None
    assert await auth.service.find_user(email="no address") is None
    for wrong in ({}, {"id": ada.id, "email": EMAIL}):
        with pytest.raises(TypeError, match="one of 'id' and 'email'"):
            await auth.service.find_user(**wrong)


async def test_an_address_changes_and_sessions_stay(auth: Auth) -> None:
    ada = await ada_of(auth)
    client, _ = await signed_in(auth)
    assert await user_of(client) == EMAIL
    assert await auth.service.change_email(ada.id, " Grace@Example.ORG ")
    assert await user_of(client) == OTHER
    assert (await log_in(auth.client())).status_code == 401
    assert (await log_in(auth.client(), email=OTHER)).status_code == 200
    assert await auth.service.change_email(ada, OTHER)  # it is the user's own
    with pytest.raises(ValueError, match="not an email address"):
        await auth.service.change_email(ada, "nowhere")


async def test_an_address_that_is_taken_stays_whose_it_is(auth: Auth) -> None:
    ada = await ada_of(auth)
    assert await auth.service.add_user(OTHER, PASSWORD)
    assert not await auth.service.change_email(ada, OTHER)
    assert not await auth.service.change_email("nobody", "free@example.org")
    assert await auth.service.find_user(email="free@example.org") is None
    assert await ada_of(auth) == ada


async def test_one_of_many_who_want_an_address_at_once_gets_it(auth: Auth) -> None:
    users = [await auth.service.add_user(f"u{n}@example.org", PASSWORD) for n in range(4)]
    ids = [user.id for user in users if user is not None]
    for number in range(5):
        email = f"wanted{number}@example.org"
        got: list[object] = []

        async def want(ask: Callable[[], Awaitable[object]], got: list[object] = got) -> None:
            got.append(await ask())

        async with trio.open_nursery() as nursery:
            for id in ids:
                nursery.start_soon(want, lambda id=id, e=email: auth.service.change_email(id, e))
            nursery.start_soon(want, lambda e=email: auth.service.add_user(e, PASSWORD))
        assert sum(map(bool, got)) == 1


async def test_the_session_that_changes_the_password_stays(auth: Auth) -> None:
    (own, request), (other, _) = await signed_in(auth), await signed_in(auth)
    ada = await ada_of(auth)
    assert await auth.service.change_password(ada, PASSWORD, NEW, keep=request) is None
    assert [await user_of(own), await user_of(other)] == [EMAIL, None]
    await auth.service.set_password(ada, "one more password", keep=request)
    assert await user_of(own) == EMAIL
    await auth.service.set_password(ada, PASSWORD)
    assert await user_of(own) is None


async def test_a_session_of_another_user_is_not_stored(auth: Auth) -> None:
    client, _ = await signed_in(auth)
    await auth.service.add_user(OTHER, PASSWORD)
    other = auth.client()
    cookie = carry(await log_in(other, email=OTHER))
    headers = [(b"cookie", cookie.encode())]
    request = Request({"type": "http", "scheme": "https", "headers": headers})
    await auth.service.set_password(await ada_of(auth), NEW, keep=request)
    assert await user_of(client) is None


async def test_an_id_is_enough_to_change_a_password_and_to_remove(auth: Auth) -> None:
    ada = await ada_of(auth)
    client, _ = await signed_in(auth)
    await auth.service.set_password(ada.id, NEW)
    assert await user_of(client) is None
    assert (await log_in(auth.client(), password=NEW)).status_code == 200
    with pytest.raises(ValueError, match="no user with the id 'nobody'"):
        await auth.service.set_password("nobody", NEW)
    assert await auth.service.log_out_everywhere(ada.id) == 1
    assert await auth.service.remove_user(ada.id)
    assert not await auth.service.remove_user(ada.id)


def foreign_hashes() -> dict[str, str]:
    argon2 = partial(Argon2, time_cost=1, memory_cost=16, parallelism=1)
    salt = bcrypt.gensalt(rounds=4)
    hashed = bcrypt.hashpw(PASSWORD.encode(), salt).decode()
    return {
        "argon2id": argon2().hash(PASSWORD),
        "argon2id of other lengths": argon2(hash_len=16, salt_len=8).hash(PASSWORD),
        "argon2i": argon2(type=Type.I).hash(PASSWORD),
        "argon2d of many lanes": argon2(type=Type.D, memory_cost=128, parallelism=12).hash(
            PASSWORD
        ),
        "bcrypt": hashed,
        "bcrypt of PHP": hashed.replace("$2b$", "$2y$"),
    }


FOREIGN = foreign_hashes()


@pytest.mark.parametrize("kind", FOREIGN)
async def test_users_of_another_system_sign_in_with_their_passwords(root: Path, kind: str) -> None:
    async with open_auth(root) as auth:
        user = await auth.service.import_user(" Ada@example.org", FOREIGN[kind])
        assert user is not None
        assert user.email == EMAIL
        assert await auth.service.import_user(EMAIL, FOREIGN[kind]) is None
    async with open_auth(root) as auth:  # which learns from the table what is there
        assert {cost_of(FOREIGN[kind])} <= auth.service.hasher._dummies.keys()
        assert (await log_in(auth.client(), password="wrong")).status_code == 401
        assert (await log_in(auth.client())).status_code == 200
        (row,) = await auth.rows("select password_hash from fx_auth_users")
        assert row["password_hash"].startswith("$argon2id$v=19$m=8,t=1,p=1$")
        assert (await log_in(auth.client())).status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "5f4dcc3b5aa765d61d8327deb882cf99",
        "pbkdf2_sha256$600000$salt$hash",
        "$2b$12$short",
        "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ",
        "$2b$04$" + "." * 54,
    ],
)
async def test_what_cannot_be_checked_is_not_imported(tmp_path: Path, wrong: str) -> None:
    async with open_auth(tmp_path) as auth:
        with pytest.raises(ValueError, match=r"not a hash of Argon2 .* and bcrypt"):
            await auth.service.import_user(EMAIL, wrong)
        with pytest.raises(ValueError, match="not an email address"):
            await auth.service.import_user("ada", FOREIGN["bcrypt"])
        assert await auth.service.find_user(email=EMAIL) is None


async def test_users_with_hashes_of_many_costs_all_sign_in(tmp_path: Path) -> None:
    costs = range(1, MOST_COSTS + 4)
    async with open_auth(tmp_path) as auth:
        for cost in costs:
            hashed = Argon2(time_cost=cost + 1, memory_cost=16, parallelism=1).hash(PASSWORD)
            await auth.service.import_user(f"u{cost}@example.org", hashed)
        for cost in costs:
            answer = await log_in(auth.client(), email=f"u{cost}@example.org")
            assert answer.status_code == 200


async def test_bcrypt_without_its_library_is_an_error_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_auth(tmp_path) as auth:
        await auth.service.import_user(EMAIL, FOREIGN["bcrypt"])
    monkeypatch.setitem(sys.modules, "bcrypt", None)
    with pytest.raises(PluginFailed, match=r"fxtrio\[bcrypt\]"):
        async with open_auth(tmp_path):
            pass
    async with open_auth(tmp_path / "other") as auth:
        with pytest.raises(ExtraMissing, match=r"fxtrio\[bcrypt\]"):
            await auth.service.import_user(EMAIL, FOREIGN["bcrypt"])


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_hash_of_nobody_is_checked_like_any_other(kind: str) -> None:
    cost = cost_of(FOREIGN[kind])
    assert is_cost(cost)
    nobody = dummy_hash(cost)
    assert cost_of(nobody) == cost
    assert not matches(Argon2(), nobody, PASSWORD)


@pytest.mark.parametrize("kind", list(Type))
def test_the_cost_of_new_hashes_is_known_without_making_one(kind: Type) -> None:
    hasher = Argon2(time_cost=2, memory_cost=64, parallelism=3, type=kind)
    assert cost_of_new(hasher) == cost_of(hasher.hash("secret"))
