"""The counts of all processes of an app, in Redis, by the scripts of `limits`.

During an outage of Redis each process counts alone: limits protect a site, and must not
take it down.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from typing import Any

import trio
from limits import RateLimitItem

from fxtrio.config import RealtimeConfig
from fxtrio.policy.rate_limit import CountsInMemory, Standing, Window, standing
from fxtrio.realtime.stores.redis_client import (
    UNREACHABLE,
    Client,
    RedisCommands,
    RedisServer,
    open_commands,
)
from fxtrio.realtime.stores.store_url import split_prefix

log = logging.getLogger("fx.serve")

_ANSWER_LIMIT = 1.0
"""How long a request waits for Redis (seconds)."""

_PAUSE = 5.0
"""Pause before Redis is queried again after a failure (seconds)."""


@asynccontextmanager
async def open_redis_counts(
    url: str, settings: RealtimeConfig, *, name: str = ""
) -> AsyncIterator[CountsInRedis]:
    """Count on the Redis server at ``url`` while the block lasts.

    Apps that share a server are separated by their ``name``, or by ``?prefix=``. The
    connections' timeouts are those of ``settings``.
    """
    bare, prefix = split_prefix(url, name=name)
    async with open_commands(RedisServer(bare, settings, _ANSWER_LIMIT)) as commands:
        yield CountsInRedis(commands, prefix)


class CountsInRedis:
    """Counts in Redis, or in memory while that is away."""

    def __init__(self, commands: RedisCommands, prefix: str) -> None:
        self._commands = commands
        self._prefix = prefix
        self._own = CountsInMemory()
        self._away_until = 0.0

    async def hit(self, item: RateLimitItem, *client: str) -> Standing:
        """Count one request."""
        if trio.current_time() >= self._away_until:
            try:
                key = item.key_for(*client)
                passed, window = await self._commands.ask(
                    lambda redis: self._count(redis, item, key)
                )
            except UNREACHABLE as error:
                text = str(error)  # the error itself holds on to the connection
                self._away_until = trio.current_time() + _PAUSE
                log.error(
                    "rate limits: no connection to Redis, each process counts alone: %s", text
                )
            else:
                return standing(item, passed, window)
        return await self._own.hit(item, *client)

    async def _count(self, redis: Client, item: RateLimitItem, key: str) -> tuple[bool, Window]:
        # In braces: both are on the same machine of a cluster.
        place = f"{self._prefix}:rate:{{{key}}}"
        keys = [f"{place}:previous", f"{place}:current"]
        expiry = item.get_expiry()
        acquire, look = _script("acquire_sliding_window"), _script("sliding_window")
        passed = await redis.eval(acquire, keys, [item.amount, expiry, 1])
        found: Any = await redis.eval(look, keys, [expiry])
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
