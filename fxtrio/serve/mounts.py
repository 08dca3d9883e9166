"""The same site below every path that it is mounted at, by the server or by another app."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from fxtrio.asgi_extensions import ROOT
from fxtrio.serve.pages.site import Site, site_below

_MOST = 32
"""Paths that are remembered: the pattern of a mount may have parameters (count)."""


class Mounts:
    """Gives each request to the dispatcher of the path that its app is mounted at."""

    def __init__(self, site: Site, dispatch: Callable[[Site], ASGIApp]) -> None:
        """``dispatch`` makes the dispatcher of a site."""
        self._site = site
        self._dispatch = dispatch
        self.plain = dispatch(site)
        """What answers requests to an app that is mounted nowhere."""

        self._below: dict[str, ASGIApp] = {}

    # Without a frame of its own: nearly all requests come to the root.
    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request or WebSocket."""
        if scope.get(ROOT):
            return self._at(scope[ROOT])(scope, receive, send)
        return self.plain(scope, receive, send)

    def _at(self, root: str) -> ASGIApp:
        """Return the dispatcher of the site below ``root``; the oldest goes for a new one."""
        known = self._below.get(root)
        if known is None:
            if len(self._below) >= _MOST:
                del self._below[next(iter(self._below))]
            known = self._below[root] = self._dispatch(site_below(self._site, root))
        return known
