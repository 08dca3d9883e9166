"""The broker that the settings ask for. Called by the app's lifespan."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fxtrio.config import RealtimeConfig
from fxtrio.config.brokers import broker_kind
from fxtrio.realtime.broker import Broker
from fxtrio.realtime.memory import MemoryBroker


@asynccontextmanager
async def open_broker(settings: RealtimeConfig) -> AsyncIterator[Broker]:
    """Keep the app's default broker for as long as the block lasts.

    ``memory`` needs no task. The others need an extra, and are imported only when asked for.
    """
    kind = broker_kind(settings.broker)
    if kind is None:
        yield MemoryBroker()
        return
    if kind.name == "postgres":
        from fxtrio.realtime.postgres import open_postgres_broker as open_shared
    else:
        from fxtrio.realtime.redis import open_redis_broker as open_shared
    async with open_shared(settings.broker, history=settings.history) as broker:
        yield broker
