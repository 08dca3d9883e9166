"""Stores of shared brokers for tests: real servers that can be killed, frozen and cut off."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    closing,
    contextmanager,
    suppress,
)
from pathlib import Path
from typing import Protocol

import attrs
import psutil
import psycopg
import pytest
import trio

from fxtrio.config import RealtimeConfig
from fxtrio.realtime import Channel, channel
from fxtrio.realtime.open import open_broker
from fxtrio.realtime.stores.store_broker import SharedBroker
from tests.db.cluster import Cluster, running_cluster
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


class PostgresStore:
    """A database of a PostgreSQL cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._runs = True
        self.url = cluster.new_database()

    def start(self) -> None:
        self._cluster.start()
        self._runs = True

    def kill(self) -> None:
        self._cluster.stop(signal.SIGQUIT)  # without a farewell to anybody
        self._runs = False

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def cut(self) -> None:
        with psycopg.connect(self.url) as connection:
            sql = "select pg_terminate_backend(pid) from pg_stat_activity where application_name"
            assert connection.execute(sql + " = 'fx channels'").fetchall()

    def close(self) -> None:
        if self._runs:
            self.thaw()
        else:
            self.start()
        self._cluster.drop(self.url)

    def _signal(self, number: int) -> None:
        first = psutil.Process(self._cluster.pid)
        for process in (first, *first.children()):
            with suppress(psutil.NoSuchProcess):  # a connection that has just ended
                process.send_signal(number)


@contextmanager
def running_postgres(folder: Path) -> Iterator[Store]:
    """Run a PostgreSQL server for as long as the block lasts."""
    with running_cluster() as cluster, closing(PostgresStore(cluster)) as store:
        yield store


STORES: dict[str, Callable[[Path], AbstractContextManager[Store]]] = {
    "redis": running_redis,
    "postgres": running_postgres,
}
"""What runs each kind of store, in a folder."""


@pytest.fixture(scope="session")
def store_cluster() -> Iterator[Cluster]:
    """A PostgreSQL that tests may stop, if they start it again."""
    with running_cluster() as running:
        yield running


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Each kind of store in turn."""
    if request.param == "postgres":
        with closing(PostgresStore(request.getfixturevalue("store_cluster"))) as store:
            yield store
    else:
        with running_redis(tmp_path) as server:
            yield server


@asynccontextmanager
async def open_brokers(
    store: HasUrl, count: int = 2, *, history: int = 1000, answer_timeout: float = 5.0
) -> AsyncIterator[list[SharedBroker]]:
    """Open brokers as separate processes would, on one store."""
    settings = RealtimeConfig(broker=store.url, history=history, answer_timeout=answer_timeout)
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
