"""Tests of apps have the same order of tasks each time, on whatever machine they run."""

from __future__ import annotations

import json
import os
import random
import sys
from functools import partial
from pathlib import Path

import trio
import trio.testing

from fxtrio.tasks import enqueue
from fxtrio.testing import open_app, repeatable
from tests.short import amount

from .schedules import WORKS, burn, write

ROOT = Path(__file__).parents[2]
TIMES = amount(3, short=2, long=17)
"""In each of three processes."""

BUSY = "while True: pass"


async def _schedules(seed: str, found: list[dict[str, list[str]]]) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    command = [sys.executable, "-m", "tests.testing.schedules", str(TIMES)]
    done = await trio.run_process(command, capture_stdout=True, cwd=ROOT, env=environment)
    found.append(json.loads(done.stdout))


async def test_twenty_works_have_the_same_schedules_each_time_on_a_busy_machine() -> None:
    # Each process has other hashes and other addresses, and loses its core at other times.
    found: list[dict[str, list[str]]] = []
    with trio.fail_after(240):
        async with trio.open_nursery() as nursery:
            busy = await nursery.start(
                partial(trio.run_process, [sys.executable, "-c", BUSY], check=False)
            )
            async with trio.open_nursery() as processes:
                for seed in ("0", "1", "2"):
                    processes.start_soon(_schedules, seed, found)
            busy.kill()
    first, *others = found
    assert len(first) == len(WORKS) == 20
    assert all(len(digests) == TIMES for digests in first.values())
    differ = {name for other in others for name in first if other[name] != first[name]}
    assert differ == set()


async def test_jobs_have_the_same_order_on_the_real_clock(tmp_path: Path) -> None:
    orders = []
    write(tmp_path)
    for _ in range(2):
        with repeatable(3):
            async with open_app(tmp_path, tasks={"workers": 1}):
                events: list[str] = []

                async def job(number: int, events: list[str] = events) -> None:
                    events.append(f"job {number}")
                    burn(10_000 * (number % 3))  # more than a turn takes by the clock

                for number in range(40):
                    enqueue(job, number)
                while len(events) < 50:
                    events.append("other")
                    await trio.lowlevel.checkpoint()
        orders.append(events[:50])
    assert orders[0] == orders[1]
    assert orders[0].count("other") >= 3


def test_the_order_depends_on_the_seed_alone_and_what_was_before_is_put_back() -> None:
    def order(seed: int) -> list[int]:
        ran: list[int] = []

        async def note(number: int) -> None:
            ran.append(number)

        async def main() -> None:
            event = trio.Event()

            async def wait(number: int) -> None:
                await event.wait()
                await note(number)

            async with trio.open_nursery() as nursery:
                for number in range(20):
                    nursery.start_soon(wait, number)
                await trio.testing.wait_all_tasks_blocked()
                event.set()

        with repeatable(seed):
            trio.run(main)
        return ran

    random.seed(5)
    before = random.getstate()
    assert order(1) == order(1)
    assert order(1) != order(2)
    assert random.getstate() == before
