"""The response cache: in step with changes, within one process and between two."""

from __future__ import annotations

from pathlib import Path

import trio

from fx.db import get_database
from fx.testing import Faults, World, simulate
from tests.simulation.runtime import SEEDS

ROOT = Path(__file__).parents[1] / "apps" / "counter"


async def displayed_price(world: World) -> int:
    """Return the price that a visitor sees."""
    price: int = (await world.client().load_page("/prices")).data["price"]
    return price


@simulate(ROOT, seeds=SEEDS, also=[611_625], faults=Faults(kill=0, shutdown=0.3))
async def test_a_page_is_not_older_than_the_change_that_was_acknowledged(world: World) -> None:
    known = 0

    async def change() -> None:
        nonlocal known
        for value in range(1, 4):
            await world.client().action("/prices", "change", {"value": value})
            known = value

    async def look() -> None:
        for _ in range(4):
            at_least = known
            page = await world.client().load_page("/prices")
            if page.status != 504:  # to ask the database may take longer than a loader may
                assert page.data["price"] >= at_least
            await trio.sleep(world.random.random())

    async with world.visitors() as visitors:
        visitors.start_soon(change)
        for _ in range(3):
            visitors.start_soon(look)


ONLY_CLIENTS = Faults(kill=0, shutdown=0, jump=0, slow_call=0, slow_task=0)


@simulate(ROOT, seeds=SEEDS, faults=ONLY_CLIENTS)
async def test_a_stale_page_is_sent_and_revalidated(world: World) -> None:
    assert await displayed_price(world) == 0
    async with world.app():
        await get_database().execute("update counter set value = 2")
    assert await displayed_price(world) == 0  # it is not known to the cache
    await trio.sleep(61)
    async with world.visitors() as visitors:
        for _ in range(4):
            visitors.start_soon(displayed_price, world)
    await displayed_price(world)  # everybody else may have left
    await trio.sleep(5)
    assert await displayed_price(world) == 2


ONLY_MESSAGES = Faults(kill=0, shutdown=0, leave=0, slow_task=0, jump=0, store=0.4, longest=4)


@simulate(ROOT, seeds=SEEDS, processes=2, faults=ONLY_MESSAGES)
async def test_other_processes_learn_of_a_change(world: World) -> None:
    async def change() -> None:
        for value in range(2, 5):
            await world.client().action("/prices", "change", {"value": value})

    async with world.visitors() as visitors:
        visitors.start_soon(change)
        for _ in range(4):
            visitors.start_soon(displayed_price, world)
    await trio.sleep(40)  # less than the page lives for
    for _ in range(6):
        assert await displayed_price(world) == 4
