"""A sequence whose items are made when they are used first: for development.

There a save replaces the whole site, and few of its pages are requested before the next save.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, overload

From = TypeVar("From")
Made = TypeVar("Made")


class MadeWhenUsed(Sequence[Made], Generic[From, Made]):
    """What ``make`` returns for each of ``sources``. It keeps what it has made."""

    def __init__(self, make: Callable[[From], Made], sources: Sequence[From]) -> None:
        """``make`` has to return the same for the same source."""
        self._make = make
        self._sources = sources
        self._made: dict[int, Made] = {}

    def __len__(self) -> int:
        """Return how many there are, made or not."""
        return len(self._sources)

    @overload
    def __getitem__(self, index: int) -> Made: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Made]: ...

    def __getitem__(self, index: int | slice) -> Made | Sequence[Made]:
        """Return one item, counted from 0; raises IndexError as a tuple does."""
        if isinstance(index, slice):
            return tuple(self[one] for one in range(*index.indices(len(self))))
        if index not in self._made:
            self._made[index] = self._make(self._sources[index])
        return self._made[index]
