"""Rate limits that all processes of an app share."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from tests.realtime.redis_server import RedisServer, running_redis
from tests.serve.test_rate_limits import opened, statuses

# coredis leaves the streams of connections behind that failed.
pytestmark = pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning")


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """Have the warning come here, where it is expected, and not in another test."""
    yield
    gc.collect()


async def test_processes_share_their_counts_in_redis(tmp_path: Path) -> None:
    server = RedisServer(tmp_path)
    server.start()
    rate = {"route": "/", "limit": "2/hour"}
    where = {"rate_limit_storage": f"{server.url}?prefix=test"}
    try:
        with trio.fail_after(30):
            async with opened(tmp_path / "a", rate, **where) as one:
                async with opened(tmp_path / "b", rate, **where) as other:
                    found = await statuses(one, "/") + await statuses(other, "/", "/")
                    rejected = await one.get("/")
                    elsewhere = await statuses(other, "/", x_address="9.9.9.9")
                    server.kill()  # so each counts for itself
                    alone = await statuses(one, "/", "/", "/")
    finally:
        server.kill()
    assert found == [200, 200, 429]
    assert rejected.status == 429 and 3500 < int(rejected.headers["retry-after"]) <= 7300
    assert elsewhere == [200]
    assert alone == [200, 200, 429]


async def test_apps_on_one_redis_are_counted_apart_by_their_names(tmp_path: Path) -> None:
    rate = {"route": "/", "limit": "1/hour"}
    with running_redis(tmp_path) as server, trio.fail_after(30):
        shop = opened(tmp_path / "a", rate, rate_limit_storage=server.url, name="shop")
        cafe = opened(tmp_path / "b", rate, rate_limit_storage=server.url, name="cafe")
        same = opened(tmp_path / "c", rate, rate_limit_storage=server.url, name="shop")
        async with shop as one, cafe as other, same as third:
            assert await statuses(one, "/", "/") == [200, 429]
            assert await statuses(other, "/") == [200]
            assert await statuses(third, "/") == [429]


async def test_an_app_starts_while_redis_is_away(tmp_path: Path) -> None:
    server = RedisServer(tmp_path)  # which was never started
    rate = {"route": "/", "limit": "1/hour"}
    with trio.fail_after(30):
        async with opened(tmp_path, rate, rate_limit_storage=server.url) as client:
            assert await statuses(client, "/", "/") == [200, 429]
