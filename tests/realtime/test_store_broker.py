"""Over a store that all reach, channels reach every process, and survive its loss."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager

import pytest
import trio
from starlette.websockets import WebSocketDisconnect

from fxtrio.config import RealtimeConfig
from fxtrio.errors import BrokerUnreachable
from fxtrio.realtime import Channel, Joined, Left, Message, PresenceBroker, channel
from fxtrio.realtime.open import open_broker
from fxtrio.realtime.stores import store_presence
from fxtrio.realtime.stores.store_broker import SharedBroker
from tests.realtime.client import Client, make_app
from tests.realtime.stores import Store, joined, open_brokers, wait_until

# coredis does not close the buffers of connections that could not be made.
pytestmark = pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning")


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Have the warning come here, where it is expected, and not in another test."""
    yield
    gc.collect()


async def test_the_settings_open_it(store):
    with trio.fail_after(60):
        async with open_broker(RealtimeConfig(broker=store.url)) as broker:
            assert isinstance(broker, PresenceBroker)
            assert isinstance(broker, SharedBroker)


async def test_a_message_reaches_the_subscribers_of_all_processes_once(store):
    async with (
        open_brokers(store) as [one, two],
        joined(one) as (first, room),
        joined(one) as (second, _),
        joined(two) as (third, _),
        joined(two, "elsewhere") as (fourth, _),
    ):
        sent: list[Message] = [{"a": 1}, "täxt", b"\x00\xff"]
        for message in sent:
            await room.publish(message)
        clients = (first, second, third)
        await wait_until(lambda: all(len(client.received) >= 3 for client in clients))
        await two.publish("room", "the end")
        await wait_until(lambda: all(len(client.received) >= 4 for client in clients))
        for client in clients:
            assert client.received == ['{"a":1}', "täxt", b"\x00\xff", "the end"]
        assert fourth.received == []


async def test_a_burst_arrives_whole_and_in_order(store):
    async def talk(room: Channel, name: str) -> None:
        for number in range(200):
            await room.publish(f"{name}.{number:03}")

    async with (
        open_brokers(store) as [one, two],
        joined(one) as (first, room),
        joined(two) as (second, other),
    ):
        async with trio.open_nursery() as nursery:
            for index in range(3):
                nursery.start_soon(talk, room, f"one{index}")
                nursery.start_soon(talk, other, f"two{index}")
        await wait_until(lambda: len(first.received) == len(second.received) == 1200)
        assert first.received == second.received
        for index in range(3):
            mine = [text for text in first.received if str(text).startswith(f"one{index}.")]
            assert mine == [f"one{index}.{number:03}" for number in range(200)]


async def test_a_stalled_reader_is_closed_and_delays_nobody(store):
    async with open_brokers(store, 1) as [broker]:
        stalled = Client(make_app(broker, outbox=4))
        ws = await stalled.open()
        async with joined(broker) as (client, _):

            async def stall() -> None:
                with pytest.raises(WebSocketDisconnect):
                    async with channel(ws, "room"):
                        stalled.stop_reading()
                        await trio.sleep_forever()

            async with trio.open_nursery() as nursery:
                nursery.start_soon(stall)
                await wait_until(lambda: broker.statistics().subscriptions == 2)
                for number in range(50):
                    await broker.publish("room", str(number))
                await wait_until(lambda: len(client.received) == 50)
                await wait_until(lambda: broker.statistics().subscriptions == 1)
                stalled.read_on()
        assert stalled.closed == 1013


# --- presence


async def test_members_of_all_processes_see_each_other(store):
    async with (
        open_brokers(store) as [one, two],
        joined(one, member="ann") as (_, first),
        joined(two, member={"name": "bob"}) as (_, second),
    ):
        everybody = [first.member, second.member]
        await wait_until(lambda: len(first.subscribers) == 2)
        for room in (first, second):
            assert sorted(room.subscribers, key=lambda member: member.id) == sorted(
                everybody, key=lambda member: member.id
            )


async def test_joins_and_leaves_are_heard_in_all_processes(store):
    async with open_brokers(store) as [one, two], joined(one) as (_, first):
        news = first.presence()
        async with joined(two, member="bob") as (_, second):
            assert await anext(news) == Joined(second.member)
        assert await anext(news) == Left(second.member)
        assert len(first.subscribers) == 1


async def test_the_members_of_a_process_that_died_have_left(store, monkeypatch):
    monkeypatch.setattr(store_presence, "HEARTBEAT", 0.1)
    for kind in ("redis", "postgres"):
        monkeypatch.setattr(f"fxtrio.realtime.stores.{kind}.EPOCH_LIFE", 1)
    monkeypatch.setattr("fxtrio.realtime.stores.store_presence.is_here", lambda epoch: False)
    async with open_brokers(store, 1) as [one], joined(one) as (_, first):
        news = first.presence()
        async with trio.open_nursery() as process:
            broker = await process.start(run_process, store)
            ghost = await process.start(run_member, broker, "bob")
            assert await anext(news) == Joined(ghost)
            # A process that dies says nothing to anybody.
            monkeypatch.setattr(store_presence.StorePresence, "remove", say_nothing)
            process.cancel_scope.cancel()
        assert await anext(news) == Left(ghost)
        await wait_until(lambda: len(first.subscribers) == 1)
        while len(await one._backend.load("room")) > 1:  # noqa: ASYNC110
            await trio.sleep(0.02)


