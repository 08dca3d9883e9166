"""Free memory is returned to the system, and not all the time."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from fxtrio import heap
from fxtrio.send_budget import GRACE, Unread, Unsent


@pytest.fixture
def trimmed(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return when memory was returned to the system."""
    times: list[float] = []
    monkeypatch.setattr(heap, "trimming", lambda: lambda _: times.append(trio.current_time()))
    monkeypatch.setattr(heap.process_heap, "_trimmed_at", -10.0)
    return times


async def test_memory_is_returned_at_intervals(
    trimmed: list[float], autojump_clock: MockClock
) -> None:
    for _ in range(30):
        heap.process_heap.trim()
        await trio.sleep(heap.PAUSE / 10)
    assert len(trimmed) == 3


async def test_a_crowd_leaves_nothing_behind(
    trimmed: list[float], autojump_clock: MockClock
) -> None:
    budget = Unsent(1000)
    clients = [Unread("", lambda: None, budget=budget) for _ in range(10)]
    for client in clients[:5]:
        client.hold(bytes(200))
    await trio.sleep(GRACE)
    assert trimmed == []
    for client in clients[5:]:
        client.taken = 10_000_000
        client.hold(bytes(201))
    assert trimmed == [GRACE]
    await trio.sleep(3600)
    for client in clients:
        client.clear()
    assert len(trimmed) == 2


async def test_the_allocator_is_called_where_it_supports_it() -> None:
    heap.trimming()(0)
