"""The subscribers of this process, by channel. Every broker of ours delivers through it."""

from __future__ import annotations

import trio

from fxtrio.realtime.broker import Subscriber
from fxtrio.realtime.frames import Frame
from fxtrio.realtime.presence import Member, PresenceEvent

_TURN = 32
"""Messages that may be delivered before the writers get a turn.

Enough that a burst is sent in few writes, and well below the smallest sensible outbox.
"""


_TURNS = 8
"""Turns in which a full outbox must make progress.

A server may need a few to send one message; a client that reads nothing gets no more.
"""


class Topics:
    """Names with subscribers, and no others: the last one to leave takes the name along."""

    def __init__(self) -> None:
        self._topics: dict[str, dict[Subscriber, None]] = {}
        self._since_turn = 0

    def __len__(self) -> int:
        return len(self._topics)

    def names(self) -> list[str]:
        """Return the channels that have subscribers."""
        return list(self._topics)

    def subscribers(self, name: str) -> list[Subscriber]:
        """Return the subscribers of a channel, in the order they joined."""
        return list(self._topics.get(name, ()))

    def __contains__(self, name: str) -> bool:
        return name in self._topics

    def join(self, name: str, subscriber: Subscriber) -> None:
        """Add a subscriber."""
        self._topics.setdefault(name, {})[subscriber] = None

    def leave(self, name: str, subscriber: Subscriber) -> bool:
        """Take a subscriber out; return whether it was there."""
        topic = self._topics.get(name)
        if topic is None or subscriber not in topic:
            return False
        del topic[subscriber]
        if not topic:
            del self._topics[name]
        return True

    def notice(self, name: str, event: PresenceEvent, *, about: Member) -> None:
        """Tell a channel's subscribers about a member, except that member."""
        for subscriber in self._topics.get(name, ()):
            if subscriber.member != about:
                subscriber.notice(event)

    async def deliver(self, name: str, frame: Frame) -> None:
        """Give a frame to all subscribers of a channel. Waits for turns, never for readers."""
        topic = self._topics.get(name)
        if topic is not None:
            late = {one: one.progress for one in topic if not one.offer(frame)}
            if late:
                await self._deliver_late(topic, frame, late)
        self._since_turn += 1
        if self._since_turn >= _TURN:
            await self._give_turn()

    async def _deliver_late(
        self, topic: dict[Subscriber, None], frame: Frame, late: dict[Subscriber, int]
    ) -> None:
        """Give a frame to subscribers without room; ``late`` holds their progress so far."""
        while late:
            for _ in range(_TURNS):
                await self._give_turn()
                late = {
                    one: progress
                    for one, progress in late.items()
                    if one in topic and not one.offer(frame)
                }
                if not late:
                    return
            for one, progress in tuple(late.items()):
                if one.progress == progress:
                    one.deliver(frame)
                    del late[one]
                else:
                    late[one] = one.progress

    async def _give_turn(self) -> None:
        self._since_turn = 0
        await trio.lowlevel.checkpoint()
