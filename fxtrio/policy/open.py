"""Opens the request counters of an app, by its settings. Called by the app's lifespan."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from starlette.types import Scope

from fxtrio.config import Config, RateLimitConfig

Header = tuple[bytes, bytes]

Count = Callable[
    [Scope, tuple[RateLimitConfig, ...], str], Awaitable[tuple[list[Header], int | None]]
]
"""Counts a request for a route by the limits that hold there.

Returns headers for its response, and seconds to wait if it is rejected.
"""


@asynccontextmanager
async def open_counting(config: Config) -> AsyncIterator[Count | None]:
    """Count for as long as the block lasts; None without rate limits.

    A Redis URL needs the extra ``fxtrio[redis]``.
    """
    if not config.rate_limits:
        yield None
        return
    from fxtrio.policy.rate_limit import CountsInMemory, RateLimits  # slow to import

    if config.rate_limit_storage == "memory":
        yield RateLimits(CountsInMemory()).count
        return
    from fxtrio.policy.redis_counts import open_redis_counts

    storage, settings = config.rate_limit_storage, config.realtime
    async with open_redis_counts(storage, settings, name=config.name) as counts:
        yield RateLimits(counts).count
