"""The statistics of a pool, and the measured costs of its pages."""

from __future__ import annotations

from typing import Final

import msgspec

UNKNOWN_COST: Final = 200.0
"""Assumed work of a page before its first render (microseconds)."""

LEAST_COST: Final = 5.0
"""Work of a page whose render time rounds to nothing (microseconds)."""

SHARE: Final = 0.1
"""Weight of the newest render in the moving average."""


class SsrStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """A look at a pool at one moment."""

    workers: int
    """Configured workers (count)."""

    pids: tuple[int, ...]
    """Process ids of the workers that are ready."""

    pending: int
    """Renders and streams that have not ended, those of clients that left included."""

    waiting: int
    """Those of them that wait for a worker."""

    rendered: int
    """Renders and streams that ended well, since the start."""

    failed: int
    """Renders in which a component threw, since the start."""

    timeouts: int
    """Renders that took too long, since the start."""

    crashes: int
    """Renders that ended their workers, since the start."""

    retried: int
    """Renders that were restarted because their worker had ended, since the start."""

    refused: int
    """Renders that were rejected because too many were pending, since the start."""

    restarts: int
    """Workers that were replaced, since the start."""


class Counters(msgspec.Struct):
    """The counters of `SsrStatistics`, updated where the event occurs."""

    pending: int = 0
    rendered: int = 0
    failed: int = 0
    timeouts: int = 0
    crashes: int = 0
    retried: int = 0
    refused: int = 0
    restarts: int = 0


class Costs(msgspec.Struct):
    """Work that a render of each page takes, as a moving average."""

    _by_page: dict[int, float] = msgspec.field(default_factory=dict)

    def of(self, page: int) -> float:
        """Return the estimate for ``page`` (microseconds)."""
        return self._by_page.get(page, UNKNOWN_COST)

    def learn(self, page: int, micros: float) -> None:
        """Take a measured render of ``page`` into account."""
        cost = self._by_page.get(page)
        measured = micros if micros > LEAST_COST else LEAST_COST
        self._by_page[page] = measured if cost is None else cost + (measured - cost) * SHARE
