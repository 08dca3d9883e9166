"""A clock that goes back, as one that was wrong and is set right."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.auth.harness import EMAIL, PASSWORD, Auth, log_in, open_auth_with_user, user_of

HOUR = 3600.0
DAY = 24 * HOUR
BACK = [1.0, HOUR, 10 * 365 * DAY]


@pytest.fixture
async def auth(root: Path):
    async with open_auth_with_user(root) as auth:
        yield auth


async def ends(auth: Auth) -> list[float]:
    return [row["ends_at"] for row in await auth.rows("select ends_at from fx_auth_sessions")]


@pytest.mark.parametrize("back", BACK)
async def test_a_clock_that_goes_back_signs_nobody_out_and_lets_nobody_stay(
    auth: Auth, back: float
) -> None:
    client = auth.client()
    await log_in(client)
    auth.clock.advance(-back)
    assert await user_of(client) == EMAIL
    auth.clock.advance(8 * DAY)
    assert await user_of(client) is None


@pytest.mark.parametrize("back", BACK)
async def test_a_busy_session_still_has_its_greatest_age(auth: Auth, back: float) -> None:
    client = auth.client()
    await log_in(client)
    auth.clock.advance(-back)
    for _ in range(30):
        assert await user_of(client) == EMAIL
        auth.clock.advance(DAY)
    auth.clock.advance(DAY)
    assert await user_of(client) is None


async def test_a_login_draws_in_the_ends_of_sessions_that_nobody_uses(auth: Auth) -> None:
    unused = auth.client()
    await log_in(unused)
    auth.clock.advance(-10 * 365 * DAY)
    assert (await log_in(auth.client())).status_code == 200
    assert max(await ends(auth)) == auth.clock.now + 30 * DAY
    auth.clock.advance(8 * DAY)
    assert await user_of(unused) is None


async def test_a_small_step_back_gives_nobody_another_attempt(auth: Auth) -> None:
    client = auth.client()
    for _ in range(6):
        await log_in(client, password="wrong password")
    auth.clock.advance(-1)
    rejected = await log_in(client)
    assert (rejected.status_code, rejected.headers["retry-after"]) == (429, "300")
    auth.clock.advance(300)
    assert (await log_in(client, password=PASSWORD)).status_code == 200


@pytest.mark.parametrize("back", BACK[1:])
async def test_a_large_step_back_locks_nobody_out(auth: Auth, back: float) -> None:
    client = auth.client()
    for _ in range(6):
        await log_in(client, password="wrong password")
    auth.clock.advance(-back)
    assert (await log_in(client)).status_code == 200


async def test_the_cookie_never_outlives_the_session_of_the_true_clock(auth: Auth) -> None:
    client = auth.client()
    await log_in(client, remember=True)
    auth.clock.advance(-365 * DAY)
    answer = await client.get("/me")
    assert "Max-Age=604800" in answer.headers["set-cookie"]


async def test_a_new_session_is_never_the_oldest(root: Path) -> None:
    async with open_auth_with_user(root, max_sessions=2) as auth:
        for _ in range(2):
            await log_in(auth.client())
        auth.clock.advance(-HOUR)
        client = auth.client()
        await log_in(client)
        assert await user_of(client) == EMAIL
