"""What the settings of ``observability`` turn on for as long as an app runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from math import inf
from typing import Literal

import trio

from fxtrio.config import ObservabilityConfig
from fxtrio.errors import ExtraMissing
from fxtrio.limiters import limiter_of
from fxtrio.observe.stalls import watch_loop
from fxtrio.spans import Spans

_PATIENCE = 5.0
"""For the collector to take the last spans when the app ends (seconds)."""


@asynccontextmanager
async def open_observability(
    config: ObservabilityConfig,
    spans: Spans,
    *,
    name: str,
    development: bool,
    observed: bool,
) -> AsyncIterator[None]:
    """Watch the loop and trace, as the settings say. ``name`` is the app's.

    With ``observed``, `fx tree` may ask from now on: also while the app starts. In development
    single steps are watched instead of the loop, by `fx dev`. Raises ExtraMissing.
    """
    with (
        _observer() if observed else nullcontext(),
        watch_loop(inf if development else config.stall),
    ):
        async with _open_tracing(config.tracing, spans, name):
            yield


@asynccontextmanager
async def _open_tracing(
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


def _observer() -> AbstractContextManager[object]:
    # Heavy, and for apps with a plugin that shows the tree.
    from fxtrio.observe.observer import open_observer

    return open_observer()
