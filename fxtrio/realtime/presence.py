"""Who is on a channel, and news of who comes and goes.

`Channel.presence` gives the news as an asynchronous iterator with a bounded buffer.
A reader too slow for it loses single events, but not its bearings: it gets one
`Roster` in their place and goes on from there.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable
from typing import Any

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


class PresenceEvents:
    """An asynchronous iterator of `PresenceEvent`. Ends with the channel's block."""

    def __init__(
        self, roster: Callable[[], tuple[Member, ...]], *, capacity: int = CAPACITY
    ) -> None:
        self._roster = roster
        self._capacity = capacity
        self._events: deque[PresenceEvent] = deque()
        self._lost = False
        self._ended = False
        self._readers = trio.lowlevel.ParkingLot()

    def __aiter__(self) -> PresenceEvents:
        return self

    async def __anext__(self) -> PresenceEvent:
        """Wait for the next event."""
        await trio.lowlevel.checkpoint()
        while not (self._events or self._lost):
            if self._ended:
                raise StopAsyncIteration
            await self._readers.park()
        if self._lost:
            self._lost = False
            return Roster(self._roster())
        return self._events.popleft()

    def offer(self, event: PresenceEvent) -> None:
        """Add an event without waiting."""
        if self._lost:  # the roster to come includes it
            return
        if len(self._events) >= self._capacity:
            self._events.clear()
            self._lost = True
        else:
            self._events.append(event)
        self._readers.unpark()

    def end(self) -> None:
        """Let readers stop after what they have not read yet."""
        self._ended = True
        self._readers.unpark_all()
