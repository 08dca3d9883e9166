"""Durable jobs: run after a crash, with effect once where they are atomic."""

from __future__ import annotations

from pathlib import Path

import trio

from fx.testing import Faults, World, simulate
from tests.simulation.runtime import PATIENT, SEEDS

ROOT = Path(__file__).parents[1] / "apps" / "orders"
TWO = Faults(kill=0.4, shutdown=0.3, store=0, longest=5)


async def data(world: World) -> dict[str, list[str]]:
    """Return what the loader of the first page gives."""
    return (await world.client().load_page("/")).data


async def require_delivered(world: World) -> None:
    """Enqueue jobs of each kind in transactions, and look at what came of them."""
    acknowledged: set[str] = set()

    async def order(name: str) -> None:
        if (await world.client().action("/", "order", {"name": name})).ok:
            acknowledged.add(name)
        await trio.sleep(1)

    async with world.visitors() as visitors:
        for name in ("one", "two", "three"):
            visitors.start_soon(order, name)
    patient = world.random.random() < PATIENT
    with trio.move_on_after(50):  # until the lease of a killed worker has ended
        ran = False
        while patient or not ran:
            await trio.sleep(5)
            ran = all_ran(acknowledged, await data(world))
    await trio.sleep(2)  # in which nothing runs again
    found = await data(world)
    assert all_ran(acknowledged, found)
    assert len(found["once"]) == len(set(found["once"]))
    if not any(name.startswith(("kill", "shutdown")) for name in world._plan.happened):
        # No process has left a job behind: also what is not atomic has run once.
        assert len(found["deliveries"]) == len(set(found["deliveries"]))


def all_ran(names: set[str], found: dict[str, list[str]]) -> bool:
    """Whether each job of acknowledged orders has run."""
    deliveries = names | {f"{name} at last" for name in names}
    return names <= set(found["once"]) and deliveries <= set(found["deliveries"])


@simulate(ROOT, seeds=SEEDS, faults=Faults(kill=0.4, shutdown=0.3, longest=5))
async def test_jobs_of_acknowledged_orders_run(world: World) -> None:
    await require_delivered(world)


@simulate(ROOT, seeds=SEEDS, processes=2, faults=TWO)
async def test_jobs_run_on_another_process(world: World) -> None:
    await require_delivered(world)
