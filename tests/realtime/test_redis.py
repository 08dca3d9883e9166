"""What a shared broker leaves in Redis, and what it takes from there."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import coredis
import pytest
import trio

from fxtrio.config import RealtimeConfig
from fxtrio.realtime.stores.backend import LOG_LIFE
from fxtrio.realtime.stores.redis import open_store_broker
from fxtrio.realtime.stores.store_broker import SharedBroker
from tests.realtime.stores import Store, joined, open_brokers, wait_until

# coredis does not close the buffers of connections that could not be made.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning"),
    pytest.mark.parametrize("store", ["redis"], indirect=True),
]


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Have the warning come here, where it is expected, and not in another test."""
    yield
    gc.collect()


async def keys(store: Store) -> list[bytes]:
    async with coredis.Redis.from_url(store.url) as client:
        return sorted(
            key
            for key in await client.keys("*")
            if not key.startswith((b"fx:epoch:", b"fx:machine:"))
        ) + sorted(await client.pubsub_channels())


async def test_after_the_last_one_left_redis_holds_only_a_log_that_expires(store):
    async with open_brokers(store) as [one, two]:
        async with joined(one), joined(two), joined(two, "other"):
            assert await keys(store) == [
                b"fx:log:other",
                b"fx:log:room",
                b"fx:members:other",
                b"fx:members:room",
                b"fx:channel:\0processes",
                b"fx:channel:other",
                b"fx:channel:room",
            ]
        logs = [b"fx:log:other", b"fx:log:room"]
        assert await keys(store) == [*logs, b"fx:channel:\0processes"]
        async with coredis.Redis.from_url(store.url) as client:
            assert all([0 < await client.ttl(key) <= LOG_LIFE for key in logs])
        for broker in (one, two):
            statistics = broker.statistics()
            assert (statistics.channels, statistics.subscriptions) == (0, 0)
            assert broker._gates == {}
            assert broker._backlogs == {}


async def test_many_that_join_and_leave_at_once_leave_nothing_behind(store):
    async def visit(broker: SharedBroker, stays: float) -> None:
        async with joined(broker):
            await trio.sleep(stays)

    async with open_brokers(store) as brokers:
        async with trio.open_nursery() as nursery:
            for number in range(60):
                nursery.start_soon(visit, brokers[number % 2], number % 7 / 100)
        assert await keys(store) == [b"fx:log:room", b"fx:channel:\0processes"]


async def test_apps_with_different_prefixes_do_not_hear_each_other(store):
    with trio.fail_after(20):
        async with (
            open_store_broker(RealtimeConfig(broker=f"{store.url}?prefix=shop")) as shop,
            open_store_broker(RealtimeConfig(broker=store.url)) as other,
            joined(shop) as (client, room),
            joined(other) as (stranger, _),
        ):
            await room.publish("hello")
            await wait_until(lambda: client.received == ["hello"])
            assert len(room.subscribers) == 1
            assert stranger.received == []


async def test_what_others_publish_on_the_channel_is_reported_and_ignored(store, caplog):
    async with open_brokers(store, 1) as [broker], joined(broker) as (client, room):
        async with coredis.Redis.from_url(store.url) as stranger:
            for data in (b"", b"x", b"t\xff", b"jnonsense", b'l["a"]'):
                await stranger.publish("fx:channel:room", data)
        await room.publish("hello")
        await wait_until(lambda: client.received == ["hello"])
    assert caplog.text.count("is not a message of fxtrio") == 5
