"""Two machines with one database: sessions, their ends and the throttle are the same on both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from fxtrio.realtime.close import known_ending
from tests.auth.harness import (
    EMAIL,
    Auth,
    Clock,
    carry,
    log_in,
    open_auth,
    open_auth_with_user,
    user_of,
)

BODY = {"email": EMAIL, "password": "not the right one"}


@pytest.fixture
async def machines(root: Path) -> AsyncIterator[tuple[Auth, Auth]]:
    clock = Clock()
    with trio.fail_after(60):
        async with (
            open_auth_with_user(root, clock=clock) as one,
            open_auth(root, clock=clock) as two,
        ):
            yield one, two


async def browser(auth: Auth, cookie: str) -> httpx.AsyncClient:
    client = auth.client()
    client.headers["cookie"] = cookie
    assert await user_of(client) == EMAIL
    return client


async def test_a_session_of_one_machine_is_one_on_the_other(machines: tuple[Auth, Auth]) -> None:
    one, two = machines
    await browser(two, carry(await log_in(one.client())))


@pytest.mark.parametrize("end", ["logout", "logout-all"])
async def test_a_session_that_ends_elsewhere_is_over_here_within_a_second(
    machines: tuple[Auth, Auth], end: str
) -> None:
    one, two = machines
    cookie = carry(await log_in(one.client()))
    here, there = await browser(one, cookie), await browser(two, cookie)
    await there.post(f"/api/__auth/{end}")
    assert await user_of(there) is None
    ended = trio.current_time()
    while await user_of(here) is not None:
        assert trio.current_time() - ended < 1
        await trio.sleep(0.02)


async def test_a_socket_is_closed_when_its_session_ends_on_the_other_machine(
    machines: tuple[Auth, Auth],
) -> None:
    one, two = machines
    cookie = carry(await log_in(one.client()))
    socket = two.socket(cookie)
    with known_ending(socket.scope) as ending:
        assert await two.service.authenticate(socket) is not None
        await wait_all_tasks_blocked()
        await (await browser(one, cookie)).post("/api/__auth/logout")
        with trio.fail_after(10):
            await trio.sleep_forever()
    assert ending.closing is not None
    assert ending.closing[0] == 4401


async def test_failures_on_one_machine_count_on_the_other(machines: tuple[Auth, Auth]) -> None:
    for number in range(5):
        client = machines[number % 2].client()
        assert (await client.post("/api/__auth/login", json=BODY)).status_code == 401
    for auth in machines:
        assert (await auth.client().post("/api/__auth/login", json=BODY)).status_code == 429


async def test_attempts_on_two_machines_at_once_gain_nothing(machines: tuple[Auth, Auth]) -> None:
    seen: list[int] = []

    async def attempt(number: int) -> None:
        client = machines[number % 2].client()
        seen.append((await client.post("/api/__auth/login", json=BODY)).status_code)

    async with trio.open_nursery() as nursery:
        for number in range(16):
            nursery.start_soon(attempt, number)
    assert seen.count(401) == 5
    assert set(seen) == {401, 429}
