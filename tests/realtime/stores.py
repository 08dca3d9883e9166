"""Stores of shared brokers for tests: real servers that can be killed, frozen and cut off."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Protocol

import attrs
import pytest
import trio

from fxtrio.config import RealtimeConfig
from fxtrio.realtime import Channel, channel
from fxtrio.realtime.opening import open_broker
from fxtrio.realtime.shared import SharedBroker
from tests.realtime.client import Client, make_app
from tests.realtime.redis_server import running_redis


class Store(Protocol):
    """A server process of the test's own."""

    url: str

    def start(self) -> None: ...

    def kill(self) -> None: ...

    def freeze(self) -> None:
        """Let it answer nothing, with its connections open."""
        ...

    def thaw(self) -> None: ...

    def cut(self) -> None:
        """Break the subscription connections of all brokers, and nothing else."""
        ...


class HasUrl(Protocol):
    url: str


@attrs.define
class StoreUrl:
    """A store that is another process's to run."""

    url: str


STORES: dict[str, Callable[[Path], AbstractContextManager[Store]]] = {"redis": running_redis}
"""What runs each kind of store, in a folder."""


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Each kind of store in turn."""
    with STORES[request.param](tmp_path) as server:
        yield server


@asynccontextmanager
async def open_brokers(
    store: HasUrl, count: int = 2, *, history: int = 1000
) -> AsyncIterator[list[SharedBroker]]:
    """Open brokers as separate processes would, on one store."""
    settings = RealtimeConfig(broker=store.url, history=history)
    with trio.fail_after(60):
        async with AsyncExitStack() as stack:
            brokers = []
            for _ in range(count):
                broker = await stack.enter_async_context(open_broker(settings))
                assert isinstance(broker, SharedBroker)
                brokers.append(broker)
            yield brokers


@asynccontextmanager
async def joined(
    broker: SharedBroker, name: str = "room", member: object = None
) -> AsyncIterator[tuple[Client, Channel]]:
    client = Client(make_app(broker))
    async with channel(await client.open(), name, member=member) as room:
        yield client, room


async def wait_until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110  # the network tells nobody
        await trio.sleep(0.005)
