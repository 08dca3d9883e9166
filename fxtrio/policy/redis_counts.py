"""The counts of all processes of an app, in Redis, by the scripts of `limits`.

While Redis is away each process counts by itself: limits are there to keep a site up, and
must not take it down.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from typing import Any

import coredis
import trio
from coredis.retry import NoRetryPolicy
from limits import RateLimitItem

from fxtrio.policy.rates import CountsInMemory, Standing, Window, standing
from fxtrio.realtime.redis_link import UNREACHABLE
from fxtrio.realtime.store_url import split_prefix

log = logging.getLogger("fx.serve")

_ANSWER_LIMIT = 1.0
"""How long a request waits for Redis (seconds)."""

_PAUSE = 5.0
"""How long Redis is not asked after it has not answered (seconds)."""


@asynccontextmanager
async def open_redis_counts(url: str) -> AsyncIterator[CountsInRedis]:
    """Count on the Redis server at ``url`` for as long as the block lasts.

    Apps that share a server are told apart by ``?prefix=`` (``fx`` by default).
    """
    bare, prefix = split_prefix(url)
    client = coredis.Redis.from_url(
        bare,
        retry_policy=NoRetryPolicy(),
        stream_timeout=_ANSWER_LIMIT,
        connect_timeout=_ANSWER_LIMIT,
    )
    async with client:
        yield CountsInRedis(client, prefix)


class CountsInRedis:
    """Counts in Redis, or in memory while that is away."""

    def __init__(self, client: coredis.Redis[bytes], prefix: str) -> None:
        self._client = client
        self._prefix = prefix
        self._own = CountsInMemory()
        self._away_until = 0.0

    async def hit(self, item: RateLimitItem, *client: str) -> Standing:
        """Count one request."""
        if trio.current_time() >= self._away_until:
            try:
                passed, window = await self._ask(item, item.key_for(*client))
            except UNREACHABLE as error:
                text = str(error)  # the error itself holds on to the connection
                self._away_until = trio.current_time() + _PAUSE
                log.error("rate limits: Redis is away, so each process counts by itself: %s", text)
            else:
                return standing(item, passed, window)
        return await self._own.hit(item, *client)

    async def _ask(self, item: RateLimitItem, key: str) -> tuple[bool, Window]:
        # In braces: both are on the same machine of a cluster.
        place = f"{self._prefix}:rate:{{{key}}}"
        keys = [f"{place}:previous", f"{place}:current"]
        expiry = item.get_expiry()
        acquire, look = _script("acquire_sliding_window"), _script("sliding_window")
        passed = await self._client.eval(acquire, keys, [item.amount, expiry, 1])
        found: Any = await self._client.eval(look, keys, [expiry])
        previous, previous_left, current, current_left = (int(part or 0) for part in found)
        return bool(passed), (
            previous,
            max(0, previous_left) / 1000,
            current,
            max(0, current_left) / 1000,
        )


@cache
def _script(name: str) -> str:
    return files("limits.resources.redis.lua_scripts").joinpath(f"{name}.lua").read_text("utf-8")
