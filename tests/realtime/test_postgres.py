"""What a shared broker keeps in PostgreSQL, and how messages get through NOTIFY."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import psycopg
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from fxtrio.config import RealtimeConfig
from fxtrio.realtime import Message
from fxtrio.realtime.open import open_broker
from fxtrio.realtime.stores.postgres import BASE64, LARGE, PLAIN, WAITERS, notify_payload
from tests.realtime.stores import Store, joined, open_brokers, wait_until

on_postgres = pytest.mark.parametrize("store", ["postgres"], indirect=True)

NOTIFY_LIMIT = 8000
"""Bytes of a payload, its end included (PostgreSQL, "NOTIFY")."""

LONGEST_PLACE = len(str(2**63)) + 1


@given(st.binary(max_size=20_000) | st.text(max_size=9_000).map(str.encode))
def test_a_notification_fits_and_says_how_it_is_encoded(data: bytes) -> None:
    text = notify_payload(data)
    assert len(text) + LONGEST_PLACE < NOTIFY_LIMIT
    assert text.isascii()
    assert "\0" not in text
    if text == LARGE:
        assert len(data) > 5_000
    else:
        assert text[0] in (PLAIN, BASE64)
        assert (b64decode(text[1:]) if text[0] == BASE64 else text[1:].encode()) == data


async def rows(store: Store, sql: str) -> list[Any]:
    """Run a query beside the brokers."""

    def run() -> list[Any]:
        with psycopg.connect(store.url, autocommit=True) as connection:
            return [*connection.execute(sql)]

    return await trio.to_thread.run_sync(run)


@on_postgres
async def test_messages_of_every_size_and_kind_arrive_in_order(store: Store) -> None:
    sent: list[Message] = [
        "x" * 7898,
        "x" * 7900,
        "ä" * 9000,
        "nul \0 nul",
        b"\x00\xff" * 5,
        b"\x00\xff" * 50_000,
        "",
        {"a": 1},
        "x" * 500_000,
        "the end",
    ]
    async with open_brokers(store) as [one, two], joined(two) as (client, _):
        for message in sent:
            await one.publish("room", message)
        await wait_until(lambda: len(client.received) == len(sent))
        expected = ['{"a":1}' if message == {"a": 1} else message for message in sent]
        assert client.received == expected


@on_postgres
async def test_a_member_with_much_to_say_is_heard_of(store: Store) -> None:
    async with open_brokers(store) as [one, two], joined(one) as (_, room):
        news = room.presence()
        async with joined(two, member="x" * 20_000) as (_, other):
            assert (await anext(news)).member == other.member  # type: ignore[union-attr]


@on_postgres
async def test_after_the_last_one_left_the_tables_hold_only_a_log_that_expires(
    store: Store,
) -> None:
    count = "select (select count(*) from fx_messages), (select count(*) from fx_members)"
    async with open_brokers(store) as [one, two]:
        async with joined(one) as (_, room), joined(two):
            await room.publish("hello")
            assert await rows(store, count) == [(2, 2)]
        assert await rows(store, count) == [(2, 0)]
        await rows(store, "update fx_messages set at = at - interval '80 seconds' returning 1")
        await one._backend.keep([])
        assert await rows(store, count) == [(0, 0)]


@on_postgres
async def test_logs_are_bounded_in_count_and_cleared_when_nobody_needs_them(store: Store) -> None:
    async with open_brokers(store, 1, history=10) as [broker]:
        for number in range(600):
            await broker.publish("nobody", str(number))
        [(stored,)] = await rows(store, "select count(*) from fx_messages")
        assert 10 <= stored < 600
        async with joined(broker) as (_, room):
            await room.publish("hello")
            await rows(store, "update fx_messages set at = at - interval '1 day' returning 1")
            await broker._backend.keep(["room"])
            assert await rows(store, "select count(*) from fx_messages") == [(1,)]


@on_postgres
async def test_channels_may_have_any_name(store: Store) -> None:
    names = ["", "a b", 'q"; drop table fx_messages', "ä" * 200, "nul\0", "\ud800"]
    async with open_brokers(store) as [one, two]:
        for name in names:
            async with joined(two, name) as (client, _):
                await one.publish(name, "hello")
                await wait_until(lambda client=client: client.received == ["hello"])  # type: ignore[misc]


@on_postgres
async def test_apps_with_different_prefixes_do_not_hear_each_other(store: Store) -> None:
    shop = RealtimeConfig(broker=f"{store.url}&prefix=shop")
    with trio.fail_after(20):
        async with (
            open_broker(shop) as broker,
            open_brokers(store, 1) as [other],
            joined(broker) as (client, room),  # type: ignore[arg-type]
            joined(other) as (stranger, _),
        ):
            await room.publish("hello")
            await wait_until(lambda: client.received == ["hello"])
            assert len(room.subscribers) == 1
            assert stranger.received == []


@on_postgres
async def test_many_processes_may_start_at_once(store: Store) -> None:
    async def start() -> None:
        async with open_broker(RealtimeConfig(broker=store.url)) as broker:
            await broker.publish("room", "hello")

    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            for _ in range(8):
                nursery.start_soon(start)


@on_postgres
async def test_many_publish_at_once_in_one_order_for_all(store: Store) -> None:
    async with (
        open_brokers(store) as [one, two],
        joined(one) as (first, _),
        joined(two) as (second, _),
    ):
        async with trio.open_nursery() as nursery:
            for number in range(300):
                nursery.start_soon([one, two][number % 2].publish, "room", str(number))
        await wait_until(lambda: len(first.received) == len(second.received) == 300)
        assert first.received == second.received
        assert WAITERS > 300
