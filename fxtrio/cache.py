"""Invalidates cached responses explicitly: from jobs, webhooks and WebSocket handlers.

The serving code caches pages with ``CACHE = {"revalidate": …}``, and registers itself as
`App.cache`. Re-exported as `fx.cache`.
"""

from __future__ import annotations

from typing import Protocol

import trio

from fxtrio.context import current_app, why_no_app
from fxtrio.errors import AppNotRunning

__all__ = ["Cache", "revalidate"]


class Cache(Protocol):
    """Caches responses of one app in this process."""

    def drop(self, *urls: str) -> int:
        """Forget the responses of ``urls``, and return how many there were."""
        ...


def revalidate(*urls: str) -> int:
    """Drop the cached pages of ``urls``, so that the next visit loads them again. Never waits.

    A URL covers all representations and queries of its page, and a route such as
    ``/blog/[id]`` all of its pages. Returns how many cached responses this process dropped;
    with a broker for several processes the others drop theirs a moment later.
    Callable from any thread. Raises AppNotRunning outside a running app.
    """
    app = current_app()
    if app is None:
        raise AppNotRunning(f"revalidate(): {why_no_app()}")
    cache: Cache | None = app.cache
    if cache is None:  # `fx dev`, or `cache.bytes` is 0
        return 0
    if trio.lowlevel.in_trio_run():
        return cache.drop(*urls)
    return trio.from_thread.run_sync(cache.drop, *urls, trio_token=app.loop)
