"""What a process missed while it was cut off it gets afterwards, or it is reported as lost."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest
import trio

from fxtrio.errors import BrokerUnreachable
from fxtrio.realtime import Frame, Member, Message, Missed, Notice, Resumed
from fxtrio.realtime.stores import subscription
from fxtrio.realtime.stores.store_broker import SharedBroker
from tests.realtime.stores import Store, joined, open_brokers, wait_until

# coredis does not close the buffers of connections that could not be made.
pytestmark = pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning")


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Have the warning come here, where it is expected, and not in another test."""
    yield
    gc.collect()


class Recorder:
    """A `Subscriber` that records all that it gets, in order."""

    idle = True

    def __init__(self) -> None:
        self.member = Member()
        self.heard: list[Any] = []

    def deliver(self, message: Message | Frame) -> None:
        assert isinstance(message, Frame)
        self.heard.append(int(message.payload[:6]))

    def offer(self, frame: Frame, *, urgent: bool = False) -> bool:
        self.deliver(frame)
        return True

    async def make_room(self, patience: float) -> bool:
        return True

    def notice(self, event: Notice) -> None:
        if isinstance(event, Missed | Resumed):
            self.heard.append(event)

    @property
    def losses(self) -> list[Missed]:
        return [one for one in self.heard if isinstance(one, Missed)]

    @property
    def numbers(self) -> list[int]:
        return [one for one in self.heard if isinstance(one, int)]


