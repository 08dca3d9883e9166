"""Whatever becomes of its connection and of the logs, a link loses nothing silently."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from unittest.mock import patch

import attrs
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from fxtrio.realtime.frames import Ident
from fxtrio.realtime.stores import subscription
from fxtrio.realtime.stores.backend import Arrival, Logged, Part
from fxtrio.realtime.stores.subscription import Link
from tests.outages.judge import Heard, judge

CLOCK_STEP = 10


class Away(Exception):
    """The store is away."""


@attrs.define(eq=False)
class Wire:
    """A `StoreConnection` in memory."""

    store: Memory
    generation: str
    names: set[str]
    broken: trio.Event = attrs.field(factory=trio.Event)
    sent: deque[tuple[Ident, bytes | None]] = attrs.field(factory=deque)
    news: trio.lowlevel.ParkingLot = attrs.field(factory=trio.lowlevel.ParkingLot)

    async def run(self, arrival: Arrival) -> None:
        """Pass on what was sent, in order and some time after it."""
        while not self.broken.is_set():
            if self.sent:
                await trio.sleep(self.store.chance.choice([0, 0, 0.002]))
                arrival("room", *self.sent.popleft())
            else:
                await self.news.park()
        raise Away

    async def subscribe(self, name: str) -> None:
        await self.store.answer()
        self.names.add(name)

    async def unsubscribe(self, name: str) -> None:
        self.names.discard(name)


@attrs.define(eq=False)
class Memory:
    """A `Backend` whose log can be cut, forgotten and delayed, as far as a link needs it."""

    chance: random.Random
    unreachable: tuple[type[Exception], ...] = (Away,)
    generation: int = 0
    time: int = CLOCK_STEP
    log: list[Logged] | None = None
    wire: Wire | None = None
    away: bool = False

    async def answer(self) -> None:
        """Take some time to answer, or fail."""
        await trio.sleep(self.chance.choice([0, 0.001, 0.01]))
        if self.away:
            raise Away

    @asynccontextmanager
    async def connect(self, names: Collection[str]) -> AsyncIterator[Wire]:
        await self.answer()
        self.wire = Wire(self, str(self.generation), set(names))
        yield self.wire

    def take(self, data: bytes, *, large: bool) -> None:
        """Log a message and send it."""
        ident = self.add(data)
        if self.wire is not None and "room" in self.wire.names:
            self.wire.sent.append((ident, None if large else data))
            self.wire.news.unpark_all()

    def add(self, data: bytes) -> Ident:
        self.time += 1
        self.log = [*(self.log or []), Logged((self.time, 0), data)]
        return self.time, 0

    def cut(self) -> None:
        if self.wire is not None:
            self.wire.broken.set()
            self.wire.news.unpark_all()
            self.wire = None

    def forget(self, step: int) -> None:
        """Start again, with a clock that may have been set back."""
        self.cut()
        self.log = None
        self.generation += 1
        self.time = max(1, self.time + step)

    def trim(self, count: int) -> None:
        if self.log:
            self.log = self.log[-max(1, count) :]

    async def begin(self, name: str) -> Ident:
        found = self.log[-1].ident if self.log else self.add(b"")
        await self.answer()
        return found

    async def newest(self, names: Sequence[str]) -> list[Ident | None]:
        found: list[Ident | None] = [self.log[-1].ident if self.log else None for _ in names]
        await self.answer()
        return found

    async def read(self, name: str, after: Ident, limit: int) -> Part:
        known = any(one.ident == after for one in self.log or ())
        later = [one for one in self.log or () if one.ident > after][:limit]
        if not known and not later:
            end = self.log[-1].ident if self.log else self.add(b"")
            later = [Logged(end, b"")]
        await self.answer()
        return Part(known, later)


Step = tuple[str, int]
steps = st.lists(
    st.tuples(
        st.sampled_from(["publish", "large", "wait", "cut", "away", "back", "forget", "trim"]),
        st.integers(1, 12),
    ),
    max_size=15,
)


@patch.object(subscription, "PART", 4)
async def play(moves: list[Step], seed: int) -> list[Heard]:
    store = Memory(random.Random(seed))
    heard: list[Heard] = []
    accepted: set[tuple[int, int]] = set()

    async def nothing(*_: object) -> None:
        await store.answer()

    async def settle(name: str) -> None:
        await trio.lowlevel.checkpoint()

    tested = Link(
        store,  # type: ignore[arg-type]  # which has nobody's presence
        on_message=lambda name, ident, data: heard.append((0, int(data))),
        on_missed=lambda name: heard.append(None),
        on_resumed=lambda name: None,
        on_connect=nothing,
        on_part=settle,
    )

    def publish(large: bool = False) -> None:
        if not store.away:
            store.take(str(len(accepted)).encode(), large=large)
            accepted.add((0, len(accepted)))

    async with trio.open_nursery() as nursery:
        await nursery.start(tested.run)
        await tested.subscribe("room")
        for move, amount in moves:
            if move in ("publish", "large"):
                for _ in range(amount):
                    publish(large=move == "large")
                    await trio.sleep(store.chance.choice([0, 0, 0, 0.001]))
            elif move == "wait":
                await trio.sleep(amount / 50)
            elif move == "trim":
                store.trim(amount)
            elif move == "forget":
                store.forget(5 * (amount - 6))
            elif move == "cut":
                store.cut()
            else:
                store.away = move == "away"
                store.cut()
        store.away = False
        await trio.sleep(10)
        publish()
        await trio.sleep(10)
        nursery.cancel_scope.cancel()
    verdict = judge(accepted, heard)
    assert (verdict.lost_silently, verdict.doubled, verdict.disordered) == (0, 0, 0), heard
    assert heard[-1] == (0, len(accepted) - 1)
    return heard


@settings(max_examples=60)
@given(moves=steps, seed=st.integers(0, 1000))
def test_nothing_is_lost_silently_doubled_or_out_of_order(moves: list[Step], seed: int) -> None:
    trio.run(play, moves, seed, clock=MockClock(autojump_threshold=0))


def test_breaks_alone_cost_nothing_and_report_nothing() -> None:
    moves = [("publish", 3), ("cut", 1), ("publish", 25), ("large", 7), ("cut", 1), ("large", 3)]
    heard = trio.run(play, moves, 0, clock=MockClock(autojump_threshold=0))
    assert heard == [(0, number) for number in range(39)]
