"""Sessions and attempts: what ended has ended, and guesses are counted before they are checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import trio

from fx.testing import Client, Faults, World, simulate
from fxtrio.plugins.auth.storage.queries import LIMIT
from fxtrio.testing.responses import AnswerUnreadable
from tests.simulation.runtime import SEEDS

ROOT = Path(__file__).parents[1] / "apps" / "members"
EMAIL = "ada@example.org"
FIRST, SECOND = "correct horse battery", "wrong donkey charger"
LOGIN, LOGOUT = "/api/__auth/login", "/api/__auth/logout"
ATTEMPTS = 4
"""As the app's settings say."""


async def log_in(client: Client, password: str) -> int:
    """Sign in; return the status."""
    return (await client.post(LOGIN, json={"email": EMAIL, "password": password})).status


async def is_signed_in(client: Client) -> bool:
    """Whether the app knows who a client is. Its visitor leaves while the app cannot say."""
    try:
        page = await client.load_page("/")
    except AnswerUnreadable as error:
        assert error.status == 503
        raise ConnectionResetError from error
    return page.data["user"] is not None


def pass_time(seconds: float) -> None:
    """Let time pass at once: what looks every second costs more than all the rest."""
    clock: Any = trio.lowlevel.current_clock()
    clock.jump(seconds)


async def join(world: World) -> None:
    """Register the only user."""
    change = {"email": EMAIL, "before": "", "after": FIRST}
    assert (await world.client().action("/", "join", change)).ok


@simulate(ROOT, seeds=SEEDS, also=[1206], faults=Faults(leave=0))
async def test_a_session_is_over_after_logout_and_after_another_password(world: World) -> None:
    changed = 0
    await join(world)

    async def come_and_go() -> None:
        client = world.client()
        if await log_in(client, FIRST) != 200:
            return
        cookies = dict(client.cookies)
        await trio.sleep(world.random.random() / 4)
        over = changed
        signed_in = await is_signed_in(client)
        assert not (over and signed_in)
        began = trio.current_time()
        status = (await client.post(LOGOUT)).status
        # Later the process holds an end that the database has not taken, and may be killed.
        if status == 200 and trio.current_time() - began < LIMIT:
            client.cookies.update(cookies)  # as somebody would who has stolen them
            assert not await is_signed_in(client)

    async def linger() -> None:
        client = world.client()
        if await log_in(client, FIRST) == 200:
            for _ in range(8):
                over = changed
                assert not (await is_signed_in(client) and over)
                await trio.sleep(world.random.random() / 8)

    async def change() -> None:
        nonlocal changed
        client = world.client()
        if await log_in(client, FIRST) == 200:
            await trio.sleep(world.random.random() / 4)
            body = {"email": EMAIL, "before": FIRST, "after": SECOND}
            if (await client.action("/", "change_password", body)).ok:
                changed += 1
                assert await is_signed_in(client)

    async with world.visitors() as visitors:
        for visit in (come_and_go, come_and_go, linger, change, change):
            visitors.start_soon(visit)
    pass_time(1000)  # until attempts are forgotten
    assert changed <= 1
    if changed:
        assert await log_in(world.client(), FIRST) == 401
        assert await log_in(world.client(), SECOND) == 200


@simulate(ROOT, seeds=SEEDS, faults=Faults(leave=0, kill=0, shutdown=0, jump=0))
async def test_a_session_that_several_use_is_over_for_all_of_them(world: World) -> None:
    over = False
    await join(world)
    first = world.client()
    assert await log_in(first, FIRST) == 200

    async def look() -> None:
        client = world.client()
        client.cookies.update(first.cookies)
        for _ in range(6):
            was_over = over
            signed_in = await is_signed_in(client)
            assert not (was_over and signed_in)
            await trio.sleep(world.random.random() / 50)

    async def log_out() -> None:
        nonlocal over
        began = trio.current_time()
        status = (await first.post(LOGOUT)).status
        over = status == 200 and trio.current_time() - began < LIMIT

    async with world.visitors() as visitors:
        for _ in range(3):
            visitors.start_soon(look)
        visitors.start_soon(log_out)


ONLY_ORDER = Faults(leave=0, slow_reader=0, slow_call=0, slow_task=0, kill=0, shutdown=0, jump=0)


@simulate(ROOT, seeds=SEEDS, faults=ONLY_ORDER)
async def test_guesses_at_the_same_time_gain_nothing(world: World) -> None:
    statuses: list[int] = []
    await join(world)

    async def guess() -> None:
        statuses.append(await log_in(world.client(), "not the password"))

    async with world.visitors() as visitors:
        for _ in range(2 * ATTEMPTS):
            visitors.start_soon(guess)
    assert statuses.count(401) == ATTEMPTS
    assert statuses.count(429) == ATTEMPTS
