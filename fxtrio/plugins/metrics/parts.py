"""How long the parts of requests and jobs take: loaders, actions, renders, queries and others.

Parts are named by the files and functions of the application, so there is one series for each of
these. Queries and messages have no name here: SQL may be put together from anything.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from prometheus_client import Metric
from prometheus_client.registry import Collector

from fxtrio.plugins.metrics.durations import BOUNDS, Durations, histogram
from fxtrio.spans import LEAVES, SpanKind

_NAMED: frozenset[SpanKind] = frozenset(
    {"hook", "loader", "deferred", "action", "endpoint", "stream", "render", "job"}
)
_COUNTED = frozenset({*_NAMED, *LEAVES})


class PartCounts(Collector):
    """A `fxtrio.spans.PartCounter`, and a collector of prometheus_client."""

    def __init__(self) -> None:
        self._parts: dict[tuple[SpanKind, str, bool], Durations] = {}

    def count(self, kind: SpanKind, name: str, seconds: float, failed: bool) -> None:
        """Count a part that has ended."""
        key = kind, name if kind in _NAMED else "", failed
        cell = self._parts.get(key)
        if cell is None:
            cell = self._parts.setdefault(key, Durations())
        cell.counts[bisect_left(BOUNDS, seconds)] += 1  # `add`, without a call
        cell.seconds += seconds

    def collect(self) -> Iterator[Metric]:
        """Yield the one family."""
        yield histogram(
            "fx_part_seconds",
            "Time of a part of a request or job.",
            ("part", "name", "failed"),
            {
                (kind, name, "yes" if failed else "no"): cell
                for (kind, name, failed), cell in tuple(self._parts.items())
                if kind in _COUNTED
            },
        )
