"""What the settings of ``observability`` turn on for as long as an app runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf

from fxtrio.config import ObservabilityConfig
from fxtrio.observe.stalls import watch_loop
from fxtrio.observe.tracing import open_tracing
from fxtrio.spans import Spans


@asynccontextmanager
async def open_observability(
    config: ObservabilityConfig, spans: Spans, *, name: str, development: bool
) -> AsyncIterator[None]:
    """Watch the loop and trace, as the settings say. ``name`` is the app's.

    In development single steps are watched instead, by `fx dev`. Raises ExtraMissing.
    """
    with watch_loop(inf if development else config.stall):
        async with open_tracing(config.tracing, spans, name):
            yield
