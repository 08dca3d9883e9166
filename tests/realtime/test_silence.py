"""Connections to the store of a shared broker that go silent, through a proxy that spoils them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal
from urllib.parse import urlsplit

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from fxtrio.config import RealtimeConfig
from fxtrio.errors import BrokerUnreachable
from fxtrio.realtime.broker import Broker
from fxtrio.realtime.open import open_broker
from fxtrio.realtime.stores.store_broker import SharedBroker
from tests.realtime.client import Client
from tests.realtime.stores import HasUrl, Store, joined, wait_until
from tests.tcp_proxy import Proxy, open_tcp_proxy

LIMIT = 20.0
"""Within how long everything must work again, with shorter waits than the defaults (seconds)."""


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a cancelled statement of PostgreSQL waits for takes long by default."""
    monkeypatch.setattr("fxtrio.db.postgresql.psycopg_trio.LIMIT", 0.3)


Fault = Literal["freeze", "drop", "half_close", "reset"]
FAULTS: tuple[Fault, ...] = ("freeze", "drop", "half_close", "reset")


@asynccontextmanager
async def through_proxy(
    store: HasUrl, timeout: float = 0.4
) -> AsyncIterator[tuple[SharedBroker, Proxy]]:
    """A broker whose connections go through a proxy."""
    parts = urlsplit(store.url)
    if parts.scheme == "redis":
        assert parts.port is not None
        upstream: int | str = parts.port
    else:
        upstream = f"{parts.query.partition('=')[2]}/.s.PGSQL.5432"
    async with open_tcp_proxy(upstream) as proxy:
        url = parts._replace(netloc=f"127.0.0.1:{proxy.port}", query="").geturl()
        if parts.scheme != "redis":
            url = url.replace("127.0.0.1", "fx@127.0.0.1")
        settings = RealtimeConfig(broker=url, answer_timeout=timeout, connect_timeout=timeout)
        async with open_broker(settings) as broker:
            assert isinstance(broker, SharedBroker)
            yield broker, proxy


async def publish(broker: Broker, text: str) -> None:
    """Publish until the store has taken it."""
    while True:
        try:
            await broker.publish("room", text)
        except BrokerUnreachable:
            await trio.sleep(0.05)
        else:
            return


async def hear(client: Client, text: str) -> None:
    await wait_until(lambda: f'"{text}"' in str(client.received) or text in client.received)


@pytest.mark.parametrize("fault", FAULTS)
async def test_publishers_and_subscribers_recover(store: Store, fault: Fault) -> None:
    with trio.fail_after(60):
        async with (
            through_proxy(store) as (spoilt, proxy),
            open_broker(RealtimeConfig(broker=store.url)) as good,
            joined(spoilt) as (inside, _),
            joined(good) as (outside, _),  # type: ignore[arg-type]  # it is shared, too
        ):
            async with trio.open_nursery() as nursery:
                for number in range(5):
                    nursery.start_soon(publish, spoilt, str(number))
            getattr(proxy, fault)()
            with trio.fail_after(LIMIT):
                await publish(spoilt, "from inside")
                await hear(outside, "from inside")
                await publish(good, "from outside")
                await hear(inside, "from outside")


async def test_who_joins_while_the_connection_breaks_does_so_on_the_next_one(store: Store) -> None:
    with trio.fail_after(60):
        async with through_proxy(store, timeout=30) as (broker, proxy):
            proxy.hold()

            async def join() -> None:
                async with joined(broker):  # and is not closed with 1013
                    pass

            async with trio.open_nursery() as nursery:
                nursery.start_soon(join)
                await wait_all_tasks_blocked(0.1)  # until the subscription is under way
                proxy.reset()
                proxy.restore()


async def test_publishers_recover_when_the_store_was_away_for_all(store: Store) -> None:
    with trio.fail_after(60):
        async with through_proxy(store) as (spoilt, proxy):
            await publish(spoilt, "before")
            proxy.drop(new=True)

            async def give_up() -> None:
                with trio.move_on_after(0.1):
                    await publish(spoilt, "in vain")

            async with trio.open_nursery() as nursery:
                for _ in range(100):  # more than connections that a pool may have
                    nursery.start_soon(give_up)
            proxy.restore()
            with trio.fail_after(LIMIT):
                await publish(spoilt, "after")
