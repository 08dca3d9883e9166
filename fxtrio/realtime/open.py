"""The broker that the settings ask for. Called by the app's lifespan."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from urllib.parse import urlsplit

from fxtrio.config import Config, RealtimeConfig
from fxtrio.config.brokers import broker_kind
from fxtrio.errors import ExtraMissing
from fxtrio.realtime.broker import Broker
from fxtrio.realtime.stores.memory import MemoryBroker


@asynccontextmanager
async def open_broker(settings: RealtimeConfig, *, name: str = "") -> AsyncIterator[Broker]:
    """Run the app's default broker while the block lasts.

    ``memory`` needs no task. The others need an extra, and are imported only if configured;
    their messages are separated by the app's ``name``, unless the URL has a ``prefix``.
    """
    kind = broker_kind(settings.broker)
    if kind is None:
        yield MemoryBroker(history=settings.history)
        return
    try:
        store = import_module(f"fxtrio.realtime.stores.{kind.name}")
    except ImportError as error:
        raise ExtraMissing("realtime.broker", kind.name, kind.package) from error
    async with store.open_store_broker(settings, name=name) as broker:
        yield broker


def broker_connections(config: Config) -> int:
    """Return how many connections channels take of the server of the app's database (count)."""
    kind = broker_kind(config.realtime.broker)
    if kind is None or kind.name != "postgres":
        return 0
    from fxtrio.realtime.stores.postgres import POOL  # an extra

    own, other = urlsplit(config.realtime.broker), urlsplit(config.database.url)
    return POOL + 1 if (own.hostname, own.port) == (other.hostname, other.port) else 0
