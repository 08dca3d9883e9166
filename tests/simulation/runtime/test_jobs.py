"""Durable jobs: run after a crash, with effect once where they are atomic, and by schedule."""

from __future__ import annotations

from pathlib import Path

import trio

from fx.testing import Faults, World, simulate

ROOT = Path(__file__).parents[1] / "apps" / "runtime"
SEEDS = 10  # a run lasts for minutes, in which each process looks at its jobs every second
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
    await trio.sleep(50)  # until the lease of a killed worker has ended
    found = await data(world)
    once = found["once"]
    assert len(once) == len(set(once))
    assert acknowledged <= set(once)
    assert acknowledged | {f"{name} at last" for name in acknowledged} <= set(found["deliveries"])


@simulate(ROOT, seeds=SEEDS, faults=Faults(kill=0.4, shutdown=0.3, longest=5))
async def test_jobs_of_acknowledged_orders_run(world: World) -> None:
    await require_delivered(world)


@simulate(ROOT, seeds=SEEDS, processes=2, faults=TWO)
async def test_jobs_run_on_another_process(world: World) -> None:
    await require_delivered(world)


@simulate(ROOT, seeds=SEEDS, processes=2, faults=TWO)
async def test_a_schedule_runs_once_each_time(world: World) -> None:
    async with world.visitors():
        await trio.sleep(70)
    await trio.sleep(20)
    ticks = (await data(world))["ticks"]
    assert 1 <= len(ticks) <= world.clock.monotonic() // 60
