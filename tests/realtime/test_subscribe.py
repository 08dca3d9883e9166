"""`subscribe` reads a channel in a loop, resumes after an id, and loses nothing silently."""

from __future__ import annotations

import gc
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock, wait_all_tasks_blocked

from fx.testing import open_app
from fxtrio.errors import BrokerUnreachable
from fxtrio.realtime import Event, MemoryBroker, Missed, Subscription, subscribe
from fxtrio.realtime.broker import Broker, BrokerMissing, ChannelNameInvalid
from fxtrio.realtime.feeds.feed import Feed
from fxtrio.realtime.frames import Message, encode_message
from fxtrio.realtime.presence import Member
from fxtrio.realtime.stores import memory
from fxtrio.realtime.stores.backend import LOG_LIFE
from fxtrio.send_budget import process_unsent
from tests.realtime.stores import Store, open_brokers, wait_until
from tests.short import amount
from tests.trees import write_tree

# coredis does not close the buffers of connections that could not be made.
pytestmark = pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning")


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Have the warning come here, where it is expected, and not in another test."""
    yield
    gc.collect()


async def take(events: Subscription, count: int) -> list[Event | Missed]:
    with trio.fail_after(20):
        return [await anext(events) for _ in range(count)]


def data_of(events: list[Event | Missed]) -> list[Any]:
    return [event.data if isinstance(event, Event) else event for event in events]


async def id_after(broker: Broker, *messages: Message) -> str:
    """Publish to a channel with a subscription; return the id of the last message."""
    async with subscribe("news", broker=broker) as events:
        for message in messages:
            await broker.publish("news", message)
        last = (await take(events, len(messages)))[-1]
    assert isinstance(last, Event)
    assert last.id is not None
    return last.id


class Plain:
    """A custom broker without a log."""

    def __init__(self) -> None:
        self._inner = MemoryBroker()
        self.subscriptions = 0

    async def subscribe(self, name: str, subscriber: Any) -> None:
        self.subscriptions += 1
        await self._inner.subscribe(name, subscriber)

    async def unsubscribe(self, name: str, subscriber: Any) -> None:
        self.subscriptions -= 1
        await self._inner.unsubscribe(name, subscriber)

    async def publish(self, name: str, message: Message) -> None:
        await self._inner.publish(name, message)


# --- over every broker


async def over_a_broker(broker: Broker) -> None:
    sent: list[Message] = [{"a": 1}, [1, "ä"], '{"a":1}', "täxt", b"\x00\xff"]
    async with subscribe("news", broker=broker) as events:
        for message in sent:
            await broker.publish("news", message)
        found = await take(events, len(sent))
        assert data_of(found) == sent
        ids = [event.id for event in found if isinstance(event, Event)]
        assert len({*ids, None}) == len(sent) + 1
        assert events.id == ids[-1]
    # What was published without any subscriber is read from the log.
    await broker.publish("news", "later")
    async with subscribe("news", after=ids[1], broker=broker) as events:
        await broker.publish("news", "live")
        assert data_of(await take(events, 5)) == [*sent[2:], "later", "live"]
        with trio.move_on_after(0.2):
            pytest.fail(f"{await anext(events)!r} came twice")
    for unknown in ("1-1", "999999999999999999-0", "", "x", "٣-٣", "1" * 40 + "-1"):
        async with subscribe("news", after=unknown, broker=broker) as events:
            assert isinstance((await take(events, 1))[0], Missed), unknown
            await broker.publish("news", unknown)
            while data_of(await take(events, 1)) != [unknown]:
                pass


async def test_the_memory_broker_numbers_and_replays() -> None:
    await over_a_broker(MemoryBroker())


async def test_the_shared_brokers_number_and_replay(store: Store) -> None:
    async with open_brokers(store, 1) as [broker]:
        await over_a_broker(broker)


async def test_another_process_resumes_what_one_began(store: Store) -> None:
    async with open_brokers(store) as [one, two]:
        last = await id_after(one, "a", "b")
        await one.publish("news", "c")
        async with subscribe("news", after=last, broker=two) as events:
            await one.publish("news", "d")
            assert data_of(await take(events, 2)) == ["c", "d"]


async def test_a_resumption_reads_more_than_one_part_of_the_log(store: Store) -> None:
    async with open_brokers(store, 1) as [broker]:
        last = await id_after(broker, "first")
        for number in range(250):
            await broker.publish("news", [number])
        async with subscribe("news", after=last, broker=broker) as events:
            assert data_of(await take(events, 250)) == [[number] for number in range(250)]


async def test_what_the_log_has_lost_is_reported(store: Store) -> None:
    async with open_brokers(store, 1, history=2) as [broker]:
        last = await id_after(broker, "first")
        for number in range(400):
            await broker.publish("news", [number])
        async with subscribe("news", after=last, broker=broker) as events:
            first, second = await take(events, 2)
            assert isinstance(first, Missed)
            assert isinstance(second, Event)


async def test_a_lost_connection_loses_nothing(store: Store) -> None:
    async with open_brokers(store) as [one, two], subscribe("news", broker=one) as events:
        await two.publish("news", "before")
        store.cut()
        await wait_until(lambda: not one.connected)
        for number in range(5):
            await two.publish("news", [number])
        assert data_of(await take(events, 6)) == ["before", *([number] for number in range(5))]


async def test_a_store_that_is_away_rejects_and_leaves_nothing_behind(store: Store) -> None:
    async with open_brokers(store, 1) as [broker]:
        store.kill()
        await wait_until(lambda: not broker.connected)
        with pytest.raises(BrokerUnreachable):
            async with subscribe("news", broker=broker):
                pytest.fail("The block ran")
        assert broker.statistics().subscriptions == 0


# --- the log of the memory broker


async def test_the_memory_broker_counts_lost_messages() -> None:
    broker = MemoryBroker(history=3)
    last = await id_after(broker, "first")
    for number in range(5):
        await broker.publish("news", [number])
    async with subscribe("news", after=last, broker=broker) as events:
        assert data_of(await take(events, 4)) == [Missed(2), [2], [3], [4]]


async def test_the_log_of_the_memory_broker_is_bounded_in_bytes() -> None:
    broker = MemoryBroker()
    last = await id_after(broker, "first")
    for _ in range(5):
        await broker.publish("news", b"x" * 400_000)
    async with subscribe("news", after=last, broker=broker) as events:
        assert (await take(events, 1)) == [Missed(3)]


async def test_an_unused_log_is_forgotten_and_a_used_one_is_not(autojump_clock: MockClock) -> None:
    broker = MemoryBroker()
    last = await id_after(broker, "first")
    async with subscribe("used", broker=broker) as used:
        begun = used.id
        for _ in range(4):
            await trio.sleep(LOG_LIFE)
            await broker.publish("other", "x")
        assert len(broker._logs) == 1
        await broker.publish("used", "y")
        async with subscribe("used", after=begun, broker=broker) as again:
            assert data_of(await take(again, 1)) == ["y"]
    async with subscribe("news", after=last, broker=broker) as events:
        assert await take(events, 1) == [Missed()]


async def test_without_history_there_are_no_ids() -> None:
    broker = MemoryBroker(history=0)
    async with subscribe("news", after="1-1", broker=broker) as events:
        await broker.publish("news", "x")
        assert await take(events, 2) == [Missed(), Event("x", None)]


# --- slow readers


async def test_a_slow_reader_continues_from_the_log() -> None:
    broker = MemoryBroker()
    async with subscribe("news", broker=broker) as events:
        for number in range(900):  # more than three times what an outbox holds
            await broker.publish("news", [number])
        assert data_of(await take(events, 900)) == [[number] for number in range(900)]


async def test_a_slow_reader_of_a_broker_without_a_log_gets_missed() -> None:
    broker = Plain()
    async with subscribe("news", broker=broker) as events:
        for number in range(300):
            await broker.publish("news", [number])
        found = await take(events, 257)
        assert data_of(found[:256]) == [[number] for number in range(256)]
        assert found[256] == Missed(44)


async def test_a_reader_that_is_cut_off_by_the_budget_continues_from_the_log() -> None:
    broker = MemoryBroker()
    used = process_unsent.used
    async with subscribe("news", broker=broker) as events:
        for number in range(10):
            await broker.publish("news", [number])
        events._feed.cut_off()
        assert data_of(await take(events, 10)) == [[number] for number in range(10)]
        assert process_unsent.used == used


async def test_all_logs_of_a_broker_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "ALL_BYTES", 30_000)
    broker = MemoryBroker()
    places = {}
    for number in range(10):
        name = f"room {number}"
        async with subscribe(name, broker=broker) as events:
            places[name] = events.id
        for _ in range(2):
            await broker.publish(name, "*" * 4000)
    assert broker._logs._size <= 30_000
    async with subscribe("room 0", after=places["room 0"], broker=broker) as events:
        assert await anext(events) == Missed(2)
    async with subscribe("room 9", after=places["room 9"], broker=broker) as events:
        assert data_of(await take(events, 2)) == ["*" * 4000] * 2


async def test_what_the_log_has_delivered_does_not_hide_what_was_left_to_it(
    autojump_clock: MockClock,
) -> None:
    broker = MemoryBroker(history=1)
    feed = Feed("news", Member(), 4, 1000, broker)
    await broker.subscribe("news", feed)
    feed.begin(await broker.begin_log("news"))
    feed.notice(Missed())
    assert await feed.take() == Missed()
    for number in range(4):
        await broker.publish("news", [number])
    assert data_of([await feed.take()]) == [[3]]
    await broker.publish("news", [4])  # while four messages that the log had wait
    with trio.fail_after(1):
        assert data_of([await feed.take()]) == [[4]]
    feed.close()


Move = tuple[str, int]
moves = st.lists(
    st.tuples(st.sampled_from(["publish", "take", "cut off", "missed"]), st.integers(1, 12)),
    max_size=12,
)


@settings(max_examples=amount(60, long=2000))
@given(moves=moves, seed=st.integers(0, 1000), history=st.integers(1, 40))
def test_nothing_is_lost_silently_or_comes_twice(
    moves: list[Move], seed: int, history: int
) -> None:
    async def play() -> None:
        chance, count = random.Random(seed), 0
        broker = MemoryBroker(history=history)
        taken: list[int | None] = []
        feed = Feed("news", Member(), 4, 1000, broker)
        await broker.subscribe("news", feed)
        feed.begin(await broker.begin_log("news"))

        async def take(amount: int) -> None:
            with trio.move_on_after(1):
                for _ in range(amount):
                    item = await feed.take()
                    taken.append(None if isinstance(item, Missed) else int(str(item.data)))
                    await trio.sleep(chance.choice([0, 0.001]))

        async with trio.open_nursery() as nursery:
            for move, amount in [*moves, ("publish", 1)]:
                if move == "publish":
                    for _ in range(amount):
                        await broker.publish("news", str(count))
                        count += 1
                elif move == "take":
                    nursery.start_soon(take, amount)
                    await trio.sleep(chance.choice([0, 0.001]))
                elif move == "cut off":
                    feed.cut_off()
                else:
                    feed.notice(Missed())
        await take(1000)
        expected = 0
        lost = False
        for number in taken:
            if number is None:
                lost = True
            else:
                assert number == expected or (lost and number > expected), taken
                expected, lost = number + 1, False
        assert expected == count or lost, taken
        feed.close()

    trio.run(play, clock=MockClock(autojump_threshold=0))


# --- the life of a subscription


@pytest.mark.parametrize("end", ["return", "error", "cancel"])
async def test_leaving_the_block_always_unsubscribes(end: str) -> None:
    broker = MemoryBroker()
    used = process_unsent.used
    with trio.CancelScope() as scope:
        try:
            async with subscribe("news", broker=broker) as events:
                await broker.publish("news", "not read")
                assert broker.statistics().subscriptions == 1
                if end == "error":
                    raise LookupError("of the body")
                if end == "cancel":
                    scope.cancel()
                    await trio.sleep_forever()
        except LookupError as error:
            assert str(error) == "of the body"
    assert broker.statistics().subscriptions == 0
    assert process_unsent.used == used
    with pytest.raises(StopAsyncIteration):
        await anext(events)


async def test_the_loop_of_another_task_ends_with_the_block() -> None:
    async def read(events: Subscription) -> None:
        found.extend([event async for event in events])

    found: list[object] = []
    broker = MemoryBroker()
    async with trio.open_nursery() as nursery, subscribe("news", broker=broker) as events:
        nursery.start_soon(read, events)
        await broker.publish("news", "x")
        await wait_all_tasks_blocked()
    assert len(found) == 1


async def test_a_failure_of_the_log_unsubscribes() -> None:
    class Failing(MemoryBroker):
        async def begin_log(self, name: str) -> Any:
            raise BrokerUnreachable(name, "start the history")

    broker = Failing()
    with pytest.raises(BrokerUnreachable):
        async with subscribe("news", broker=broker):
            pytest.fail("The block ran")
    assert broker.statistics().subscriptions == 0


async def test_a_subscription_is_a_member_of_the_channel() -> None:
    broker = MemoryBroker()
    async with subscribe("news", broker=broker, member="ann") as events:
        assert [member.info for member in broker.members("news")] == ["ann"]
        assert events.member.info == "ann"


async def test_names_of_the_framework_and_missing_apps_are_rejected() -> None:
    with pytest.raises(ChannelNameInvalid):
        async with subscribe("\0news", broker=MemoryBroker()):
            pytest.fail("The block ran")
    with pytest.raises(BrokerMissing, match=r"subscribe\('news'\)"):
        async with subscribe("news"):
            pytest.fail("The block ran")


async def test_code_of_an_app_subscribes_through_its_broker(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/api/first.py": ENDPOINT})
    async with open_app(tmp_path) as client:
        response = await client.get("/api/first")
        assert response.json() == {"n": 1}


ENDPOINT = """\
from fx.realtime import publish, subscribe
from starlette.responses import JSONResponse

async def get(request):
    async with subscribe("numbers") as events:
        await publish("numbers", {"n": 1})
        async for event in events:
            return JSONResponse(event.data)
"""


def test_a_frame_returns_what_was_published() -> None:
    for message in ({"a": [1, None, "ü"]}, ["x"], "[1]", "ü", b"\xff"):
        assert encode_message(message).data == message


async def test_an_event_of_a_channel_without_a_log_has_no_id() -> None:
    frame = encode_message({"n": 1})
    frame.ident = (1, 0)  # as PostgreSQL numbers all messages
    feed = Feed("news", Member(), capacity=8, most=1000, log=None)
    feed.begin(None)
    feed.offer(frame)
    assert await feed.take() == Event({"n": 1}, None)
    feed.close()
