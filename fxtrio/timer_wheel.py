"""When something is due, for thousands of entries at a time: a timer wheel, without a clock.

An entry that is added, taken or discarded costs the same however many there are. Used by the hub
for connections that need nothing for a while.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

Entry = TypeVar("Entry")


class TimerWheel(Generic[Entry]):
    """Entries by the time when they are due, in buckets of ``precision`` seconds."""

    def __init__(self, precision: float) -> None:
        self._precision = precision
        self._buckets: dict[int, set[Entry]] = {}
        self._numbers: dict[Entry, int] = {}
        """In which bucket an entry is."""

    def __iter__(self) -> Iterator[Entry]:
        """Return all entries."""
        return iter(tuple(self._numbers))

    def add(self, entry: Entry, when: float) -> None:
        """Have an entry, which is not here, wait until ``when``, or up to ``precision`` longer."""
        number = self._numbers[entry] = int(when // self._precision) + 1
        self._buckets.setdefault(number, set()).add(entry)

    def discard(self, entry: Entry) -> bool:
        """Take an entry out before its time; return whether it was there."""
        number = self._numbers.pop(entry, None)
        if number is None:
            return False
        self._buckets[number].remove(entry)
        return True

    def take_due(self, now: float) -> set[Entry]:
        """Take out the entries that are due at ``now``."""
        taken: set[Entry] = set()
        for number in [each for each in self._buckets if each <= now // self._precision]:
            taken |= self._buckets.pop(number)
        for entry in taken:
            del self._numbers[entry]
        return taken
