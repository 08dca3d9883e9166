"""The subscribers of this process, by channel. Every broker of ours delivers through it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from math import inf
from typing import TypeGuard

import msgspec
import trio

from fxtrio.application_errors import application_error
from fxtrio.opaque import Opaque
from fxtrio.realtime.broker import Broker, LazyListener, PresenceListeners, Subscriber
from fxtrio.realtime.frames import Frame
from fxtrio.realtime.presence import Member, Notice, PresenceEvent
from fxtrio.realtime.send_buffer import CLOSE_TIMEOUT

log = logging.getLogger("fx.realtime")

_TURN = 32
"""Messages that may be delivered before the writers get a turn.

Enough that a burst is sent in few writes, and well below the smallest sensible outbox.
"""


_TURNS = 8
"""Turns in which a writer should find room for a burst, if its client takes it.

A server may need a few for one message.
"""

STALL = 0.1
"""How long a client may take nothing while its outbox is full and others wait (seconds)."""

HOLD = 1.0
"""The same while all others are behind too, as in a burst, or on a busy machine (seconds)."""

_PAUSE = 0.002
"""After this long without a message, the next one is taken for a single one (seconds)."""


class _Topic(msgspec.Struct, eq=False):
    """One channel's subscribers, in the order they joined."""

    subscribers: dict[Subscriber, None] = msgspec.field(default_factory=dict)
    listeners: PresenceListeners = msgspec.field(default_factory=dict)
    """Those that receive news of members: few, so that a join does not visit all subscribers."""
    active_at: float = -inf
    """When it was done with its last message."""


class BrokerStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """Statistics of a broker in this process (counts)."""

    channels: int
    """Names with at least one subscriber."""

    subscriptions: int
    published: int


