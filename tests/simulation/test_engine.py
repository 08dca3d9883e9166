"""The engine: orders of steps, threads in turn with the event loop, chance, and rejections."""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from math import ceil, log, log1p
from random import Random

import pytest
import trio

from fxtrio.simulation.engine.randomness import START, open_calendar, seeded
from fxtrio.simulation.engine.rejections import NotSimulated, rejecting
from fxtrio.simulation.engine.scheduler import Scheduler
from fxtrio.simulation.engine.strategies import ByPriority, InOrder, Shuffled, Strategy
from fxtrio.simulation.engine.threads import Threads
from fxtrio.simulation.engine.trio_internals import ordered_by, virtual_clock
from fxtrio.simulation.faults import FaultPlan, Faults


def run(main: Callable[[], Awaitable[object]], strategy: Strategy) -> tuple[object, Scheduler]:
    """Run a function under a strategy."""
    scheduler = Scheduler(strategy)
    threads = Threads(lambda: (0, 0.0, False))
    with ordered_by(scheduler), threads.in_turn():
        return trio.run(main, clock=virtual_clock()), scheduler


async def letters() -> str:
    """Return the order in which three tasks make two steps each."""
    found: list[str] = []

    async def write(letter: str) -> None:
        for _ in range(2):
            found.append(letter)
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        for letter in "abc":
            nursery.start_soon(write, letter)
    return "".join(found)


def test_in_order_the_oldest_task_is_first() -> None:
    assert run(letters, InOrder())[0] == "abcabc"


def test_shuffled_orders_differ_by_seed_and_repeat() -> None:
    orders = [run(letters, Shuffled(Random(seed)))[0] for seed in range(60)]
    assert orders == [run(letters, Shuffled(Random(seed)))[0] for seed in range(60)]
    assert len(set(orders)) > 25
    # Also those that batches alone do not give: two steps of one task before another's first.
    assert any(str(order).startswith(("aa", "bb", "cc")) for order in orders)


def test_a_seed_means_the_same_on_each_python() -> None:
    def orders(strategy: Callable[[Random], Strategy]) -> list[object]:
        return [run(letters, strategy(Random(f"{seed} schedule 0")))[0] for seed in range(4)]

    assert orders(Shuffled) == ["abcacb", "bcaacb", "abcbac", "abccba"]
    by_priority = orders(lambda random: ByPriority.started(random, depth=3, length=10))
    assert by_priority == ["accbba", "aabbcc", "aaccbb", "aaccbb"]
    plan = FaultPlan(Faults(slow_call=0.5), "1", calm=False)
    assert [plan.delay() for _ in range(4)] == [
        (0, 3.337, True),
        (3, 0.0, True),
        (3, 4.322, False),
        (1, 0.058, False),
    ]


def test_the_digest_is_that_of_the_order() -> None:
    def digest(seed: int) -> str:
        return run(letters, Shuffled(Random(seed)))[1].digest

    assert digest(1) == digest(1)
    assert digest(1) != digest(2)


def test_by_priority_one_task_runs_as_long_as_it_can() -> None:
    strategy = ByPriority.started(Random(1), depth=1, length=10)
    order = run(letters, strategy)[0]
    assert isinstance(order, str)
    assert sorted(order[::2]) == ["a", "b", "c"]
    assert order[0] == order[1]


def race(seed: int, *, depth: int, length: int) -> tuple[bool, int, int]:
    """Run three tasks, one of which sees what another does only between two of its steps.

    That needs two orderings. Return whether it was seen, and how many tasks and steps there were.
    """
    changed = seen = False

    async def look() -> None:
        nonlocal seen
        for _ in range(4):
            await trio.lowlevel.checkpoint()
        before = changed
        await trio.lowlevel.checkpoint()
        seen = changed and not before

    async def change() -> None:
        nonlocal changed
        for _ in range(6):
            await trio.lowlevel.checkpoint()
        changed = True

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            for task in (look, change, trio.lowlevel.checkpoint):
                nursery.start_soon(task)

    strategy = ByPriority.started(Random(seed), depth=depth, length=length)
    _, scheduler = run(main, strategy)
    return seen, len(strategy._priorities), scheduler.steps


