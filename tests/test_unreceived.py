"""The budget for messages of WebSockets that wait: who is counted, who waits, who is closed."""

from __future__ import annotations

import attrs
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from fxtrio.receive_budget import FREE, ROUND, ROUNDS, Backlog, Unreceived

MEGABYTE = 1_000_000


@attrs.define
class Sockets:
    """WebSockets of one budget, and which of them were closed."""

    budget: Unreceived
    closed: list[str] = attrs.field(factory=list)

    async def tick(self, times: int = ROUNDS) -> None:
        for _ in range(times):
            await trio.sleep(ROUND)
            self.budget.tick()

    def new(self, name: str, size: int = MEGABYTE, *, address: str = "") -> Backlog:
        backlog = Backlog(address, lambda: self.closed.append(name), budget=self.budget)
        backlog.count(size)
        return backlog


def sockets(capacity: int = 3 * MEGABYTE) -> Sockets:
    return Sockets(Unreceived(capacity))


async def test_a_little_of_each_is_not_counted() -> None:
    found = sockets()
    backlog = found.new("small", FREE)
    assert found.budget.used == 0
    backlog.count(FREE + 1)
    assert found.budget.used == FREE + 1
    backlog.count(5 * FREE)
    backlog.count(FREE)
    assert (found.budget.used, backlog.size) == (0, 0)


async def test_nobody_is_closed_while_there_is_room_or_at_once(autojump_clock: MockClock) -> None:
    found = sockets()
    for number in range(3):
        found.new(str(number))
    await found.tick(100)
    assert found.closed == []

    young = sockets()
    for number in range(10):
        young.new(str(number))
    await young.tick(ROUNDS - 1)
    assert young.closed == []
    await young.tick(1)
    assert len(young.closed) == 8


async def test_who_has_had_most_for_long_is_closed_first(autojump_clock: MockClock) -> None:
    found = sockets()
    found.new("old", MEGABYTE // 2)
    await trio.sleep(9)
    found.new("large", 2 * MEGABYTE)
    found.new("small", MEGABYTE // 10)
    await trio.sleep(1)
    found.new("new", 700_000)
    await found.tick()

    assert found.closed == ["old", "large"]
    assert found.budget.used == 800_000


async def test_no_public_address_keeps_a_full_budget_for_itself(autojump_clock: MockClock) -> None:
    found = sockets()
    found.new("one", MEGABYTE, address="1.2.3.4")
    await trio.sleep(5)
    for number in range(10):
        found.new(f"many {number}", 190_000, address="1.2.3.5")
    found.new("next", 200_000)
    await found.tick()

    assert {name[:4] for name in found.closed} == {"many"}


async def test_who_has_more_waits_for_room(autojump_clock: MockClock) -> None:
    found = sockets()
    large, other = found.new("large", 2 * MEGABYTE), found.new("other", 2 * MEGABYTE)
    passed = []

    async def read(backlog: Backlog) -> None:
        await found.budget.wait_room(backlog)
        passed.append((backlog, trio.current_time()))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read, large)
        await found.budget.wait_room(found.new("small", FREE))
        await wait_all_tasks_blocked()
        assert passed == []
        await trio.sleep(0.1)
        other.count(0)
    assert passed == [(large, 0.1)]


async def test_who_waits_ends_to_wait_when_it_is_closed(autojump_clock: MockClock) -> None:
    found = sockets()
    large = found.new("large", 4 * MEGABYTE)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(found.tick)
        await found.budget.wait_room(large)
    assert (found.closed, found.budget.used) == (["large"], 0)
    assert trio.current_time() == ROUNDS * ROUND
