"""Forget stored responses by hand: from jobs, webhooks and WebSocket handlers.

Pages with ``CACHE = {"revalidate": …}`` are stored by the serving code, which puts itself
at `App.cache`. Re-exported as `fx.cache`.
"""

from __future__ import annotations

from typing import Protocol

import trio

from fxtrio.context import current_app, why_no_app
from fxtrio.errors import AppNotRunning

__all__ = ["Cache", "revalidate"]


class Cache(Protocol):
    """Keeps responses of one app in this process."""

    def drop(self, *urls: str) -> int:
        """Forget the responses of ``urls``, and return how many there were."""
        ...


def revalidate(*urls: str) -> int:
    """Make the next visit to each of ``urls`` load its page anew. Never waits.

    A URL stands for all forms and all queries of its page, and a route such as
    ``/blog/[id]`` for all of its pages. Returns how many stored responses went in this
    process; with a broker for several processes the others forget theirs a moment later.
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
