"""What `trio_internals` relies on is there in the installed Trio, and means what it assumes."""

from __future__ import annotations

import inspect
import queue
import socket
from typing import Any

import pytest
import trio
import trio._core._run
import trio._threads
from trio.testing import MockClock

from fxtrio.simulation.engine import trio_internals

run: Any = trio._core._run
threads: Any = trio._threads


def test_a_batch_is_shuffled_by_what_ordered_by_puts_in_its_place() -> None:
    source = inspect.getsource(run.unrolled_run)
    assert "_ALLOW_DETERMINISTIC_SCHEDULING" in source
    assert "_r." in source
    batches: list[int] = []

    class Counting:
        def shuffle(self, batch: list[trio.lowlevel.Task]) -> None:
            batches.append(len(batch))

        def random(self) -> float:
            raise AssertionError("Trio reverses batches by chance, and not in the order given")

    with trio_internals.ordered_by(Counting()):
        trio.run(trio.sleep, 1, clock=MockClock(autojump_threshold=0))
    assert batches
    assert not isinstance(run._r, Counting)


def test_a_run_knows_its_deadlines_and_those_who_wait_for_idleness() -> None:
    async def main() -> list[bool]:
        found = [trio_internals.is_stuck()]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep, 1)
            await trio.lowlevel.checkpoint()
            await trio.lowlevel.checkpoint()
            found.append(trio_internals.is_stuck())
            nursery.cancel_scope.cancel()
        return found

    assert trio.run(main) == [True, False]


def test_the_kernel_is_polled_only_while_events_may_come() -> None:
    manager = run.TheIOManager
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
        with trio_internals.polled_when_needed():
            found = trio.run(main, clock=MockClock(autojump_threshold=0))
    finally:
        manager.get_events = get_events
    assert found == (0, b"from a descriptor", ["by another thread"])
    assert manager.get_events is get_events


def test_a_call_in_a_thread_is_started_and_sent_by_the_functions_that_are_replaced() -> None:
    source = inspect.getsource(threads.to_thread_run_sync)
    assert "start_thread_soon(" in source
    assert "_send_message_to_trio(" in inspect.getsource(threads.from_thread_run)
    assert "_send_message_to_trio(" in inspect.getsource(threads.from_thread_run_sync)
    message = threads.RunSync(print, ())
    assert isinstance(message.queue, queue.SimpleQueue)


@pytest.mark.parametrize("is_cancelled", [True, False])
def test_a_call_as_in_a_thread_is_in_no_task_and_may_be_cancelled(is_cancelled: bool) -> None:
    def in_thread() -> str:
        with pytest.raises(RuntimeError):
            trio.lowlevel.current_task()
        try:
            trio.from_thread.check_cancelled()
        except trio.Cancelled:
            return "cancelled"
        return "not cancelled"

    async def main() -> str:
        with trio.CancelScope() as scope:
            if is_cancelled:
                scope.cancel()
            await trio.lowlevel.cancel_shielded_checkpoint()
            found: str = trio_internals.call_as_thread(in_thread)
        assert trio.lowlevel.current_task()
        with pytest.raises(RuntimeError):  # it is over
            trio.from_thread.check_cancelled()
        return found

    assert trio.run(main) == ("cancelled" if is_cancelled else "not cancelled")


def test_time_passes_only_when_every_task_waits() -> None:
    async def main() -> list[float]:
        times = [trio.current_time()]
        times.append(trio.current_time() - times[0])
        await trio.sleep(5)
        times.append(trio.current_time())
        clock.jump(2)
        with trio.move_on_after(3):
            await trio.sleep_forever()
        return [*times, trio.current_time()]

    clock = trio_internals.virtual_clock()
    assert trio.run(main, clock=clock) == [0, 0, 5, 10]
