"""Settings that name routes: hooks, who may ask, how often. A part of `fxtrio.config.model`."""

from __future__ import annotations

from typing import Annotated, Literal

from fxtrio.config import validators
from fxtrio.config.section import Section


class RouteMiddlewareConfig(Section, frozen=True, kw_only=True):
    """The ``routeMiddleware`` section: hooks that guard every form of a route alike."""

    pages: Annotated[tuple[str, ...], validators.dotted] = ()
    """Hooks of pages (HTML, navigation payload and Markdown), outermost first."""

    actions: Annotated[tuple[str, ...], validators.dotted] = ()
    """Hooks of actions, outermost first."""

    apis: Annotated[tuple[str, ...], validators.dotted] = ()
    """Hooks of the endpoints in `api` folders, outermost first."""

    websockets: Annotated[tuple[str, ...], validators.dotted] = ()
    """Hooks of WebSocket handlers, called after `pages` or `apis`, outermost first."""

    open_apis: bool = False
    """Whether endpoints are open on purpose although pages are guarded; else `fx check` asks."""

    def lists(self) -> dict[str, tuple[str, ...]]:
        """Return the names of all hooks, by their list."""
        return {
            "pages": self.pages,
            "actions": self.actions,
            "apis": self.apis,
            "websockets": self.websockets,
        }


class CorsConfig(Section, frozen=True, kw_only=True):
    """The ``cors`` section: which other origins may read what endpoints and actions answer."""

    origins: Annotated[tuple[str, ...], validators.cors_origins] = ()
    """``scheme://host[:port]``, or ``*`` for all; none turns CORS off."""

    routes: Annotated[tuple[str, ...], validators.route_patterns] = ()
    """Patterns of the routes that are open to them; all endpoints and actions without one."""

    methods: Annotated[tuple[str, ...], validators.http_names] = (
        "GET",
        "HEAD",
        "POST",
        "PUT",
        "PATCH",
        "DELETE",
    )
    """What they may use."""

    headers: Annotated[tuple[str, ...], validators.http_names] = ("content-type", "x-csrf-token")
    """Headers they may send, besides those that need no permission; ``*`` for all."""

    expose: Annotated[tuple[str, ...], validators.http_names] = (
        "x-fx-invalidate",
        "x-request-id",
        "retry-after",
        "ratelimit",
    )
    """Headers of responses they may read, besides those that need no permission."""

    credentials: bool = False
    """Whether their requests may carry cookies; not together with the origin ``*``."""

    max_age: Annotated[float, validators.at_least(0)] = 600.0
    """For how long a browser need not ask again before a request (seconds)."""


class RateLimitConfig(Section, frozen=True, kw_only=True):
    """One entry of ``rateLimits``. All entries that fit a request count it."""

    route: Annotated[str, validators.route_pattern]
    """A route pattern such as ``/login``, or ``/api/*`` for all below ``/api``, each of which is
    counted by itself."""

    limit: Annotated[str, validators.rate]
    """``20/minute``, ``5 per 10 seconds``, or several: ``20/minute; 500/day``."""

    by: Literal["address", "user"] = "address"
    """Whose requests are counted together. Who is not signed in is counted by address."""

    methods: Annotated[tuple[str, ...], validators.http_names] = ()
    """The methods that are counted, all without one. GET stands for HEAD, too."""