def test_by_priority_a_race_is_found_within_the_runs_that_its_depth_promises() -> None:
    _, tasks, steps = race(0, depth=2, length=20)
    bound = 1 / (tasks * steps)
    runs = ceil(log(0.001) / log1p(-bound))  # in which it is missed once in 1,000 times
    found = [race(seed, depth=2, length=steps)[0] for seed in range(runs)]
    assert sum(found) >= bound * runs
    assert not any(race(seed, depth=1, length=steps)[0] for seed in range(runs))


def test_a_task_of_high_priority_that_only_spins_gives_way() -> None:
    async def main() -> str:
        done = False

        async def spin() -> None:
            while not done:
                await trio.lowlevel.checkpoint()

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(spin)
            for _ in range(5):
                await trio.lowlevel.checkpoint()
            done = True
        return "ended"

    assert run(main, ByPriority.started(Random(0), depth=1, length=10))[0] == "ended"


def test_nothing_can_happen_any_more_is_seen() -> None:
    scheduler = Scheduler(InOrder())

    async def main() -> None:
        with trio.CancelScope() as scope:
            scheduler.bind(lambda: None, scope.cancel)
            await trio.sleep_forever()

    with ordered_by(scheduler):
        trio.run(main, clock=virtual_clock())


def test_calls_happen_between_two_steps() -> None:
    steps: list[int] = []
    scheduler = Scheduler(InOrder())

    async def main() -> None:
        scheduler.call_in(3, lambda: steps.append(scheduler.steps))
        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(trio.lowlevel.checkpoint)

    with ordered_by(scheduler):
        trio.run(main, clock=virtual_clock())
    assert len(steps) == 1


def test_a_delayed_task_begins_after_its_turns_or_when_nothing_else_can_run() -> None:
    scheduler = Scheduler(InOrder())
    begun: list[tuple[str, int, float]] = []

    async def main() -> None:
        async def begin(name: str) -> None:
            begun.append((name, scheduler.steps, trio.current_time()))

        async with trio.open_nursery() as nursery:
            for name, turns in (("second", 3), ("first", 1)):
                nursery.start_soon(begin, name, name=name)
                (task,) = (one for one in nursery.child_tasks if one.name == name)
                scheduler.delay_start(task, turns)
            for _ in range(3):  # the first one begins meanwhile
                await trio.lowlevel.checkpoint()
            assert [name for name, _, _ in begun] == ["first"]
            await trio.sleep(1)  # before which the second one does, as nothing else can run

    with ordered_by(scheduler):
        trio.run(main, clock=virtual_clock())
    assert [(name, time) for name, _, time in begun] == [("first", 0.0), ("second", 0.0)]


def test_a_thread_runs_in_turn_with_the_event_loop_and_calls_into_it() -> None:
    async def double(number: int) -> int:
        await trio.sleep(60)
        return 2 * number

    def in_thread() -> tuple[int, int, str]:
        doubled = trio.from_thread.run(double, 4)
        name = trio.from_thread.run_sync(lambda: threading.current_thread().name)
        return doubled, trio.from_thread.run(double, doubled), name

    async def main() -> object:
        found: list[object] = []

        async def call() -> None:
            found.append(await trio.to_thread.run_sync(in_thread))

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(call)
        return found, trio.current_time()

    name = threading.current_thread().name
    assert run(main, Shuffled(Random(5)))[0] == ([(8, 16, name)] * 3, 120.0)


@pytest.mark.parametrize(("delayed", "found"), [(False, ["changed"]), (True, ["before"])])
def test_reads_of_the_framework_are_delayed_or_were_done_before(
    delayed: bool, found: list[str]
) -> None:
    values = ["before"]

    def read() -> list[str]:
        return list(values)

    read.__module__ = "fxtrio.db.reading"
    scheduler = Scheduler(InOrder())
    threads = Threads(lambda: (2, 5.0, delayed), scheduler.delay_start)

    async def main() -> tuple[list[str], float]:
        async with trio.open_nursery() as nursery:

            async def change() -> None:
                await trio.sleep(1)
                values[:] = ["changed"]

            nursery.start_soon(change)
            return await trio.to_thread.run_sync(read), trio.current_time()
        raise AssertionError

    with ordered_by(scheduler), threads.in_turn():
        assert trio.run(main, clock=virtual_clock()) == (found, 5.0)


