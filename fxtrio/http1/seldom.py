"""Keeps the log from being flooded by what happens again and again."""

from __future__ import annotations

import time

_QUIET = 60.0
"""Seconds between two lines about the same."""


class Seldom:
    """Lets a line pass once a minute, and counts those that are held back meanwhile.

    Asked from one thread at a time. ``what`` is one of a few names of the caller's.
    """

    def __init__(self) -> None:
        self._told_at: dict[str, float] = {}
        self._held: dict[str, int] = {}

    def passes(self, what: str) -> bool:
        """Return whether a line about ``what`` is to be written now."""
        now = time.monotonic()
        if now - self._told_at.get(what, -_QUIET) < _QUIET:
            self._held[what] = self._held.get(what, 0) + 1
            return False
        self._told_at[what] = now
        return True

    def held_back(self, what: str) -> str:
        """Return how many lines were held back since the last one, as the end of a line."""
        held = self._held.pop(what, 0)
        return f" (and {held} more in the last minute)" if held else ""
