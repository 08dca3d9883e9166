"""Whether requests and jobs are traced, by the setting ``observability.tracing``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

import trio

from fxtrio.errors import ExtraMissing
from fxtrio.limiters import limiter_of
from fxtrio.spans import Spans

_PATIENCE = 5.0
"""For the collector to take the last spans when the app ends (seconds)."""


@asynccontextmanager
async def open_tracing(
    kind: Literal["off", "otel"], spans: Spans, name: str
) -> AsyncIterator[None]:
    """Trace what ``spans`` knows of, for as long as the block lasts.

    ``name`` is the app's, where the environment names no service. The last spans are exported
    when the block ends. Raises ExtraMissing.
    """
    if kind == "off":
        yield
        return
    try:
        from fxtrio.observe.otel import OtelListener, tracer_provider
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing != "opentelemetry":
            raise
        raise ExtraMissing("observability.tracing", "otel", "opentelemetry-sdk") from error
    provider = tracer_provider(name)
    listener = OtelListener(provider)
    spans.add(listener)
    try:
        yield
    finally:
        spans.remove(listener)
        with trio.move_on_after(_PATIENCE, shield=True):
            await trio.to_thread.run_sync(
                provider.force_flush,
                int(_PATIENCE * 1000),
                limiter=limiter_of("processes"),
                abandon_on_cancel=True,
            )