async def say_nothing(*_: object) -> None:
    pass


async def run_process(store: Store, task_status: trio.TaskStatus[SharedBroker]) -> None:
    async with open_brokers(store, 1) as [broker]:
        task_status.started(broker)
        await trio.sleep_forever()


async def run_member(broker: SharedBroker, name: str, task_status: trio.TaskStatus[object]) -> None:
    async with joined(broker, member=name) as (_, room):
        task_status.started(room.member)
        await trio.sleep_forever()


@asynccontextmanager
async def _open_app(settings: RealtimeConfig, name: str) -> AsyncIterator[SharedBroker]:
    async with open_broker(settings, name=name) as broker:
        assert isinstance(broker, SharedBroker)
        yield broker


async def test_apps_with_different_names_do_not_hear_each_other(store):
    """``Café`` stands for names that must be encoded; the last two would be one by joined names."""
    settings = RealtimeConfig(broker=store.url)
    glue = "&" if "?" in store.url else "?"
    former = RealtimeConfig(broker=f"{store.url}{glue}prefix=fx")
    with trio.fail_after(30):
        async with (
            _open_app(settings, "Café: 100 %") as cafe,
            _open_app(settings, "shop") as shop,
            _open_app(settings, "shop") as same,
            _open_app(former, "shop") as other,
            joined(cafe, "lobby") as (guest, lobby),
            joined(shop, "lobby") as (buyer, _),
            joined(same, "lobby") as (second, _),
            joined(other, "shop:lobby") as (stranger, _),
        ):
            await lobby.publish("coffee")
            await shop.publish("lobby", "shoes")
            await wait_until(lambda: guest.received == ["coffee"])
            await wait_until(lambda: buyer.received == second.received == ["shoes"])
            assert [len(app.members("lobby")) for app in (cafe, shop)] == [1, 2]
            await other.publish("shop:lobby", "hello")
            await wait_until(lambda: stranger.received == ["hello"])
            assert (guest.received, buyer.received) == (["coffee"], ["shoes"])


# --- outages


async def test_without_a_server_the_app_does_not_start(store):
    store.kill()
    with trio.fail_after(20), pytest.raises(BrokerUnreachable, match="be connected to"):
        async with open_broker(RealtimeConfig(broker=store.url)):
            pytest.fail("opened")


async def eventually(attempt: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            return await attempt()
        except BrokerUnreachable:
            await trio.sleep(0.02)


async def test_after_an_outage_everything_is_as_before(store):
    async with (
        open_brokers(store) as [one, two],
        joined(one, member="ann") as (first, room),
        joined(two, member="bob") as (second, other),
    ):
        await wait_until(lambda: len(room.subscribers) == len(other.subscribers) == 2)
        store.kill()
        with pytest.raises(BrokerUnreachable, match="publish"):
            while True:
                await room.publish("into the void")
        store.start()
        await eventually(lambda: two.publish("room", "back"))
        while "back" not in first.received or "back" not in second.received:
            await eventually(lambda: two.publish("room", "back"))
            await trio.sleep(0.02)
        async with joined(one, member="cid") as (_, third):
            await wait_until(lambda: len(room.subscribers) == len(other.subscribers) == 3)
            assert len(third.subscribers) == 3
        await wait_until(lambda: len(other.subscribers) == 2)


async def test_a_server_that_hangs_holds_a_publisher_for_a_while_only(store, monkeypatch):
    monkeypatch.setattr(
        "fxtrio.db.postgresql.psycopg_trio.LIMIT", 0.3
    )  # for what is cancelled there
    async with (
        open_brokers(store, 1, answer_timeout=0.3) as [broker],
        joined(broker) as (client, room),
    ):
        store.freeze()
        start = trio.current_time()
        with pytest.raises(BrokerUnreachable):
            await room.publish("hello?")
        assert trio.current_time() < start + 3
        store.thaw()
        await eventually(lambda: room.publish("hello"))
        await wait_until(lambda: "hello" in client.received)


async def test_members_that_left_during_an_outage_are_removed_after_it(store):
    async with open_brokers(store) as [one, two], joined(one) as (_, first):
        news = first.presence()
        async with joined(two) as (_, second):
            assert await anext(news) == Joined(second.member)
            store.kill()
        assert two.statistics().channels == 0
        store.start()
        assert await anext(news) == Left(second.member)
        await wait_until(lambda: len(first.subscribers) == 1)


async def test_who_joins_during_an_outage_waits_for_its_end(store):
    async with open_brokers(store, 1) as [broker]:
        store.kill()
        async with trio.open_nursery() as nursery:

            async def come_back() -> None:
                await trio.sleep(0.3)
                store.start()

            nursery.start_soon(come_back)
            async with joined(broker) as (client, room):
                await eventually(lambda: room.publish("hello"))
                await wait_until(lambda: client.received == ["hello"])


async def test_a_failed_join_leaves_nothing_behind(store, monkeypatch):
    monkeypatch.setattr("fxtrio.realtime.stores.subscription.ANSWER_LIMIT", 0.2)
    async with open_brokers(store, 1) as [broker]:
        store.kill()
        with pytest.raises(WebSocketDisconnect) as caught:
            async with joined(broker):
                pytest.fail("joined")
        assert caught.value.code == 1013
        assert broker.statistics().channels == 0
        assert broker._gates == {}
        assert broker.members("room") == ()
