"""A defect of Hypercorn's access log: it asks the time of day how long a request took."""

from __future__ import annotations

import time
from typing import Any

from fxtrio.server.hypercorn_patches.source import source_of


def _streams() -> tuple[Any, ...]:
    from hypercorn.protocol import http_stream, ws_stream

    return http_stream, ws_stream


def durations_go_back() -> bool:
    """Return whether a clock that is set back makes them negative."""
    sources = [source_of(module) for module in _streams()]
    return all(module.time is time.time for module in _streams()) and all(
        source.count("time()") == 1 + source.count("time() - self.start_time") for source in sources
    )


def measure_durations() -> None:
    """Have them measured by a clock that only goes on."""
    for module in _streams():
        module.time = time.monotonic
