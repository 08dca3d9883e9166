"""What `trio_internals` relies on is there in the installed Trio, and means what it assumes."""

from __future__ import annotations

import inspect
import queue
import socket
from typing import Any

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


def test_the_kernel_is_asked_only_while_something_may_come() -> None:
    manager = run.TheIOManager
    get_events, asked = manager.get_events, list[float]()

    def get_counted(self: Any, timeout: float) -> Any:
        asked.append(timeout)
        return get_events(self, timeout)

    async def spin() -> int:
        before = len(asked)
        for _ in range(10):
            await trio.lowlevel.checkpoint()
        return len(asked) - before

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


def test_the_function_of_a_call_in_a_thread_is_known() -> None:
    found: list[object] = []

    def start(work: Any, deliver: Any, name: str | None = None) -> None:
        found.append(trio_internals.function_of(work))
        trio_internals.start_thread(work, deliver, name)

    async def main() -> None:
        with trio_internals.threads_by(start, trio_internals.send_message):
            await trio.to_thread.run_sync(int, "3")

    trio.run(main)
    assert found == [int]


def test_what_brings_a_result_to_its_task_is_known() -> None:
    found: list[str] = []

    def start(work: Any, deliver: Any, name: str | None = None) -> None:
        report = trio_internals.report_of(deliver)
        found.append(report.__name__)
        trio_internals.start_thread(work, deliver, name)

    async def main() -> None:
        with trio_internals.threads_by(start, trio_internals.send_message):
            assert await trio.to_thread.run_sync(int, "3") == 3

    trio.run(main)
    assert found == ["report_back_in_trio_thread_fn"]
    assert trio_internals.report_of(print) is print
