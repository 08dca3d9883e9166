"""What one process forgets, the others forget: over a broker that reaches them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from fxtrio.config import Config
from fxtrio.errors import BrokerUnreachable
from fxtrio.realtime import MemoryBroker, Message
from fxtrio.serve.cache.invalidation import CAPACITY, channels_of, open_invalidation
from fxtrio.serve.cache.response_cache import ResponseCache
from tests.realtime.redis_server import RedisServer, running_redis
from tests.realtime.stores import Store, open_brokers, store, store_cluster, wait_until
from tests.serve.test_cache_revalidation import SHOP, opened
from tests.trees import page

__all__ = ["store", "store_cluster"]


class Recorder(ResponseCache):
    """Records what it must forget."""

    def __init__(self) -> None:
        super().__init__(Config())
        self.forgotten: list[str] = []

    def forget(self, *urls: str) -> int:
        self.forgotten += urls
        return 0

    def forget_all(self) -> None:
        self.forgotten.append("all")


async def test_what_one_process_drops_the_others_forget_and_it_does_so_once() -> None:
    broker = MemoryBroker()
    here, there = Recorder(), Recorder()
    async with open_invalidation(here, broker, "name"), open_invalidation(there, broker, "name"):
        here.drop("/a", "", "/b")
        assert here.forgotten == ["/a", "/b"]
        await wait_all_tasks_blocked()
    assert here.forgotten == there.forgotten == ["/a", "/b"]
    assert broker.statistics().channels == 0


async def test_too_many_invalidations_are_reported_in_two_words() -> None:
    broker = MemoryBroker()
    here, there = Recorder(), Recorder()
    async with open_invalidation(here, broker, "name"), open_invalidation(there, broker, "name"):
        for number in range(CAPACITY + 1):
            here.drop(f"/{number}")
        await wait_all_tasks_blocked()
    assert there.forgotten == ["all"]


async def test_invalidations_during_an_outage_are_published_when_the_broker_is_back(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    class Away(MemoryBroker):
        away = True

        async def publish(self, name: str, message: Message) -> None:
            if self.away:
                raise BrokerUnreachable(name, "publish")
            await super().publish(name, message)

    broker = Away()
    here, there = Recorder(), Recorder()
    async with open_invalidation(here, broker, "name"), open_invalidation(there, broker, "name"):
        here.drop("/a")
        await trio.sleep(3)
        here.drop("/b")
        broker.away = False
        await trio.sleep(2)
    assert there.forgotten == ["/a", "/b"]
    assert "could not publish" in caplog.text


def test_apps_with_different_secrets_do_not_hear_each_other() -> None:
    names = {channels_of(Config(secret_keys=(key * 20,))) for key in ("a", "b")}
    assert len(names) == 2


@pytest.mark.parametrize("teller", ["old", "new"])
async def test_processes_hear_each_other_while_the_key_is_changed(teller: str) -> None:
    old = Config(secret_keys=("a" * 20,))
    new = Config(secret_keys=("b" * 20, "a" * 20))
    broker, caches = MemoryBroker(), {"old": Recorder(), "new": Recorder()}
    async with (
        open_invalidation(caches["old"], broker, *channels_of(old)),
        open_invalidation(caches["new"], broker, *channels_of(new)),
    ):
        caches[teller].drop("/a")
        await wait_all_tasks_blocked()
    assert caches["old"].forgotten == caches["new"].forgotten == ["/a"]
    assert broker.statistics().channels == 0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with running_redis(tmp_path) as server:
        yield server


async def test_two_apps_on_one_redis_forget_together(
    tmp_path: Path, server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FX_SECRET_KEY", "k" * 32)
    files = {"pages/index.fxl": page(SHOP)}
    settings = {"name": "shop", "realtime": {"broker": server.url}}
    with trio.fail_after(30):
        async with (
            opened(tmp_path / "a", files, **settings) as one,
            opened(tmp_path / "b", files, **settings) as two,
        ):
            for client in (one, two):
                await client.get("/")
                assert (await client.get("/")).headers["x-fx-cache"] == "hit"
            await one.action("/", "sell", {"urls": ["/"]})
            while (await two.get("/")).headers["x-fx-cache"] == "hit":  # noqa: ASYNC110  # the network tells nobody
                await trio.sleep(0.005)


async def test_after_each_break_of_the_broker_cached_pages_are_forgotten(store: Store) -> None:
    async with open_brokers(store, 4) as brokers, AsyncExitStack() as stack:
        caches = [Recorder() for _ in brokers]
        for cache, broker in zip(caches, brokers, strict=True):
            await stack.enter_async_context(open_invalidation(cache, broker, "name"))
        store.cut()
        caches[0].drop("/a")
        await wait_until(lambda: all("all" in cache.forgotten for cache in caches))
        await wait_until(lambda: all("/a" in cache.forgotten for cache in caches))
        store.kill()
        store.start()
        await wait_until(lambda: all(cache.forgotten.count("all") >= 2 for cache in caches))