class Topics:
    """Names with subscribers, and no others: the last one to leave takes the name along."""

    def __init__(self) -> None:
        self._topics: dict[str, _Topic] = {}
        self._since_turn = 0

    def __len__(self) -> int:
        return len(self._topics)

    def names(self) -> list[str]:
        """Return the channels that have subscribers."""
        return list(self._topics)

    def counts(self) -> dict[str, int]:
        """Return how many subscribers each channel has (count)."""
        return {name: len(topic.subscribers) for name, topic in self._topics.items()}

    def statistics(self, published: int) -> BrokerStatistics:
        """Return the present counts, with those of a broker that has ``published`` messages."""
        counts = self.counts()
        return BrokerStatistics(
            channels=len(counts), subscriptions=sum(counts.values()), published=published
        )

    def subscribers(self, name: str) -> list[Subscriber]:
        """Return the subscribers of a channel, in the order they joined."""
        topic = self._topics.get(name)
        return [] if topic is None else list(topic.subscribers)

    def __contains__(self, name: str) -> bool:
        return name in self._topics

    def join(self, name: str, subscriber: Subscriber) -> None:
        """Add a subscriber."""
        topic = self._topics.get(name)
        if topic is None:
            topic = self._topics[name] = _Topic()
        topic.subscribers[subscriber] = None
        if _is_lazy(subscriber):
            subscriber.register(topic.listeners)
        else:
            topic.listeners[subscriber] = None

    def leave(self, name: str, subscriber: Subscriber) -> bool:
        """Take a subscriber out; return whether it was there."""
        topic = self._topics.get(name)
        if topic is None or subscriber not in topic.subscribers:
            return False
        del topic.subscribers[subscriber]
        if _is_lazy(subscriber):
            subscriber.unregister(topic.listeners)
        else:
            topic.listeners.pop(subscriber, None)
        if not topic.subscribers:
            del self._topics[name]
        return True

    def notice(self, name: str, event: PresenceEvent, about: Member) -> None:
        """Notify a channel's listeners about a member, except that member."""
        topic = self._topics.get(name)
        for subscriber in () if topic is None else tuple(topic.listeners):
            if subscriber.member != about:
                subscriber.notice(event)

    def notify(self, name: str, event: Notice) -> None:
        """Notify all of a channel's subscribers."""
        for subscriber in self.subscribers(name):
            subscriber.notice(event)

    async def deliver(self, name: str, frame: Frame) -> None:
        """Give a frame to all subscribers of a channel.

        Lets others have their turn now and then. A client that does not read is waited
        for once, for less than `STALL`, if it holds up others, and not at all when it
        has not read for that long; its outbox overflows then.
        """
        lagging = self.offer(name, frame)
        if lagging:
            await self.deliver_to_lagging(name, frame, lagging)
        self._since_turn += 1
        if self._since_turn >= _TURN:
            await self._give_turn()

    def offer(self, name: str, frame: Frame) -> list[Subscriber]:
        """Give a frame to the subscribers that have room, and return the others."""
        topic = self._topics.get(name)
        if topic is None:
            return []
        frame.published_at = trio.current_time()
        urgent = frame.published_at - topic.active_at > _PAUSE
        lagging = [one for one in topic.subscribers if not one.offer(frame, urgent=urgent)]
        topic.active_at = trio.current_time()  # writing to many takes longer than a pause
        return lagging

    async def deliver_to_lagging(
        self,
        name: str,
        frame: Frame,
        lagging: list[Subscriber],
        *,
        in_a_hurry: Callable[[], bool] = lambda: False,
    ) -> None:
        """Deliver a frame to subscribers whose outboxes were full.

        ``in_a_hurry`` is checked repeatedly; once it is true, no subscriber is waited for.
        """
        for _ in range(_TURNS):
            await self._give_turn()
            lagging = [one for one in lagging if not one.offer(frame)]
            if not lagging:
                return
        for one in lagging:
            while not one.offer(frame):
                others = self._topics[name].subscribers if name in self._topics else ()
                patience = STALL if any(other.idle for other in others) else HOLD
                if not await one.make_room(0 if in_a_hurry() else patience):
                    one.deliver(frame)
                    break

    async def _give_turn(self) -> None:
        self._since_turn = 0
        await trio.lowlevel.checkpoint()


def _is_lazy(subscriber: Subscriber) -> TypeGuard[LazyListener]:
    return hasattr(subscriber, "register")


class Membership(Opaque, msgspec.Struct, eq=False):
    """Ties a subscriber to a channel once, and unties it exactly once."""

    name: str
    broker: Broker
    subscriber: Subscriber
    _joined: bool = False
    _calling: bool = False
    """Whether a call of the broker is under way."""
    _called: trio.Event | None = None
    """Set when it is over, for those who wait for that."""

    async def join(self) -> None:
        """Subscribe. Raises BrokerUnreachable."""
        self._joined = self._calling = True
        try:
            await self.broker.subscribe(self.name, self.subscriber)
        finally:
            self._end_call()

    async def leave(self) -> None:
        """Unsubscribe, unless that was done; also when the block is cancelled."""
        if not (self._joined or self._calling):
            return
        with trio.move_on_after(CLOSE_TIMEOUT, shield=True) as limit:
            await self._leave()
        if limit.cancelled_caught:
            log.error("The broker did not unsubscribe from %r in %g s", self.name, CLOSE_TIMEOUT)

    async def _leave(self) -> None:
        while self._calling:
            if self._called is None:
                self._called = trio.Event()
            await self._called.wait()
        if not self._joined:
            return
        self._joined, self._calling = False, True
        try:
            await self.broker.unsubscribe(self.name, self.subscriber)
        except BaseException as raised:  # a custom broker is application code
            error = application_error(raised)
            log.error("The broker failed to unsubscribe from %r", self.name, exc_info=error)
        finally:
            self._end_call()

    def _end_call(self) -> None:
        self._calling = False
        called, self._called = self._called, None
        if called is not None:
            called.set()
