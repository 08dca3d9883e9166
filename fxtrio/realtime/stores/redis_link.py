"""One subscription connection to Redis, through coredis, with bounded memory.

coredis reads ahead without a bound, so all its messages are passed at once to a callback
that does not wait. Its own reconnecting is not used: it would send a command twice that
may have arrived, and it gives up on a server that hangs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

from coredis.retry import NoRetryPolicy

from fxtrio.realtime.frames import Ident
from fxtrio.realtime.stores.backend import Arrival
from fxtrio.realtime.stores.redis_client import RedisServer


class RedisConnection:
    """A `StoreConnection` to Redis. Created by `open_connection`."""

    def __init__(self, pubsub: Any, prefix: str, generation: str) -> None:
        self.generation = generation
        self._pubsub = pubsub
        self._prefix = prefix

    async def run(self, arrival: Arrival) -> None:
        """Pass on incoming data; raises when the connection is lost."""
        skip = len(self._prefix)
        while True:
            message = await self._pubsub.get_message()
            if message is not None and message["type"] == "message":
                name, data = message["channel"].decode()[skip:], message["data"]
                ident, data = split(data)
                arrival(name, ident, data)

    async def subscribe(self, name: str) -> None:
        """Receive what is sent to a channel from now on."""
        await self._pubsub.subscribe(self._prefix + name)

    async def unsubscribe(self, name: str) -> None:
        """Get no more of it."""
        await self._pubsub.unsubscribe(self._prefix + name)


@asynccontextmanager
async def open_connection(
    server: RedisServer, prefix: str, names: Collection[str]
) -> AsyncIterator[RedisConnection]:
    """Open a connection that is subscribed to ``names`` while the block lasts.

    It has its own pool, since a pool never recovers the slot of a broken connection. After
    some silence Redis is probed.
    """
    async with (
        server.new_client() as client,
        client.pubsub(
            ignore_subscribe_messages=True,
            retry_policy=NoRetryPolicy(),
            channels=[prefix + name for name in names],
            subscription_timeout=server.answer_timeout,
            max_idle_seconds=server.answer_timeout,
        ) as pubsub,
    ):
        # Queried last: a server that restarts after this breaks the connection.
        info = await client.info("server")
        yield RedisConnection(pubsub, prefix, str(info["run_id"]))


def split(data: bytes) -> tuple[Ident | None, bytes]:
    """Return the place in front of a logged message, and the message."""
    if not data[:1].isdigit():
        return None, data
    ident, _, rest = data.partition(b" ")
    try:
        return read_ident(ident), rest
    except ValueError:  # not ours: `unpack` will report it
        return None, data


def read_ident(text: bytes | str) -> Ident:
    """Return the place that Redis writes as ``milliseconds-number``."""
    first, _, second = (text if isinstance(text, bytes) else text.encode()).partition(b"-")
    return int(first), int(second)
