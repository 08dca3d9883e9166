"""Histograms of durations, as plain numbers that are added to on the way of a request."""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from prometheus_client import Metric

BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the buckets of durations (seconds)."""


class Durations:
    """A histogram, as plain numbers."""

    __slots__ = ("counts", "seconds")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        """By bucket, the last one without a bound; not added up."""

        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """Return the counts up to each bound, as Prometheus wants them."""
        total, found = 0.0, []
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), self.counts, strict=True):
            total += count
            found.append((bound, total))
        return found


def histogram(
    name: str, text: str, labels: tuple[str, ...], cells: dict[tuple[str, ...], Durations]
) -> Metric:
    """Return the family of a histogram, with a sample for each of ``cells``."""
    family = Metric(name, text, "histogram")
    for values, cell in tuple(cells.items()):
        named = dict(zip(labels, values, strict=True))
        buckets = cell.buckets()
        for bound, count in buckets:
            family.add_sample(f"{name}_bucket", {**named, "le": bound}, count)
        family.add_sample(f"{name}_count", named, buckets[-1][1])
        family.add_sample(f"{name}_sum", named, cell.seconds)
    return family