@pytest.mark.parametrize("delayed", [False, True])
def test_a_call_of_the_framework_ends_also_when_its_task_is_cancelled(delayed: bool) -> None:
    found: list[object] = []
    name: ContextVar[str] = ContextVar("name")

    def read() -> None:
        try:
            trio.from_thread.check_cancelled()
        except trio.Cancelled:
            found.append("cancelled")
        found.append(name.get())
        name.set("another")

    read.__module__ = "fxtrio.db.reading"
    scheduler, limiters = Scheduler(InOrder()), list[trio.CapacityLimiter]()
    threads = Threads(lambda: (2, 5.0, delayed), scheduler.delay_start)

    async def main() -> None:
        limiters.append(trio.CapacityLimiter(1))
        name.set("one")
        with trio.move_on_after(1):
            await trio.to_thread.run_sync(read, limiter=limiters[0])
            found.append(trio.current_time())
            await trio.sleep_forever()
        found.extend([name.get(), limiters[0].borrowed_tokens])

    with ordered_by(scheduler), threads.in_turn():
        trio.run(main, clock=virtual_clock())
    assert found == [*([] if delayed else ["cancelled"]), "one", 5.0, "one", 0]


def test_only_the_thread_that_starts_another_is_starting_one() -> None:
    threads = Threads(lambda: (0, 0.0, False))
    allowed: list[bool] = []
    threads.starting_in = threading.get_ident()
    other = threading.Thread(target=lambda: allowed.append(threads.is_starting()))
    other.start()
    other.join()
    assert [threads.is_starting(), *allowed] == [True, False]


def test_an_abandoned_thread_ends_with_the_run() -> None:
    ended: list[str] = []

    def in_thread() -> None:
        trio.from_thread.run(trio.sleep, 10)
        ended.append("thread")

    async def main() -> None:
        with trio.move_on_after(1):
            await trio.to_thread.run_sync(in_thread, abandon_on_cancel=True)
        await trio.sleep(20)

    run(main, InOrder())
    assert ended == ["thread"]


def test_an_error_in_a_thread_is_raised() -> None:
    async def main() -> None:
        await trio.to_thread.run_sync(int, "no number")

    with pytest.raises(ValueError, match="no number"):
        run(main, InOrder())


def test_what_python_draws_depends_on_the_seed() -> None:
    def drawn(seed: str) -> tuple[object, ...]:
        with seeded(seed):
            return uuid.uuid4(), secrets.token_hex(8), os.urandom(4), random.random()

    assert drawn("1") == drawn("1")
    assert not set(drawn("1")) & set(drawn("2"))
    assert os.urandom(8) != os.urandom(8)


def test_the_time_of_day_is_that_of_the_run() -> None:
    with open_calendar() as calendar:
        assert time.time() == START
        calendar.move_to(START + 90)
        assert datetime.now(UTC) == datetime(2030, 1, 1, 0, 1, 30, tzinfo=UTC)
        assert time.localtime().tm_year in {2029, 2030}
    assert datetime.now(UTC).year != 2030


def connect() -> None:
    with socket.socket() as one:
        one.connect(("127.0.0.1", 9))


@pytest.mark.own_interpreter  # the place is that which calls `subprocess`
@pytest.mark.parametrize(
    ("act", "what"),
    [
        (connect, "a connection is opened"),
        (lambda: socket.getaddrinfo("localhost", 80), "a host name is looked up"),
        (lambda: subprocess.run([sys.executable, "-V"], check=False), "a process is started"),
        (lambda: threading.Thread(target=print).start(), "a thread is started"),
        (lambda: asyncio.Runner().get_loop(), "an event loop of asyncio is created"),
    ],
)
def test_what_cannot_be_repeated_is_rejected_with_its_place(
    act: Callable[[], object], what: str
) -> None:
    found: list[NotSimulated] = []
    with rejecting(found.append, lambda: False), pytest.raises(NotSimulated, match=what) as caught:
        act()
    assert "test_engine.py:" in str(caught.value)
    assert found == [caught.value]
    assert subprocess.run([sys.executable, "-c", ""], check=False, timeout=60).returncode == 0
