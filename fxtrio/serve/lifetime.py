"""The one thing about an app that changes: whether it runs, and with what."""

from __future__ import annotations

import attrs

from fxtrio.serve.cache.response_cache import ResponseCache
from fxtrio.serve.pages.running import Running


@attrs.define(eq=False)
class Lifetime:
    """Set by the application's lifespan, which owns it; read by the dispatcher."""

    running: Running | None = None
    """None before the lifespan has begun and after it has ended."""

    cache: ResponseCache | None = None
    """Keeps the responses of pages with ``CACHE``; None in development."""

    ready: bool = False
    """Whether `/readyz` says so; False again as soon as the shutdown begins."""
