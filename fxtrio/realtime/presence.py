"""What a channel tells beside its messages: who comes and goes, and what was lost.

`Channel.presence` and `Channel.events` give it as asynchronous iterators with bounded
buffers. A reader too slow for one loses single events, but not its bearings: it gets one
`Roster` in their place and goes on from there, and one `Missed` for all that was lost.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import attrs
import trio

CAPACITY = 256
"""Events that may wait for one reader; at one more, all of them become one `Roster`."""


@attrs.frozen
class Member:
    """One subscription of a channel. Equal by ``id`` and ``info``."""

    id: str = attrs.field(factory=lambda: secrets.token_hex(8))
    """Unique among all members; a WebSocket that joins twice is two members."""

    info: Any = None
    """What ``channel(…, member=…)`` was given: a JSON value for the others, such as a name."""


@attrs.frozen
class Joined:
    """A member came after the reader."""

    member: Member


@attrs.frozen
class Left:
    """A member went, or its connection broke."""

    member: Member


@attrs.frozen
class Roster:
    """Events were lost: these are all members now, and later events count from here."""

    members: tuple[Member, ...]


PresenceEvent = Joined | Left | Roster


@attrs.frozen
class Missed:
    """Messages were lost to this subscriber: after the last one it got, before the next one.

    What it shows by then is to be loaded anew.
    """

    count: int | None = None
    """How many; None when nobody can know, and then it may have been none at all."""

    def __add__(self, other: Missed) -> Missed:
        """Return both as one."""
        unknown = self.count is None or other.count is None
        return Missed(None if unknown else (self.count or 0) + (other.count or 0))


@attrs.frozen
class Resumed:
    """The broker was away and is back, and every message of the meantime has been delivered."""


ChannelEvent = PresenceEvent | Missed
Notice = ChannelEvent | Resumed
"""What a broker tells a subscriber."""

Event = TypeVar("Event")


class _Events(Generic[Event]):
    """An asynchronous iterator with a bound. Ends with the channel's block."""

    def __init__(
        self, roster: Callable[[], tuple[Member, ...]], *, capacity: int = CAPACITY
    ) -> None:
        self._roster = roster
        self._capacity = capacity
        self._events: deque[Any] = deque()
        self._lost = False
        self._ended = False
        self._readers = trio.lowlevel.ParkingLot()

    async def __anext__(self) -> Event:
        """Wait for the next event."""
        await trio.lowlevel.checkpoint()
        while not (self._events or self._lost):
            if self._ended:
                raise StopAsyncIteration
            await self._readers.park()
        if self._events:
            return self._events.popleft()  # type: ignore[no-any-return]  # what `offer` let in
        self._lost = False
        return Roster(self._roster())  # type: ignore[return-value]

    def offer(self, event: ChannelEvent) -> None:
        """Add an event without waiting."""
        if isinstance(event, Missed):
            self._add_missed(event)
        elif self._lost:  # the roster to come includes it
            return
        elif len(self._events) >= self._capacity:
            missed = [event for event in self._events if isinstance(event, Missed)]
            self._events.clear()
            self._lost = True
            for event in missed:
                self._add_missed(event)
        else:
            self._events.append(event)
        self._readers.unpark()

    def _add_missed(self, missed: Missed) -> None:
        """Keep at most one for each event of another kind, so that they have a bound, too."""
        if self._events and isinstance(self._events[-1], Missed):
            self._events[-1] += missed
        else:
            self._events.append(missed)

    def end(self) -> None:
        """Let readers stop after what they have not read yet."""
        self._ended = True
        self._readers.unpark_all()


class PresenceEvents(_Events[PresenceEvent]):
    """An asynchronous iterator of `PresenceEvent`. Ends with the channel's block."""

    def __aiter__(self) -> PresenceEvents:
        return self

    def offer(self, event: ChannelEvent) -> None:
        """Add an event without waiting, unless it is another one."""
        if not isinstance(event, Missed):
            super().offer(event)


class ChannelEvents(_Events[ChannelEvent]):
    """An asynchronous iterator of `PresenceEvent` and `Missed`. Ends with the channel's block."""

    def __aiter__(self) -> ChannelEvents:
        return self
