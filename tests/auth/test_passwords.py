"""Passwords: which are accepted, and how they are stored."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, cast

import pytest
import trio
import trio.testing
from argon2 import Type, extract_parameters

from fxtrio.plugins.auth import Argon2Settings
from fxtrio.plugins.auth.errors import HashingBusy
from fxtrio.plugins.auth.passwords.passwords import (
    PasswordHasher,
    normalize_password,
    open_hasher,
    password_problem,
)
from tests.auth.harness import CHEAP, EMAIL, PASSWORD, Auth, log_in, open_auth, open_auth_with_user


@pytest.fixture
async def hasher() -> PasswordHasher:
    return await open_hasher(CHEAP, threads=2, waiting=4)


async def stored_hash(auth: Auth) -> str:
    account = await auth.service.storage.find_account(EMAIL)
    assert account is not None
    return account.password_hash


def test_the_default_cost_is_the_low_memory_choice_of_rfc_9106() -> None:
    cost = Argon2Settings()
    assert (cost.time_cost, cost.memory_kib, cost.parallelism) == (3, 65536, 4)


async def test_a_hash_is_argon2id_with_the_parameters_of_the_settings() -> None:
    settings = Argon2Settings(time_cost=2, memory_kib=64, parallelism=2)
    hasher = await open_hasher(settings, threads=1, waiting=1)
    parameters = extract_parameters(await hasher.hash(PASSWORD))
    assert parameters.type is Type.ID
    assert (parameters.time_cost, parameters.memory_cost, parameters.parallelism) == (2, 64, 2)
    assert parameters.hash_len == 32
    assert parameters.salt_len == 16


async def test_equal_passwords_have_different_hashes(hasher: PasswordHasher) -> None:
    assert await hasher.hash(PASSWORD) != await hasher.hash(PASSWORD)


async def test_only_the_right_password_verifies(hasher: PasswordHasher) -> None:
    stored = await hasher.hash(PASSWORD)
    assert (await hasher.verify(stored, PASSWORD)).correct
    assert not (await hasher.verify(stored, PASSWORD.upper())).correct
    assert not (await hasher.verify("not a hash", PASSWORD)).correct


async def test_without_a_hash_a_check_computes_one_all_the_same(hasher: PasswordHasher) -> None:
    assert not (await hasher.verify(None, PASSWORD)).correct
    assert hasher.computed == 1


async def test_only_the_hash_is_stored(tmp_path: Path) -> None:
    async with open_auth_with_user(tmp_path) as auth:
        assert (await stored_hash(auth)).startswith("$argon2id$")
    files = b"".join(path.read_bytes() for path in (tmp_path / "data").iterdir())
    assert b"$argon2id$" in files
    assert PASSWORD.encode() not in files


async def test_a_hash_of_older_parameters_is_renewed_at_the_next_login(tmp_path: Path) -> None:
    async with open_auth_with_user(tmp_path) as auth:
        await log_in(auth.client())
        old = await stored_hash(auth)
    stronger = Argon2Settings(time_cost=2, memory_kib=16, parallelism=1)
    async with open_auth(tmp_path, argon2=stronger) as auth:
        await log_in(auth.client(), password="wrong password")
        assert await stored_hash(auth) == old
        await log_in(auth.client())
        new = await stored_hash(auth)
        assert extract_parameters(new).time_cost == 2
        assert (await log_in(auth.client())).status_code == 200
        assert await stored_hash(auth) == new


async def test_hashing_has_threads_of_its_own_and_a_bounded_queue() -> None:
    going_on = threading.Event()
    running: list[int] = []

    class Slow:
        """Stands in for Argon2: a hash that takes as long as the test wants."""

        type, memory_cost, time_cost, parallelism = Type.ID, 64, 1, 1

        def hash(self, password: str) -> str:
            running.append(1)
            if password == "slow":
                going_on.wait(10)
            return "hash"

    hasher = PasswordHasher(cast("Any", Slow()), threads=2, waiting=3)
    running.clear()
    with trio.fail_after(10):
        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(hasher.hash, "slow")
            await trio.testing.wait_all_tasks_blocked()
            assert len(running) <= 2
            with pytest.raises(HashingBusy, match="3 passwords wait"):
                await hasher.hash("slow")
            # Everybody else's threads are free.
            assert await trio.to_thread.run_sync(lambda: "free") == "free"
            going_on.set()
    assert len(running) == 5


async def test_too_many_concurrent_logins_get_retry_after(tmp_path: Path) -> None:
    async with open_auth_with_user(tmp_path, hashing_threads=1, hashing_queue=1) as auth:
        going_on = threading.Event()
        limiter = auth.service.hasher._limiter
        statuses: list[int] = []

        async def attempt(number: int) -> None:
            client = auth.client()
            response = await log_in(client, email=f"user{number}@example.org")
            statuses.append(response.status_code)
            if response.status_code == 503:
                assert response.headers["retry-after"] == "1"
                assert response.json()["code"] == "busy"

        with trio.fail_after(10):
            async with trio.open_nursery() as nursery:

                async def occupy() -> None:
                    await trio.to_thread.run_sync(going_on.wait, 10, limiter=limiter)

                nursery.start_soon(occupy)
                nursery.start_soon(attempt, 1)
                while not limiter.statistics().tasks_waiting:
                    await trio.lowlevel.checkpoint()
                await attempt(2)
                going_on.set()
        assert statuses == [503, 401]


@pytest.mark.parametrize(
    ("password", "problem"),
    [
        ("1234567", "Use at least 8 characters."),
        ("12345678", ""),
        ("        ", ""),
        ("пароль-八文字以上", ""),
        ("👩‍🚀" * 20, ""),
        ("x" * 128, ""),
        ("x" * 129, "Use at most 128 characters."),
        ("\ufdfa" * 128, "Use at most 128 characters."),
        ("\ud800" * 8, "This is not text."),
        ("ADA@example.org", "Do not use the email address as the password."),
    ],
)
def test_passwords_have_a_length_and_no_other_rules(password: str, problem: str) -> None:
    assert password_problem(password, shortest=8, longest=128, email=EMAIL) == problem


async def test_a_password_is_the_same_on_every_keyboard(tmp_path: Path) -> None:
    assert normalize_password("e\u0301tage") == normalize_password("\u00e9tage")
    async with open_auth(tmp_path) as auth:
        await auth.service.add_user(EMAIL, "cafe\u0301 noir")
        assert (await log_in(auth.client(), password="caf\u00e9 noir")).status_code == 200


async def test_the_whole_password_counts_and_spaces_too(tmp_path: Path) -> None:
    async with open_auth(tmp_path) as auth:
        password = " " + "x" * 100 + " y"
        await auth.service.add_user(EMAIL, password)
        assert (await log_in(auth.client(), password=password)).status_code == 200
        for other in (password.strip(), password[:72], password[:-1] + "z"):
            assert (await log_in(auth.client(), password=other)).status_code == 401


async def test_scripts_get_an_error_that_says_why_a_password_is_rejected(tmp_path: Path) -> None:
    async with open_auth(tmp_path) as auth:
        with pytest.raises(ValueError, match="password: Use at least 8 characters"):
            await auth.service.add_user(EMAIL, "short")
        user = await auth.service.add_user(EMAIL, PASSWORD)
        assert user is not None
        with pytest.raises(ValueError, match="Use at least 8 characters"):
            await auth.service.set_password(user, "short")
