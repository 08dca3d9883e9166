"""Limits of a process: requests of a client, and the bytes of all bodies."""

from __future__ import annotations

from pathlib import Path

import trio

from fx.testing import Faults, World, simulate
from tests.simulation.runtime import SEEDS

ROOT = Path(__file__).parents[1] / "apps" / "limits"

BUDGET, UNCOUNTED = 100_000, 16 * 1024


@simulate(ROOT, seeds=SEEDS, faults=Faults(kill=0, shutdown=0, jump=0, slow_task=0))
async def test_no_more_requests_than_allowed_pass(world: World) -> None:
    passed = 0

    async def call() -> None:
        nonlocal passed
        result = await world.client().action("/seldom", "call")
        assert result.status in {200, 429}
        passed += result.status == 200

    async with world.visitors() as visitors:
        for _ in range(9):
            visitors.start_soon(call)
    assert passed <= 5


@simulate(ROOT, seeds=SEEDS, also=[279], faults=Faults(kill=0, shutdown=0))
async def test_bodies_keep_within_their_budget(world: World) -> None:
    async def upload(size: int) -> None:
        client = world.client()
        response = await client.post(client.action_url("/bodies", "take"), content=b"x" * size)
        assert response.status in {200, 503, 504}  # it may be slow for longer than its timeout
        if response.status == 200:
            assert response.json()["most"] <= BUDGET + 6 * UNCOUNTED

    async with world.visitors() as visitors:
        for _ in range(6):
            visitors.start_soon(upload, world.random.randrange(60_000))
    await trio.sleep(60)
    await upload(60_000)  # all of it is free again
