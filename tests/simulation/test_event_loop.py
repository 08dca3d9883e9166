"""The event loop and the timers of simulations lead to what Trio's own lead to."""

from __future__ import annotations

import socket
import traceback
from collections.abc import Awaitable, Callable
from random import Random
from signal import SIGINT, raise_signal
from typing import Any

import outcome
import pytest
import trio
import trio._core._run
import trio.testing

from fxtrio.simulation.engine import event_loop
from fxtrio.simulation.engine.event_loop import short_turns
from fxtrio.simulation.engine.scheduler import Scheduler
from fxtrio.simulation.engine.strategies import Shuffled
from fxtrio.simulation.engine.timers import short_sleeps
from fxtrio.simulation.engine.trio_internals import ordered_by, virtual_clock

Main = Callable[[], Awaitable[Any]]

trio_run: Any = trio._core._run


def run_as_trio(main: Main, seed: int = 0) -> tuple[Any, str]:
    """Return what a function gives and the order of its steps, with Trio's own loop and sleeps."""
    scheduler = Scheduler(Shuffled(Random(seed)))
    with ordered_by(scheduler):
        return trio.run(main, clock=virtual_clock()), scheduler.digest


def run_short(main: Main, seed: int = 0) -> tuple[Any, str]:
    """Return the same with those of simulations."""
    with short_turns(), short_sleeps():
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


def test_the_order_and_the_time_of_steps_are_those_of_trios_own_loop() -> None:
    for seed in range(40):
        assert run_short(everything, seed) == run_as_trio(everything, seed)


def test_a_run_with_instruments_has_trios_own_loop() -> None:
    steps: list[str] = []

    class Recorded(trio.abc.Instrument):
        def after_task_step(self, task: trio.lowlevel.Task) -> None:
            steps.append(task.name)

    with short_turns(), ordered_by(Scheduler(Shuffled(Random(0)))):
        trio.run(trio.sleep, 1, clock=virtual_clock(), instruments=[Recorded()])
    assert "trio.sleep" in [name.replace("_timeouts.", "") for name in steps]
    assert trio_run.unrolled_run is event_loop._trios_loop


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


def test_the_kernel_is_polled_only_while_events_may_come() -> None:
    manager = trio_run.TheIOManager
    get_events, timeouts = manager.get_events, list[float]()

    def get_counted(self: Any, timeout: float) -> Any:
        timeouts.append(timeout)
        return get_events(self, timeout)

    async def spin() -> int:
        before = len(timeouts)
        for _ in range(10):
            await trio.lowlevel.checkpoint()
        return len(timeouts) - before

    async def main() -> tuple[int, bytes, list[str]]:
        idle = await spin()
        called: list[str] = []
        trio.lowlevel.current_trio_token().run_sync_soon(called.append, "by another thread")
        near, far = socket.socketpair()
        near.setblocking(False)
        with near, far:
            far.send(b"from a descriptor")
            await trio.lowlevel.wait_readable(near)
            got = near.recv(100)
        await trio.sleep(10)
        return idle, got, called

    manager.get_events = get_counted
    try:
        found, _ = run_short(main)
    finally:
        manager.get_events = get_events
    assert found == (0, b"from a descriptor", ["by another thread"])


def test_an_error_has_the_frames_that_it_has_in_trios_own_loop() -> None:
    async def main() -> None:
        await trio.lowlevel.checkpoint()
        raise ValueError("it fails")

    def frames(run: Callable[[Main], object]) -> list[str]:
        with pytest.raises(ValueError, match="it fails") as caught:
            run(main)
        names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        return names[names.index("run_as_trio") :]

    assert frames(run_short) == frames(run_as_trio)


def test_what_another_library_waits_for_is_rejected() -> None:
    class Foreign:
        def __await__(self) -> Any:
            yield "a future"

    async def main() -> object:
        try:
            await Foreign()
        except TypeError as error:
            return str(error).partition(" Are you")[0]
        return None

    assert run_short(main) == run_as_trio(main)
    assert "a future" in run_short(main)[0]


def test_a_coroutine_that_leaves_the_loop_ends_its_task() -> None:
    async def main() -> None:
        await trio.lowlevel.permanently_detach_coroutine_object(outcome.Value("left"))

    assert run_short(main) == run_as_trio(main)


@pytest.mark.parametrize("waits", [True, False])
def test_an_interrupt_ends_a_run(waits: bool) -> None:
    async def main() -> None:
        raise_signal(SIGINT)
        if waits:
            await trio.sleep_forever()

    with pytest.raises(KeyboardInterrupt):
        run_short(main)
