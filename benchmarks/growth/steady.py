"""Minutes at a steady load below the limit: whether latency, CPU time or memory climb."""

from __future__ import annotations

import statistics
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.growth.app import write_app
from benchmarks.growth.series import FEW, HELLO
from benchmarks.growth.table import Series
from benchmarks.load import run_wrk
from benchmarks.streams.site import served
from benchmarks.works import Call

CONNECTIONS = 32
SHARE = 0.7
"""Of the rate that the server reaches."""

CALIBRATION = 5.0
"""Seconds of load by which the pause between requests is found."""

TURN = 10.0
"""Length of one row (seconds)."""


def steady(minutes: float) -> Series:
    """Measure a small page at 70 % of the rate that the server reaches.

    The last row is the slope over the whole time, by the method of Theil and Sen: the median of
    the slopes between any two rows, each for ten minutes.
    """
    series = Series(
        "steady load",
        f"One small page at {SHARE:.0%} of the highest rate, {CONNECTIONS} connections, every "
        f"{TURN:g} s. The last row is how much each figure changes in ten minutes.",
        ("seconds", "responses a second", "CPU µs", "p50 (ms)", "p99 (ms)", "RSS (MiB)"),
    )
    call = Call(path=HELLO, contains=())
    with tempfile.TemporaryDirectory(prefix="fx-growth-") as folder:
        root = Path(folder) / "app"
        write_app(root, FEW)
        with served(root) as site:
            base = f"http://127.0.0.1:{site.port}"
            load = partial(run_wrk, base, call, headers={}, connections=CONNECTIONS)
            load(seconds=1)
            # A connection's turn at that rate is its wait for a response, and a pause.
            period = 1000 * CONNECTIONS / (SHARE * load(seconds=CALIBRATION).rate)
            waited = load(seconds=CALIBRATION, pause=period).p50
            pause = max(0.1, period - waited)
            for turn in range(1, max(2, round(60 * minutes / TURN)) + 1):
                before = site.cpu()
                seen = load(seconds=TURN, pause=pause)
                each = 1e6 * (site.cpu() - before) / max(1, seen.requests)
                figures = (seen.rate, each, seen.p50, seen.p99, site.rss() / 1024)
                series.rows.append((turn * TURN, *figures))
    columns = list(zip(*series.rows, strict=True))
    series.rows.append((600.0, *(600 * slope(columns[0], column) for column in columns[1:])))
    return series


def slope(times: tuple[float, ...], values: tuple[float, ...]) -> float:
    """Return the change a second, which single rows that stand out do not move."""
    pairs = [
        (values[later] - values[earlier]) / (times[later] - times[earlier])
        for later in range(len(times))
        for earlier in range(later)
    ]
    return statistics.median(pairs)
