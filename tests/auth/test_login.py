"""Logging in and registering: what is said, what it costs, and how often one may try."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio
from trio.testing import MockClock

from fxtrio.plugins.auth import Argon2Settings
from fxtrio.plugins.auth.attempts import TURN_TIMEOUT
from fxtrio.plugins.auth.models import Rejection, SignedIn
from fxtrio.plugins.auth.passwords.hashes import cost_of
from tests.auth.harness import (
    EMAIL,
    PASSWORD,
    Auth,
    Clock,
    log_in,
    open_auth,
    open_auth_with_user,
    user_of,
)

UNKNOWN = "nobody@example.org"


@pytest.fixture
async def auth(root: Path):
    async with open_auth_with_user(root) as auth:
        yield auth


async def fail(client: httpx.AsyncClient, times: int, **fields: Any) -> list[int]:
    wrong = {"password": "wrong password", **fields}
    return [(await log_in(client, **wrong)).status_code for _ in range(times)]


async def cost(auth: Auth, **fields: Any) -> tuple[int, int]:
    """Return the queries and the hashes that one login takes."""
    before = (auth.queries, auth.service.hasher.computed)
    await log_in(auth.client(), **fields)
    return auth.queries - before[0], auth.service.hasher.computed - before[1]


async def test_the_right_password_signs_in(auth: Auth) -> None:
    response = await log_in(auth.client())
    assert response.status_code == 200
    assert response.json()["ok"] is True
    assert response.json()["user"]["email"] == EMAIL


async def test_the_address_may_be_written_in_any_case(auth: Auth) -> None:
    assert (await log_in(auth.client(), email="  Ada@Example.ORG ")).status_code == 200


@pytest.mark.parametrize(
    "fields",
    [
        {"password": "wrong password"},
        {"email": UNKNOWN},
        {"email": "no address"},
        {"email": None},
        {"email": ["a"]},
        {"password": None},
        {"password": ""},
        {"password": {"$ne": 1}},
        {"password": "x" * 5000},
        {"password": f"{PASSWORD}\0"},
        {"email": f"{EMAIL}' OR '1'='1"},
    ],
)
async def test_every_failure_says_the_same(auth: Auth, fields: dict[str, Any]) -> None:
    response = await log_in(auth.client(), **fields)
    assert response.status_code == 401
    assert response.json() == {
        "ok": False,
        "error": "The email address or the password is wrong.",
        "code": "credentials",
    }
    assert "set-cookie" not in response.headers


async def test_an_unknown_address_costs_as_much_work_as_a_wrong_password(auth: Auth) -> None:
    known = await cost(auth, password="wrong password")
    unknown = await cost(auth, email=UNKNOWN)
    assert known == unknown == (2, 1)


async def test_a_throttled_address_costs_and_says_the_same_whether_it_is_known(auth: Auth) -> None:
    client = auth.client()
    await fail(client, 5)
    await fail(client, 5, email=UNKNOWN)
    assert await cost(auth) == await cost(auth, email=UNKNOWN) == (1, 0)
    known, unknown = await log_in(client), await log_in(client, email=UNKNOWN)
    assert known.status_code == unknown.status_code == 429
    assert known.json() == unknown.json()
    assert known.headers["retry-after"] == unknown.headers["retry-after"]


async def test_after_five_failures_even_the_right_password_must_wait(auth: Auth) -> None:
    client = auth.client()
    assert await fail(client, 6) == [401] * 5 + [429]
    response = await log_in(client)
    assert response.status_code == 429
    assert response.headers["retry-after"] == "300"
    assert response.json()["code"] == "throttled"
    auth.clock.advance(299)
    assert (await log_in(client)).status_code == 429
    auth.clock.advance(1)
    assert (await log_in(client)).status_code == 200


async def test_success_forgets_the_failures_before_it(auth: Auth) -> None:
    client = auth.client()
    for _ in range(3):
        assert await fail(client, 4) == [401] * 4
        assert (await log_in(client)).status_code == 200


async def test_one_address_cannot_lock_out_another(auth: Auth) -> None:
    await auth.service.add_user("grace@example.org", PASSWORD)
    await fail(auth.client(), 6)
    assert (await log_in(auth.client(), email="grace@example.org")).status_code == 200


async def test_throttling_survives_a_restart(root: Path) -> None:
    clock = Clock()
    async with open_auth_with_user(root, clock=clock) as auth:
        await fail(auth.client(), 5)
    async with open_auth(root, clock=clock) as auth:
        assert (await log_in(auth.client())).status_code == 429


async def test_many_attempts_at_once_gain_nothing(auth: Auth) -> None:
    statuses: list[int] = []

    async def attempt() -> None:
        statuses.extend(await fail(auth.client(), 1))

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(attempt)
    assert sorted(statuses) == [401] * 5 + [429] * 15


async def test_one_client_cannot_try_one_password_on_all_addresses(root: Path) -> None:
    async with open_auth_with_user(root, client_attempts=10) as auth:
        sprayer = auth.client(host="198.51.100.7")
        statuses = [
            (await log_in(sprayer, email=f"user{n}@example.org")).status_code for n in range(11)
        ]
        assert statuses == [401] * 10 + [429]
        assert (await log_in(auth.client(host="198.51.100.8"))).status_code == 200


async def test_successful_logins_do_not_count_against_a_client(root: Path) -> None:
    async with open_auth_with_user(root, client_attempts=2) as auth:
        office = auth.client(host="198.51.100.7")
        assert [(await log_in(office)).status_code for _ in range(5)] == [200] * 5


async def test_without_a_client_limit_only_addresses_are_throttled(root: Path) -> None:
    async with open_auth(root, client_attempts=None) as auth:
        client = auth.client()
        statuses = [
            (await log_in(client, email=f"user{n}@example.org")).status_code for n in range(30)
        ]
        assert statuses == [401] * 30


async def test_registering_makes_a_user_who_can_sign_in(root: Path) -> None:
    async with open_auth(root) as auth:
        client = auth.client()
        body = {"email": "New@Example.org", "password": PASSWORD}
        response = await client.post("/api/__auth/register", json=body)
        assert (response.status_code, response.json()) == (200, {"ok": True})
        assert "set-cookie" not in response.headers
        assert (await log_in(client, email="new@example.org")).status_code == 200


async def test_registering_a_taken_address_says_and_costs_the_same_and_changes_nothing(
    auth: Auth,
) -> None:
    async def register(email: str) -> tuple[Any, int, int]:
        before = (auth.queries, auth.service.hasher.computed)
        response = await auth.client().post(
            "/api/__auth/register", json={"email": email, "password": "some other password"}
        )
        return (
            (response.status_code, response.text),
            auth.queries - before[0],
            auth.service.hasher.computed - before[1],
        )

    assert await register(EMAIL) == await register("new@example.org")
    assert (await log_in(auth.client(), password="some other password")).status_code == 401
    assert (await log_in(auth.client())).status_code == 200


async def test_registering_reports_every_field_that_is_wrong(auth: Auth) -> None:
    response = await auth.client().post(
        "/api/__auth/register", json={"email": "x", "password": "short"}
    )
    assert response.status_code == 422
    assert response.json() == {
        "ok": False,
        "error": "Validation failed",
        "code": "invalid",
        "fields": {
            "email": ["This is not an email address."],
            "password": ["Use at least 8 characters."],
        },
    }


async def test_registration_can_be_closed(root: Path) -> None:
    async with open_auth(root, registration=False) as auth:
        body = {"email": EMAIL, "password": PASSWORD}
        response = await auth.client().post("/api/__auth/register", json=body)
        assert response.status_code == 403
        assert await auth.service.storage.find_account(EMAIL) is None


async def test_one_client_cannot_register_without_end(root: Path) -> None:
    async with open_auth(root) as auth:
        client = auth.client()

        async def register(number: int) -> int:
            body = {"email": f"user{number}@example.org", "password": PASSWORD}
            return (await client.post("/api/__auth/register", json=body)).status_code

        assert [await register(n) for n in range(21)] == [200] * 20 + [429]
        auth.clock.advance(180)
        assert await register(21) == 200


async def test_outcomes_are_values(auth: Auth) -> None:
    assert isinstance(await auth.service.log_in(EMAIL, PASSWORD), SignedIn)
    assert isinstance(await auth.service.log_in(EMAIL, "wrong password"), Rejection)


async def test_a_password_is_changed_by_whoever_knows_the_current_one(auth: Auth) -> None:
    account = await auth.service.storage.find_account(EMAIL)
    assert account is not None
    client = auth.client()
    await log_in(client)

    async def change(current: object, new: object) -> str:
        rejection = await auth.service.change_password(account.user, current, new)
        if rejection is not None and rejection.code == "credentials":
            assert rejection.message == "The current password is wrong."
        return "" if rejection is None else rejection.code

    assert await change(PASSWORD, "short") == "invalid"
    assert await change(PASSWORD, None) == "invalid"
    assert await change("wrong password", "another password") == "credentials"
    assert await user_of(client) == EMAIL
    assert await change(PASSWORD, "another password") == ""
    assert await user_of(client) is None
    assert (await log_in(client, password="another password")).status_code == 200


async def test_guessing_the_current_password_is_throttled_like_a_login(auth: Auth) -> None:
    account = await auth.service.storage.find_account(EMAIL)
    assert account is not None
    codes = []
    for _ in range(6):
        rejection = await auth.service.change_password(account.user, "wrong guess", "new password")
        assert rejection is not None
        codes.append(rejection.code)
    assert codes == ["credentials"] * 5 + ["throttled"]


async def test_the_owner_can_change_the_password_while_the_login_is_under_attack(
    auth: Auth,
) -> None:
    owner = auth.client()
    await log_in(owner)
    assert (await fail(auth.client(), 6))[-1] == 429
    account = await auth.service.storage.find_account(EMAIL)
    assert account is not None
    assert await auth.service.change_password(account.user, PASSWORD, "another password") is None
    found = await auth.service.storage.find_account(EMAIL)
    assert found is not None
    assert found.password_hash != account.password_hash


async def test_guesses_of_the_current_password_are_limited_too(auth: Auth) -> None:
    account = await auth.service.storage.find_account(EMAIL)
    assert account is not None
    codes = []
    for _ in range(6):
        rejection = await auth.service.change_password(
            account.user, "wrong one", "another password"
        )
        codes.append(rejection.code if rejection else "")
    assert codes == ["credentials"] * 5 + ["throttled"]
    assert (await log_in(auth.client())).status_code == 200


async def test_many_right_logins_at_once_wait_for_each_other(auth: Auth) -> None:
    statuses: list[int] = []

    async def attempt() -> None:
        statuses.append((await log_in(auth.client())).status_code)

    async with trio.open_nursery() as nursery:
        for _ in range(30):
            nursery.start_soon(attempt)
    assert statuses == [200] * 30


async def test_no_more_logins_wait_than_passwords_may_and_none_forever(
    root: Path, mock_clock: MockClock
) -> None:
    async with open_auth_with_user(root, hashing_queue=3) as auth:
        attempts = auth.service.attempts
        buckets = attempts.login_of(EMAIL, None)
        outcomes: list[str] = []

        async def attempt() -> None:
            async with attempts.admit(buckets) as rejection:
                outcomes.append("" if rejection is None else rejection.code)

        async with AsyncExitStack() as stack, trio.open_nursery() as nursery:
            for _ in range(5):
                assert await stack.enter_async_context(attempts.admit(buckets)) is None
            for _ in range(4):
                nursery.start_soon(attempt)
            while len(outcomes) + len(attempts._waiting) < 4:  # threads' turn
                await trio.lowlevel.checkpoint()
            assert outcomes == ["throttled"]
            mock_clock.jump(TURN_TIMEOUT)
        assert outcomes == ["throttled"] * 4


async def work_of(auth: Auth, email: str) -> list[str]:
    """Return which hashes are computed at an attempt to sign in, by their parameters."""
    hasher: Any = auth.service.hasher
    argon2, done = hasher._argon2, []

    class Counting:
        def verify(self, encoded: str, password: str) -> bool:
            done.append(cost_of(encoded))
            return bool(argon2.verify(encoded, password))

        def __getattr__(self, name: str) -> Any:
            return getattr(argon2, name)

    hasher._argon2 = Counting()
    try:
        await log_in(auth.client(), email=email, password="a wrong password")
    finally:
        hasher._argon2 = argon2
    return done


@pytest.mark.parametrize("memory", [8, 16, 64])
async def test_after_the_cost_was_changed_a_known_address_takes_the_work_of_an_unknown_one(
    tmp_path: Path, memory: int
) -> None:
    before = Argon2Settings(time_cost=1, memory_kib=16, parallelism=1)
    today = Argon2Settings(time_cost=1, memory_kib=memory, parallelism=1)
    async with open_auth_with_user(tmp_path, argon2=before):
        pass
    async with open_auth(tmp_path, argon2=today) as auth:
        await auth.service.add_user("grace@example.org", PASSWORD)
        work = [await work_of(auth, email) for email in (UNKNOWN, EMAIL, "grace@example.org")]
        assert work[0] == work[1] == work[2]
        assert len(work[0]) == len({16, memory})
        assert (await log_in(auth.client())).status_code == 200


async def test_registering_a_taken_address_writes_as_much_as_a_free_one(auth: Auth) -> None:
    body = {"email": "new@example.org", "password": PASSWORD}
    costs = []
    for _ in range(2):
        before = auth.queries
        assert (await auth.client().post("/api/__auth/register", json=body)).status_code == 200
        costs.append(auth.queries - before)
    assert costs[0] == costs[1]
    users = await auth.rows("select email, password_hash from fx_auth_users order by email")
    assert [row["email"] for row in users].count("new@example.org") == 1
    other = {"email": "new@example.org", "password": "another password altogether"}
    await auth.client().post("/api/__auth/register", json=other)
    assert await auth.rows("select email, password_hash from fx_auth_users order by email") == users
