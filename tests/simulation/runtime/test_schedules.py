"""Jobs by schedule: each time once, whichever process ends. Apart, so that workers share seeds."""

from __future__ import annotations

from typing import Any

import trio

from fx.testing import World, simulate
from tests.simulation.runtime import PATIENT, SEEDS
from tests.simulation.runtime.test_jobs import ROOT, TWO, data


@simulate(ROOT, seeds=SEEDS, processes=2, faults=TWO)
async def test_a_schedule_runs_once_each_time(world: World) -> None:
    clock: Any = trio.lowlevel.current_clock()
    clock.jump(55)  # almost to the next minute: each second costs more than all the rest
    patient = world.random.random() < PATIENT
    async with world.visitors():
        await trio.sleep(12)
    with trio.move_on_after(20):  # until the lease of a killed worker has ended
        ticks: list[str] = []
        while patient or not ticks:
            await trio.sleep(2)
            ticks = (await data(world))["ticks"]
    await trio.sleep(2)  # in which nothing runs again
    ticks = (await data(world))["ticks"]
    assert 1 <= len(ticks) <= world.clock.monotonic() // 60
