"""Invalidates cached responses explicitly, by URL or by the tags that loaders have set.

The serving code caches pages with ``CACHE = {"revalidate": …}``, and registers itself as
`App.cache`. Re-exported as `fx.cache`.
"""

from __future__ import annotations

from typing import Final, Protocol
from urllib.parse import quote

import trio

from fxtrio.context import current, current_app, why_no_app
from fxtrio.errors import AppNotRunning

__all__ = ["TAG", "Cache", "revalidate", "tags"]

TAG: Final = "tag:"
"""Prefix of a tag among URLs. The name follows, percent-encoded."""


class Cache(Protocol):
    """Caches responses of one app in this process."""

    def drop(self, *urls: str) -> int:
        """Forget the responses of ``urls``, and return how many there were."""
        ...


def tags(*names: str) -> None:
    """Set tags that say what a loader's data comes from, for `revalidate`.

    Call it in a loader, or in a function that a loader calls. A page has the tags of all of its
    loaders. Raises RuntimeError outside of a request.
    """
    context = current.get()
    draft = None if context is None else context.draft
    if draft is None:
        raise RuntimeError("tags(): no request is being handled here. Call it in a loader.")
    draft.tags = tuple(dict.fromkeys((*draft.tags, *names)))


def revalidate(*urls: str, tag: str | None = None) -> int:
    """Evict the cached pages of ``urls``, so that the next visit renders them again. Never waits.

    ``tag`` names all pages whose loaders have set it with `tags`. In an action, the browser also
    evicts its data of these pages, and `useLoader` loads them again.

    A URL covers all representations and queries of its page, and a route such as
    ``/blog/[id]`` covers all of its pages. Returns how many cached responses this process
    evicted; with a broker for several processes, the others evict theirs a moment later.
    Callable from any thread. Raises AppNotRunning outside a running app.
    """
    app = current_app()
    if app is None:
        raise AppNotRunning(f"revalidate(): {why_no_app()}")
    if tag is not None:
        named = TAG + quote(tag, safe="")
        urls = (*urls, named)
        context = current.get()
        if context is not None and context.draft is not None:
            context.draft.revalidate(named)
    cache: Cache | None = app.cache
    if cache is None:  # `fx dev`, or `cache.bytes` is 0
        return 0
    if trio.lowlevel.in_trio_run():
        return cache.drop(*urls)
    return trio.from_thread.run_sync(cache.drop, *urls, trio_token=app.loop)
