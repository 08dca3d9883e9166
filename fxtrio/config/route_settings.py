"""Settings that name routes: hooks, who may ask, how often. A part of `fxtrio.config.model`."""

from __future__ import annotations

from typing import Literal

import attrs

from fxtrio.config import validators


@attrs.frozen(kw_only=True)
class RouteMiddlewareConfig:
    """The ``routeMiddleware`` section: hooks that guard every form of a route alike."""

    pages: tuple[str, ...] = attrs.field(default=(), validator=validators.dotted)
    """Hooks of pages (HTML, navigation payload and Markdown), outermost first."""

    actions: tuple[str, ...] = attrs.field(default=(), validator=validators.dotted)
    """Hooks of actions, outermost first."""

    apis: tuple[str, ...] = attrs.field(default=(), validator=validators.dotted)
    """Hooks of the endpoints in `api` folders, outermost first."""

    websockets: tuple[str, ...] = attrs.field(default=(), validator=validators.dotted)
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


@attrs.frozen(kw_only=True)
class CorsConfig:
    """The ``cors`` section: which other origins may read what endpoints and actions answer."""

    origins: tuple[str, ...] = attrs.field(default=(), validator=validators.cors_origins)
    """``scheme://host[:port]``, or ``*`` for all; none turns CORS off."""

    routes: tuple[str, ...] = attrs.field(default=(), validator=validators.route_patterns)
    """Patterns of the routes that are open to them; all endpoints and actions without one."""

    methods: tuple[str, ...] = attrs.field(
        default=("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"), validator=validators.http_names
    )
    """What they may use."""

    headers: tuple[str, ...] = attrs.field(
        default=("content-type", "x-csrf-token"), validator=validators.http_names
    )
    """Headers they may send, besides those that need no permission; ``*`` for all."""

    expose: tuple[str, ...] = attrs.field(
        default=("x-fx-invalidate", "x-request-id", "retry-after", "ratelimit"),
        validator=validators.http_names,
    )
    """Headers of responses they may read, besides those that need no permission."""

    credentials: bool = False
    """Whether their requests may carry cookies; not together with the origin ``*``."""

    max_age: float = attrs.field(default=600.0, validator=validators.at_least(0))
    """For how long a browser need not ask again before a request (seconds)."""


@attrs.frozen(kw_only=True)
class RateLimitConfig:
    """One entry of ``rateLimits``. All entries that fit a request count it."""

    route: str = attrs.field(validator=validators.route_pattern)
    """A route pattern such as ``/login``, or ``/api/*`` for all below ``/api``, each of which is
    counted by itself."""

    limit: str = attrs.field(validator=validators.rate)
    """``20/minute``, ``5 per 10 seconds``, or several: ``20/minute; 500/day``."""

    by: Literal["address", "user"] = "address"
    """Whose requests are counted together. Who is not signed in is counted by address."""

    methods: tuple[str, ...] = attrs.field(default=(), validator=validators.http_names)
    """The methods that are counted, all without one. GET stands for HEAD, too."""
