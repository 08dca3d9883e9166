"""One subscription connection to Redis for the whole process, kept up and kept small.

coredis reads ahead without a bound, so everything it has is taken at once and handed
to a callback that does not wait. Its own reconnecting is not used: it would send a
command twice that may have arrived, and it gives up on a server that hangs.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import coredis
import trio
from coredis.exceptions import RedisError
from coredis.retry import NoRetryPolicy

from fxtrio.errors import BrokerUnreachable

UNREACHABLE = (
    RedisError,
    OSError,
    TimeoutError,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
)
"""What coredis raises when Redis is gone, hangs, or is still loading."""

_ANSWER_LIMIT = 5.0
"""How long Redis may take to answer, and a subscriber to wait for it to be back (seconds)."""

_FIRST_DELAY, _LONGEST_DELAY = 0.05, 2.0
"""Between two attempts to connect (seconds)."""

log = logging.getLogger("fx.realtime")


@contextmanager
def reaching(place: str, what: str) -> Iterator[None]:
    """Turn what coredis raises into BrokerUnreachable, which says what could not be done."""
    try:
        yield
    except UNREACHABLE as error:
        raise BrokerUnreachable(place, what) from error


class RedisLink:
    """Subscribes to Redis channels. `run` must be running.

    ``on_message`` gets the channel and the data of each message and must not wait.
    ``on_connect`` runs after each connection, before messages are taken from it.
    """

    def __init__(
        self,
        client: coredis.Redis[bytes],
        *,
        on_message: Callable[[str, bytes], None],
        on_connect: Callable[[], Awaitable[None]],
    ) -> None:
        self._client = client
        self._on_message = on_message
        self._on_connect = on_connect
        self._wanted: set[str] = set()
        self._active: set[str] = set()
        self._pubsub: Any = None
        self._connected = trio.Event()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep the connection until cancelled. Raises BrokerUnreachable if the first one fails."""
        delay = _FIRST_DELAY
        away = False  # whether its absence has been told: once, however long it lasts
        while True:
            failure: BaseException | None = None
            try:
                async with self._open_pubsub() as pubsub:
                    await self._on_connect()
                    self._pubsub = pubsub
                    self._connected.set()
                    task_status.started()
                    task_status, delay = trio.TASK_STATUS_IGNORED, _FIRST_DELAY
                    if away:
                        log.warning("The broker is reachable again")
                        away = False
                    await self._take_messages(pubsub)
            except* (*UNREACHABLE, BrokerUnreachable) as errors:
                failure = errors.exceptions[-1]
            finally:
                self._pubsub = None
                self._active.clear()
                if self._connected.is_set():  # else somebody waits for this one
                    self._connected = trio.Event()
            if task_status is not trio.TASK_STATUS_IGNORED:
                raise BrokerUnreachable("realtime", "be connected to") from failure
            if not away:
                log.warning("The broker is unreachable, trying again: %s", repr(failure))
                away = True
            await trio.sleep(delay * random.uniform(0.5, 1))
            delay = min(2 * delay, _LONGEST_DELAY)

    def _open_pubsub(self) -> Any:
        self._active = set(self._wanted)
        return self._client.pubsub(
            ignore_subscribe_messages=True,
            retry_policy=NoRetryPolicy(),
            channels=list(self._active),
            subscription_timeout=_ANSWER_LIMIT,
        )

    async def subscribe(self, channel: str) -> None:
        """Get messages of ``channel``; waits a little for Redis to be back.

        Raises BrokerUnreachable.
        """
        self._wanted.add(channel)
        with trio.move_on_after(_ANSWER_LIMIT):
            while (pubsub := self._pubsub) is None or channel not in self._active:
                if pubsub is None:
                    await self._connected.wait()
                    continue
                try:
                    await pubsub.subscribe(channel)
                except UNREACHABLE:
                    await trio.sleep(_FIRST_DELAY)  # until `run` has noticed, too
                else:
                    self._active.add(channel)
            return
        raise BrokerUnreachable(channel, "subscribe")

    async def unsubscribe(self, channel: str) -> None:
        """Get no more messages of ``channel``."""
        self._wanted.discard(channel)
        self._active.discard(channel)
        pubsub = self._pubsub
        if pubsub is not None:
            try:
                await pubsub.unsubscribe(channel)
            except UNREACHABLE:
                log.debug("The connection broke before %r was unsubscribed", channel)

    async def _take_messages(self, pubsub: Any) -> None:
        while True:
            message = await pubsub.get_message()
            if message is not None and message["type"] == "message":
                self._on_message(message["channel"].decode(), message["data"])