class Gate:
    """Keeps links that were broken from connecting again until `open`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._opened = trio.Event()
        self.waiting = 0
        gate = self

        async def pause(self: subscription.Link, delay: float) -> None:
            gate.waiting += 1
            await gate._opened.wait()

        monkeypatch.setattr(subscription.Link, "_pause", pause)

    def open(self) -> None:
        self._opened.set()


async def publish(broker: SharedBroker, numbers: range, *, size: int = 6) -> None:
    for number in numbers:
        await broker.publish("room", f"{number:06}" + "x" * (size - 6))


async def surely(broker: SharedBroker, number: int) -> None:
    """Publish a number, again and again while the store is away."""
    while True:
        try:
            await broker.publish("room", f"{number:06}")
        except BrokerUnreachable:
            await trio.sleep(0.02)
        else:
            return


async def test_what_came_while_a_link_was_broken_comes_afterwards_in_order_and_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_brokers(store) as [one, two]:
        readers = Recorder(), Recorder()
        await one.subscribe("room", readers[0])
        await two.subscribe("room", readers[1])
        await publish(one, range(50))
        await wait_until(lambda: all(len(reader.heard) == 50 for reader in readers))
        gate = Gate(monkeypatch)
        store.cut()
        await wait_until(lambda: gate.waiting == 2)
        await publish(one, range(50, 400))
        gate.open()
        await publish(two, range(400, 450))
        await wait_until(lambda: all(449 in reader.heard for reader in readers))
        await wait_until(lambda: all(Resumed() in reader.heard for reader in readers))
        for reader in readers:
            assert reader.numbers == list(range(450))
            assert reader.losses == []


async def test_large_messages_come_as_well(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_brokers(store, 1) as [broker]:
        reader = Recorder()
        await broker.subscribe("room", reader)
        await publish(broker, range(5), size=300_000)
        await publish(broker, range(5, 10))
        await wait_until(lambda: len(reader.heard) == 10)
        gate = Gate(monkeypatch)
        store.cut()
        await wait_until(lambda: gate.waiting == 1)
        await publish(broker, range(10, 15), size=300_000)
        await publish(broker, range(15, 20))
        gate.open()
        await wait_until(lambda: 19 in reader.heard)
        assert reader.numbers == list(range(20))
        assert reader.losses == []


async def test_what_a_log_has_no_longer_is_reported_as_lost_before_what_it_has(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_brokers(store, 1, history=10) as [broker]:
        reader = Recorder()
        await broker.subscribe("room", reader)
        await publish(broker, range(5))
        await wait_until(lambda: len(reader.heard) == 5)
        gate = Gate(monkeypatch)
        store.cut()
        await wait_until(lambda: gate.waiting == 1)
        await publish(broker, range(5, 1000))
        gate.open()
        await wait_until(lambda: 999 in reader.heard)
        assert reader.heard[:6] == [0, 1, 2, 3, 4, Missed()]
        rest = reader.heard[6:]
        assert rest == list(range(rest[0], 1000))
        assert len(rest) >= 10


async def test_without_a_history_each_break_is_reported_as_a_loss(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_brokers(store, 1, history=0) as [broker]:
        reader = Recorder()
        await broker.subscribe("room", reader)
        await publish(broker, range(3))
        await wait_until(lambda: len(reader.heard) == 3)
        store.cut()
        await wait_until(lambda: len(reader.heard) == 4)
        await publish(broker, range(3, 5))
        await wait_until(lambda: len(reader.heard) == 6)
        assert reader.heard == [0, 1, 2, Missed(), 3, 4]


async def test_a_store_that_forgot_everything_is_reported_and_what_came_since_is_delivered(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_brokers(store) as [one, two]:
        reader = Recorder()
        await one.subscribe("room", reader)
        await publish(two, range(3))
        await wait_until(lambda: len(reader.heard) == 3)
        gate = Gate(monkeypatch)
        store.kill()
        await wait_until(lambda: gate.waiting == 2)
        store.start()
        await surely(two, 3)
        await publish(two, range(4, 10))
        gate.open()
        await wait_until(lambda: 9 in reader.heard)
        # Nobody can know whether something was lost with the store.
        assert reader.heard == [0, 1, 2, Missed(), *range(3, 10)]


async def test_a_store_that_hangs_for_a_moment_loses_nothing(store: Store) -> None:
    async with open_brokers(store, 1) as [broker]:
        reader = Recorder()
        await broker.subscribe("room", reader)
        await publish(broker, range(3))
        async with trio.open_nursery() as nursery:
            store.freeze()
            nursery.start_soon(publish, broker, range(3, 6))
            await trio.sleep(0.3)
            store.thaw()
        await wait_until(lambda: len(reader.heard) == 6)
        assert reader.heard == list(range(6))


async def test_a_publish_that_arrived_brings_a_link_back_at_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = subscription.Link._pause

    async def pause(self: subscription.Link, delay: float) -> None:
        waiting.set()
        await patient(self, 3600)

    monkeypatch.setattr(subscription.Link, "_pause", pause)
    waiting = trio.Event()
    async with open_brokers(store, 1) as [broker]:
        reader = Recorder()
        await broker.subscribe("room", reader)
        store.cut()
        await waiting.wait()
        await publish(broker, range(1))
        await wait_until(lambda: reader.numbers == [0])


async def test_who_comes_while_the_link_is_broken_gets_nothing_from_before(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_brokers(store, 1) as [broker]:
        first, second = Recorder(), Recorder()
        await broker.subscribe("room", first)
        gate = Gate(monkeypatch)
        store.cut()
        await wait_until(lambda: gate.waiting == 1)
        await publish(broker, range(3))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(broker.subscribe, "room", second)
            gate.open()
        await publish(broker, range(3, 5))
        await wait_until(lambda: second.numbers == [3, 4])
        assert first.numbers == [0, 1, 2, 3, 4]
        assert second.losses == []


async def test_slow_readers_get_what_was_missed_as_well(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_brokers(store, 1) as [broker], joined(broker) as (client, _):
        gate = Gate(monkeypatch)
        store.cut()
        await wait_until(lambda: gate.waiting == 1)
        await publish(broker, range(900))  # several times what an outbox holds
        gate.open()
        await wait_until(lambda: len(client.received) == 900)
        assert [int(text) for text in client.received] == list(range(900))
