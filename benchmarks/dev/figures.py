"""Many times → what is printed of them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def p95(times: Sequence[float]) -> float:
    """Return the 95th percentile: of 30 the second largest."""
    ordered = sorted(times)
    return ordered[max(0, round(0.95 * len(ordered)) - 1)]


def summary(times: Sequence[float]) -> str:
    """Return the median, the 95th percentile and the minimum."""
    return f"{statistics.median(times):.0f} ({p95(times):.0f}) min {min(times):.0f}"


def per_save(used: Sequence[float], idle: float) -> str:
    """Return the median CPU time of a save, and what as much time costs anyway (ms)."""
    return f"{statistics.median(used) * 1000:.0f}, without a save {idle * 1000:.0f}"
