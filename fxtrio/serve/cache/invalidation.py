"""Cache invalidation across the processes of an app, over the broker.

Only a broker for several processes reaches the others. Pending URLs are collected in one
bounded set, so a caller never waits: beyond its capacity, one message drops all entries.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from hashlib import blake2b

import msgspec
import trio

from fxtrio.config import Config
from fxtrio.errors import BrokerUnreachable
from fxtrio.realtime import Broker, Frame, Member, Message, Missed, Notice, Resumed
from fxtrio.serve.cache.response_cache import ResponseCache

log = logging.getLogger("fx.serve")

CAPACITY = 1000
"""URLs that may be pending (count)."""

PAUSE = 1.0
"""Pause between two attempts to reach the broker (seconds)."""


@asynccontextmanager
async def open_response_cache(
    cache: ResponseCache, config: Config, broker: Broker
) -> AsyncIterator[None]:
    """Keep ``cache`` open while the block lasts, in step with the other processes.

    Raises BrokerUnreachable if a broker for several processes is configured and unreachable.
    """
    async with cache.open():
        if config.realtime.broker == "memory":
            yield
        else:
            async with open_invalidation(cache, broker, *channels_of(config)):
                yield


def channels_of(config: Config) -> tuple[str, ...]:
    """Return the channels of an app's processes, one for each key; no visitor can guess them.

    Processes therefore reach each other during a key rotation, when only some have the new key.
    """
    digests = (blake2b(key.encode(), digest_size=12, person=b"fx-cache") for key in _keys(config))
    return tuple(f"fx-cache-{digest.hexdigest()}" for digest in digests)


def _keys(config: Config) -> Iterable[str]:
    return dict.fromkeys(config.secret_keys)


@asynccontextmanager
async def open_invalidation(
    cache: ResponseCache, broker: Broker, *names: str
) -> AsyncIterator[None]:
    """Publish the drops of ``cache`` to the channels ``names``, and apply those of others."""
    every = [Invalidations(cache, broker, name) for name in names]

    def announce(*urls: str) -> None:
        for one in every:
            one.announce(*urls)

    async with trio.open_nursery() as nursery, AsyncExitStack() as stack:
        for one in every:
            await broker.subscribe(one.name, one)
            stack.push_async_callback(_leave, broker, one)
            nursery.start_soon(one.run, name="serve.invalidation")
        cache.on_drop = announce
        try:
            yield
        finally:
            cache.on_drop = None
            nursery.cancel_scope.cancel("the app shuts down")


async def _leave(broker: Broker, invalidations: Invalidations) -> None:
    with trio.move_on_after(PAUSE) as scope:
        scope.shield = True
        await broker.unsubscribe(invalidations.name, invalidations)


class Invalidations(msgspec.Struct, eq=False):
    """One process among those of an app: a `Subscriber` that also publishes."""

    _cache: ResponseCache
    _broker: Broker
    name: str
    """Of the channel."""

    member: Member = msgspec.field(default_factory=Member)
    _id: str = msgspec.field(default_factory=lambda: secrets.token_hex(8))
    _pending: dict[str, None] = msgspec.field(default_factory=dict)
    _overflowed: bool = False
    _wake: trio.Event = msgspec.field(default_factory=trio.Event)

    def announce(self, *urls: str) -> None:
        """Let the other processes drop ``urls``. Never waits."""
        self._pending.update(dict.fromkeys(urls))
        if len(self._pending) > CAPACITY:
            self._pending.clear()
            self._overflowed = True
        self._wake.set()

    async def run(self) -> None:
        """Publish pending URLs, with retries while the broker is away; runs until cancelled."""
        while True:
            await self._wake.wait()
            self._wake = trio.Event()
            urls, everything = list(self._pending), self._overflowed
            self._pending.clear()
            self._overflowed = False
            news = {"from": self._id, "urls": None if everything else urls}
            try:
                await self._broker.publish(self.name, json.dumps(news))
            except BrokerUnreachable as error:
                log.warning("response cache: %s", error)
                self.announce(*urls)
                self._overflowed |= everything
                await trio.sleep(PAUSE)

    @property
    def idle(self) -> bool:
        """Whether everything was taken: always, for nothing is waited for."""
        return True

    def deliver(self, message: Message | Frame) -> None:
        """Drop the entries that another process names."""
        text = message.payload if isinstance(message, Frame) else message
        if not isinstance(text, str | bytes):
            return
        news = json.loads(text)
        if news["from"] == self._id:
            return
        if news["urls"] is None:
            self._cache.forget_all()
        else:
            self._cache.forget(*news["urls"])

    def offer(self, frame: Frame, *, urgent: bool = False) -> bool:
        """Take a frame at once."""
        self.deliver(frame)
        return True

    async def make_room(self, patience: float) -> bool:
        """Say that there is room."""
        await trio.lowlevel.checkpoint()
        return True

    def notice(self, event: Notice) -> None:
        """Drop all entries when the broker is back: messages may have been lost or delayed."""
        if isinstance(event, Missed | Resumed):
            self._cache.forget_all()
