"""Which route patterns an entry of the settings names: one, or all below a path. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.routing import BaseRoute

_BELOW = "/*"


def pattern_of(route: BaseRoute, base_url: str) -> str:
    """Return how the settings name a route of Starlette: by its path below the base URL."""
    return getattr(route, "path", "").removeprefix(base_url) or "/"


def covers(entry: str, pattern: str) -> bool:
    """Whether ``entry``, such as ``/login`` or ``/api/*``, names the route ``pattern``.

    ``/api/*`` names ``/api``, too, and ``/*`` all routes.
    """
    if not entry.endswith(_BELOW):
        return entry == pattern
    base = entry.removesuffix(_BELOW)
    return pattern == base or pattern.startswith(base + "/")


def nearest(entries: Iterable[str], pattern: str) -> str | None:
    """Return the entry that names a route most closely; None when none does."""
    fitting = [entry for entry in entries if covers(entry, pattern)]
    return max(fitting, key=_closeness, default=None)


def _closeness(entry: str) -> tuple[bool, int]:
    return not entry.endswith(_BELOW), len(entry)
