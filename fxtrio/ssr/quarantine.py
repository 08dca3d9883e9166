"""Renders that are known to cost workers, so that asking again does not cost more of them.

No I/O, no clock. Used by `fxtrio.ssr.scheduler`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import msgspec

from fxtrio.ssr.errors import RenderError

TERM: Final = 30.0
"""Time for which a render is remembered (seconds)."""

CAPACITY: Final = 128
"""Renders that are remembered; the one that failed longest ago is forgotten first."""

ENOUGH: Final = 2
"""Workers that a render may cost within the term (count)."""

MakeError = Callable[[], RenderError]


class _Record(msgspec.Struct, frozen=True):
    deaths: int
    until: float
    make_error: MakeError


class Quarantine(msgspec.Struct):
    """Remembers renders by page and state. The same page with another state is another render."""

    _records: OrderedDict[tuple[int, int], _Record] = msgspec.field(default_factory=OrderedDict)

    def __bool__(self) -> bool:
        """Return whether there is anything to look up."""
        return bool(self._records)

    def add(
        self, page: int, payload: bytes, deaths: int, make_error: MakeError, now: float
    ) -> None:
        """Remember that a render has cost ``deaths`` workers, at the time ``now`` (seconds)."""
        key = page, hash(payload)
        known = self._records.pop(key, None)
        if known is not None and known.until > now:
            deaths += known.deaths
        self._records[key] = _Record(deaths, now + TERM, make_error)
        if len(self._records) > CAPACITY:
            self._records.popitem(last=False)

    def find(self, page: int, payload: bytes, now: float) -> RenderError | None:
        """Return the error of a render that has cost too many workers, None if it may be tried."""
        key = page, hash(payload)
        known = self._records.get(key)
        if known is None:
            return None
        if known.until <= now:
            del self._records[key]
            return None
        return known.make_error() if known.deaths >= ENOUGH else None
