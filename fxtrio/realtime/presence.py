"""A channel's events: members that join and leave, and gaps of lost messages.

`Channel.presence` and `Channel.events` yield them as asynchronous iterators with bounded
buffers. A slow reader loses single events, but not the state: it gets one `Roster` in
their place, and one `Missed` for all lost messages.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import attrs
import msgspec
import trio

CAPACITY = 256
"""Events that may wait for one reader; at one more, all of them become one `Roster`."""


@attrs.frozen
class Member:
    """One subscription of a channel. Equal by ``id`` and ``info``."""

    id: str = attrs.field(factory=lambda: secrets.token_hex(8))
    """Unique among all members; a WebSocket that joins twice is two members."""

    info: Any = None
    """The value of ``channel(…, member=…)``: JSON for the others, such as a name."""


@attrs.frozen
class Joined:
    """A member joined the channel."""

    member: Member


@attrs.frozen
class Left:
    """A member left the channel, or its connection broke."""

    member: Member


@attrs.frozen
class Roster:
    """Events were lost: these are all current members, and later events refer to them."""

    members: tuple[Member, ...]


PresenceEvent = Joined | Left | Roster


@attrs.frozen
class Missed:
    """This subscriber lost messages between the last one it received and the next one.

    Data that depends on them must be reloaded.
    """

    count: int | None = None
    """Their number; None if it is unknown, and then possibly 0."""

    def __add__(self, other: Missed) -> Missed:
        """Return both as one."""
        unknown = self.count is None or other.count is None
        return Missed(None if unknown else (self.count or 0) + (other.count or 0))


class Resumed(msgspec.Struct, frozen=True):
    """The broker was away and is back, and every message of the meantime has been delivered."""


ChannelEvent = PresenceEvent | Missed
Notice = ChannelEvent | Resumed
"""Events that a broker reports to a subscriber."""

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
            return self._events.popleft()  # type: ignore[no-any-return]  # checked by `offer`
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
        """End the iteration after the events that are still buffered."""
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
