"""Whose response is created while the budget for what waits to be sent is full.

A small response is mostly taken by its socket at once, and is no reason to let its client wait.
How large one becomes is not known before it is made, so only a few pass at a time: as long as
they turn out small, that is no limit worth the name. A path whose response was large is
remembered, and such ones wait for room.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import Final

import trio

from fxtrio.send_budget.client import Holder

PROBES: Final = frozenset({b"/healthz", b"/livez", b"/readyz"})
"""Paths that need no turn: who watches over the process must not take a crowd for its end."""

LIGHT: Final = 64 * 1024
"""Bytes up to which a response is small."""

SOON: Final = 1.0
"""Within this a response is made, most often; the place is free again if nothing large waits
then (seconds)."""

_PATHS = 1024
"""Of large responses, of which the newest are remembered."""

_MOST_OF_ONE = 0.5
"""What the clients of one public address may have of the places."""


class Turn:
    """One response that passes, or waits to."""

    def __init__(self, holder: Holder, since: float) -> None:
        self.holder = holder
        self.since = since
        self.address = ""
        """Of its holder, while it has a place."""

        self.free = trio.Event()
        """Set when it is worth to ask again."""


_mine: ContextVar[tuple[Turns, Turn] | None] = ContextVar("fx.unsent.place", default=None)


class LargePaths:
    """The paths whose responses were large, the newest of them."""

    def __init__(self) -> None:
        self._known: dict[int, None] = {}
        """Hashes of paths: these are short."""

    def note(self, path: bytes) -> None:
        """Remember that a response was large. ``path`` may have a query."""
        key = hash(path.partition(b"?")[0])
        self._known.pop(key, None)
        self._known[key] = None
        if len(self._known) > _PATHS:
            del self._known[next(iter(self._known))]

    def __contains__(self, path: bytes) -> bool:
        return hash(path.partition(b"?")[0]) in self._known


class Turns:
    """Responses that may be created at the same time, and who waits for one of these places.

    The clients of one public address have some of them at most, however many requests they send.
    ``keeps``: a place is not free again while its response waits and is large.
    """

    def __init__(self, places: int, *, keeps: bool) -> None:
        self.waiting: dict[Turn, None] = {}
        """The newest is the last, and goes on first, as with those that wait for room."""

        self._places = places
        self._most_of_one = int(places * _MOST_OF_ONE)
        self._keeps = keeps
        self._taken: dict[Turn, None] = {}
        self._taken_by: Counter[str] = Counter()
        """Places by address."""

    @contextmanager
    def place(self, holder: Holder, now: float) -> Iterator[Turn]:
        """Have a client among those that take a place, or wait for one, within the block."""
        place = Turn(holder, now)
        token = _mine.set((self, place))
        try:
            yield place
        finally:
            _mine.reset(token)
            self._leave(place)

    def take(self, place: Turn, now: float) -> bool:
        """Return whether a response may be created: there was a place, and it has it now."""
        if not self._may_take(place):
            for other in list(self._taken):
                if now - other.since >= SOON and not (self._keeps and other.holder.unsent > LIGHT):
                    self._free(other)
            if not self._may_take(place):
                return False
        self.waiting.pop(place, None)
        place.since, place.address = now, place.holder.address
        self._taken[place] = None
        self._taken_by[place.address] += 1
        return True

    async def wait(self, place: Turn, deadline: float) -> None:
        """Wait until it is worth to ask again, or to ``deadline``."""
        if place.free.is_set():
            place.free = trio.Event()
        self.waiting[place] = None
        with trio.move_on_at(deadline):
            await place.free.wait()

    def wake(self) -> None:
        """Let as many as there are places ask again, the newest first."""
        self._wake(self._places)

    def hogs(self, now: float) -> list[Holder]:
        """Return who has a place, is large and slow, while others wait; most bytes first."""
        found = [
            place.holder
            for place in self._taken
            if place.holder.unsent > LIGHT and place.holder.time_left(now)
        ]
        found.sort(key=lambda holder: holder.unsent, reverse=True)
        return found[: len(self.waiting)]

    def _leave(self, place: Turn) -> None:
        self.waiting.pop(place, None)
        if place in self._taken:
            self._free(place)
            self._wake(1)

    def _free(self, place: Turn) -> None:
        del self._taken[place]
        self._taken_by[place.address] -= 1
        if not self._taken_by[place.address]:
            del self._taken_by[place.address]

    def _may_take(self, place: Turn) -> bool:
        return len(self._taken) < self._places and not self._has_most(place.holder.address)

    def _has_most(self, address: str) -> bool:
        return bool(address) and self._taken_by[address] >= self._most_of_one

    def _wake(self, most: int) -> None:
        """Let up to ``most`` ask again, of those whose address may have another place."""
        able = (
            place for place in reversed(self.waiting) if not self._has_most(place.holder.address)
        )
        for place in list(islice(able, most)):
            del self.waiting[place]
            place.free.set()


def give_up_place() -> None:
    """Leave the place that the running code has, if any: it waits for something else."""
    mine = _mine.get()
    if mine is not None:
        turns, place = mine
        turns._leave(place)
