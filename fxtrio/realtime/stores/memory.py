"""The broker of one process."""

from __future__ import annotations

import attrs
import trio

from fxtrio.realtime.broker import Replay, Subscriber
from fxtrio.realtime.frames import Ident, Message, encode_message
from fxtrio.realtime.presence import Joined, Left, Member
from fxtrio.realtime.stores.memory_log import MemoryLogs
from fxtrio.realtime.subscriptions import Topics


@attrs.frozen(kw_only=True)
class BrokerStatistics:
    """Statistics of a broker in this process (counts)."""

    channels: int
    """Names with at least one subscriber."""

    subscriptions: int
    published: int


class MemoryBroker:
    """Reaches the subscribers of its own process. A `PresenceBroker`; needs no task.

    ``history`` counts the messages in the log of a channel that `subscribe` of fx.realtime
    reads; other channels have no log.
    """

    takes_frames = True
    """Whether `publish` accepts encoded frames."""

    def __init__(self, *, history: int = 1000) -> None:
        self._topics = Topics()
        self._logs = MemoryLogs(history, in_use=self._topics.__contains__)
        self._published = 0

    def __repr__(self) -> str:
        return f"<MemoryBroker {self.statistics()}>"

    async def subscribe(self, name: str, subscriber: Subscriber) -> None:
        """Deliver messages to ``name`` from now on to ``subscriber``."""
        self._topics.join(name, subscriber)
        self._topics.notice(name, Joined(subscriber.member), subscriber.member)

    async def unsubscribe(self, name: str, subscriber: Subscriber) -> None:
        """Deliver no more to ``subscriber``; with the last one, the name is forgotten."""
        if self._topics.leave(name, subscriber):
            self._logs.use(name, trio.current_time())
            self._topics.notice(name, Left(subscriber.member), subscriber.member)

    async def publish(self, name: str, message: Message) -> None:
        """Deliver ``message`` to all subscribers of ``name``.

        Does not wait for any of them, but yields to other tasks now and then.
        Raises MessageNotEncodable for values other than JSON, text and bytes.
        """
        frame = encode_message(message)
        self._published += 1
        frame.ident = self._logs.append(name, frame, trio.current_time())
        await self._topics.deliver(name, frame)

    async def begin_log(self, name: str) -> Ident | None:
        """Give a channel a log, unless it has one; return its end, or None without a history."""
        return self._logs.begin(name, trio.current_time())

    async def read_log(self, name: str, after: Ident, limit: int) -> Replay:
        """Return at most ``limit`` messages after a place."""
        return self._logs.read(name, after, limit)

    def members(self, name: str) -> tuple[Member, ...]:
        """Return the members of a channel, in the order they joined."""
        return tuple(subscriber.member for subscriber in self._topics.subscribers(name))

    def subscriptions(self) -> dict[str, int]:
        """Return how many subscribers each channel has in this process."""
        return self._topics.counts()

    def statistics(self) -> BrokerStatistics:
        """Return the present counts."""
        counts = self._topics.counts()
        return BrokerStatistics(
            channels=len(counts),
            subscriptions=sum(counts.values()),
            published=self._published,
        )
