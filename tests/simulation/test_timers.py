"""`trio.sleep` of simulations leads to what Trio's own leads to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

import pytest
import trio
import trio.testing

from fxtrio.simulation.engine.scheduler import Scheduler
from fxtrio.simulation.engine.strategies import Shuffled
from fxtrio.simulation.engine.timers import short_sleeps
from fxtrio.simulation.engine.trio_internals import ordered_by, virtual_clock

Main = Callable[[], Awaitable[Any]]


def run_as_trio(main: Main, seed: int = 0) -> tuple[Any, str]:
    """Return what a function gives and the order of its steps, with Trio's own sleeps."""
    scheduler = Scheduler(Shuffled(Random(seed)))
    with ordered_by(scheduler):
        return trio.run(main, clock=virtual_clock()), scheduler.digest


def run_short(main: Main, seed: int = 0) -> tuple[Any, str]:
    """Return the same with those of simulations."""
    with short_sleeps():
        return run_as_trio(main, seed)


async def everything() -> list[object]:
    """Let tasks sleep, be cancelled, fail, wait for each other and for idleness."""
    found: list[object] = []
    event = trio.Event()
    send, receive = trio.open_memory_channel[int](1)

    async def sleep(name: str, seconds: float, limit: float) -> None:
        with trio.move_on_after(limit) as scope:
            await trio.sleep(seconds)
            found.append((name, "slept"))
        found.append((name, scope.cancelled_caught, trio.current_time()))

    async def produce() -> None:
        async with send:
            for number in range(4):
                await send.send(number)
                await trio.sleep(0.5)
        event.set()

    async def consume() -> None:
        async for number in receive:
            found.append(number)

    async def wait_for_idleness(cushion: float) -> None:
        await trio.testing.wait_all_tasks_blocked(cushion)
        found.append(("idle", cushion, trio.current_time()))

    async def fail() -> None:
        await event.wait()
        await trio.lowlevel.checkpoint()
        raise ValueError("it fails")

    try:
        async with trio.open_nursery() as nursery:
            for number, limit in enumerate((1, 2, 3)):
                nursery.start_soon(sleep, f"sleep {number}", 2, limit)
            for task in (produce, consume, fail):
                nursery.start_soon(task)
            for cushion in (0.0, 0.001):
                nursery.start_soon(wait_for_idleness, cushion)
            nursery.start_soon(trio.sleep, 1000)
    except* ValueError:
        found.append(trio.current_time())
    return found


def test_the_order_and_the_time_of_steps_are_those_of_trios_own_sleep() -> None:
    for seed in range(40):
        assert run_short(everything, seed) == run_as_trio(everything, seed)


@pytest.mark.parametrize("cancelled_at", [1, 2])
def test_a_sleep_that_is_over_when_its_task_is_cancelled_raises_as_trios_does(
    cancelled_at: float,
) -> None:
    async def main() -> list[str]:
        found: list[str] = []

        async def sleep(scope: trio.CancelScope) -> None:
            with scope:
                await trio.sleep(2)
                found.append("slept")
            found.append("ended")

        async with trio.open_nursery() as nursery:
            scopes = [trio.CancelScope() for _ in range(6)]
            for scope in scopes:
                nursery.start_soon(sleep, scope)
            await trio.sleep(cancelled_at)
            for scope in scopes:
                scope.cancel()
        return found

    found = [run_short(main, seed) for seed in range(20)]
    assert found == [run_as_trio(main, seed) for seed in range(20)]
    assert ("slept" in str(found)) == (cancelled_at == 2)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_an_invalid_time_to_sleep_is_left_to_trio(seconds: float) -> None:
    async def main() -> object:
        try:
            await trio.sleep(seconds)
        except ValueError as error:
            return str(error)
        return "slept"

    assert run_short(main) == run_as_trio(main)


def test_a_sleep_that_a_test_has_replaced_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    trios_sleep = trio.sleep

    async def sleep(seconds: float) -> None:
        await trio.lowlevel.checkpoint()

    with monkeypatch.context() as patch:
        patch.setattr(trio, "sleep", sleep)
        with short_sleeps():
            assert trio.sleep is sleep
        assert trio.sleep is sleep
    with short_sleeps():
        assert trio.sleep is not trios_sleep
    assert trio.sleep is trios_sleep
