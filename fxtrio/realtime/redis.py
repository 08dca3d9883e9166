"""The broker of several processes and machines, over Redis publish and subscribe.

What a process publishes comes back to it from Redis like to all others, so every
subscriber of a channel gets the same messages in the same order. Redis keeps none:
messages that are published while a process is cut off from it do not reach that
process, and `publish` raises for who is cut off itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import coredis
import trio
from coredis.retry import NoRetryPolicy

from fxtrio.errors import BrokerUnreachable
from fxtrio.realtime.broker import Subscriber
from fxtrio.realtime.frames import Frame, Message, encode_message
from fxtrio.realtime.memory import BrokerStatistics
from fxtrio.realtime.presence import Member
from fxtrio.realtime.redis_link import RedisLink, log, reaching
from fxtrio.realtime.redis_roster import RedisRoster
from fxtrio.realtime.remote import BrokerMessageUnreadable, pack, unpack
from fxtrio.realtime.topics import Topics

BACKLOG = 1024
"""Messages of a channel that may wait for its slower readers; then these are not waited for."""

_ANSWER_LIMIT = 5.0
"""How long Redis may take to answer (seconds)."""


@asynccontextmanager
async def open_redis_broker(url: str) -> AsyncIterator[RedisBroker]:
    """Keep a broker on the Redis server at ``url`` for as long as the block lasts.

    ``redis://[user:password@]host[:port][/db]``, ``rediss://`` or ``unix://``. Apps that
    share a server are told apart by ``?prefix=`` (``fx`` by default). Raises
    BrokerUnreachable when there is no server; one that goes away later is waited for.
    """
    bare, prefix = split_prefix(url)
    client = coredis.Redis.from_url(
        bare,
        retry_policy=NoRetryPolicy(),
        stream_timeout=_ANSWER_LIMIT,
        connect_timeout=_ANSWER_LIMIT,
    )
    failure: BrokerUnreachable | None = None
    async with client, trio.open_nursery() as nursery:
        broker = RedisBroker(client, prefix, nursery)
        try:
            await broker.start()
        except BrokerUnreachable as error:
            failure = error  # raised below, and not in groups
        else:
            yield broker
        nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure


class RedisBroker:
    """Reaches the subscribers of all processes. A `PresenceBroker`; see `open_redis_broker`."""

    def __init__(self, client: coredis.Redis[bytes], prefix: str, nursery: trio.Nursery) -> None:
        self._client = client
        self._nursery = nursery
        self._topics = Topics()
        self._roster = RedisRoster(client, prefix, self._topics.notice)
        self._link = RedisLink(
            client, on_message=self._receive, on_connect=self._roster.begin_epoch
        )
        self._channel_prefix = self._roster.channel_key("")
        self._backlogs: dict[str, deque[Frame]] = {}
        self._gates: dict[str, trio.Lock] = {}
        self._published = 0

    def __repr__(self) -> str:
        return f"<RedisBroker {self.statistics()}>"

    async def start(self) -> None:
        """Connect, and stay connected. Raises BrokerUnreachable."""
        await self._nursery.start(self._link.run)
        self._nursery.start_soon(self._roster.run)

    async def subscribe(self, name: str, subscriber: Subscriber) -> None:
        """Deliver what is published to ``name`` from now on to ``subscriber``.

        Raises BrokerUnreachable when Redis is away for longer than some seconds.
        """
        async with self._gate(name):
            if name not in self._topics:
                await self._link.subscribe(self._roster.channel_key(name))
                await self._roster.open(name)
            self._topics.join(name, subscriber)
            await self._roster.add(name, subscriber.member)

    async def unsubscribe(self, name: str, subscriber: Subscriber) -> None:
        """Deliver no more to ``subscriber``; with the last one, the name is forgotten."""
        present = self._topics.leave(name, subscriber)
        async with self._gate(name):
            if present:
                await self._roster.remove(name, subscriber.member)
            if name not in self._topics:
                self._roster.close(name)
                await self._link.unsubscribe(self._roster.channel_key(name))

    async def publish(self, name: str, message: Message) -> None:
        """Deliver ``message`` to all subscribers of ``name``; waits for Redis only.

        Raises MessageNotEncodable, and BrokerUnreachable while Redis is away. The
        message may or may not have arrived then.
        """
        frame = encode_message(message)
        with reaching(name, "publish"):
            await self._client.publish(self._roster.channel_key(name), pack(frame))
        self._published += 1

    def members(self, name: str) -> tuple[Member, ...]:
        """Return the members of a channel on all processes, as far as this one has heard.

        Empty for a channel without subscribers in this process.
        """
        return self._roster.members(name)

    def statistics(self) -> BrokerStatistics:
        """Return the present counts of this process."""
        names = self._topics.names()
        return BrokerStatistics(
            channels=len(names),
            subscriptions=sum(len(self._topics.subscribers(name)) for name in names),
            published=self._published,
        )

    def _receive(self, channel: str, data: bytes) -> None:
        """Take a message from Redis without waiting."""
        name = channel.removeprefix(self._channel_prefix)
        try:
            message = unpack(data)
        except BrokerMessageUnreadable as error:
            log.warning("%s", error)
            return
        if not isinstance(message, Frame):
            self._roster.hear(name, message)
        elif name in self._backlogs:
            self._backlogs[name].append(message)
        else:
            late = self._topics.offer(name, message)
            if late:
                self._backlogs[name] = deque()
                self._nursery.start_soon(self._catch_up, name, message, late)

    async def _catch_up(self, name: str, frame: Frame, late: list[Subscriber]) -> None:
        """Deliver what waits for the slower readers of a channel, until nothing does."""
        backlog = self._backlogs[name]
        try:
            while True:
                await self._topics.deliver_late(
                    name, frame, late, in_a_hurry=lambda: len(backlog) >= BACKLOG
                )
                late = []
                while not late:
                    if not backlog:
                        return
                    frame = backlog.popleft()
                    late = self._topics.offer(name, frame)
        finally:
            del self._backlogs[name]

    @asynccontextmanager
    async def _gate(self, name: str) -> AsyncIterator[None]:
        """Let one task at a time begin or end the subscription of a channel."""
        lock = self._gates.setdefault(name, trio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.locked():
                self._gates.pop(name, None)


def split_prefix(url: str) -> tuple[str, str]:
    """Return the URL without ``prefix=``, and the prefix."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    prefix = query.pop("prefix", "fx")
    return urlunsplit(parts._replace(query=urlencode(query))), prefix
