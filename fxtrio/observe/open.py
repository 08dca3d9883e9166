"""What the settings of ``observability`` turn on for as long as an app runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from math import inf

from fxtrio.config import ObservabilityConfig
from fxtrio.observe.stalls import watch_loop
from fxtrio.observe.tracing import open_tracing
from fxtrio.spans import Spans


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
        async with open_tracing(config.tracing, spans, name):
            yield


def _observer() -> AbstractContextManager[object]:
    # Heavy, and for apps with a plugin that shows the tree.
    from fxtrio.observe.observer import open_observer

    return open_observer()
