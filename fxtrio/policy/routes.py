"""All that the settings say of a route, found once for each pattern."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec
from starlette.middleware.cors import CORSMiddleware
from starlette.types import Message, Receive, Scope, Send

from fxtrio.config import Config, CorsConfig, RateLimitConfig
from fxtrio.policy.patterns import covers, nearest

_CACHED_PATTERNS = 1024
_OWN = "/api/__"


class RoutePolicy(msgspec.Struct, frozen=True, eq=False):
    """The policy of one kind of a route."""

    cache_control: bytes | None
    """`Cache-Control` of responses that do not set it themselves."""

    cors: CORSMiddleware | None
    """Decides about other origins; None where they have no business."""

    rates: tuple[RateLimitConfig, ...]
    """The limits that count a request."""


class Policies:
    """The route policies of an app's settings."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._cors = _cors(config.cors)
        self.of = lru_cache(maxsize=_CACHED_PATTERNS)(self._of)
        """Return the policy of a route by its pattern; None when nothing is said of it.

        ``called`` is whether it is an endpoint in an ``api`` folder, or an action.
        """

    def cache_of(self, path: str) -> str | None:
        """Return the `Cache-Control` of the public file at ``path``."""
        policies = self._config.cache_control
        entry = nearest(policies, path)
        return None if entry is None else policies[entry]

    def _of(self, pattern: str, *, called: bool) -> RoutePolicy | None:
        config = self._config
        cache = self.cache_of(pattern)
        rates = tuple(rate for rate in config.rate_limits if covers(rate.route, pattern))
        cors = self._cors if _is_open(config.cors.routes, pattern, called=called) else None
        if cache is None and not rates and cors is None:
            return None
        return RoutePolicy(None if cache is None else cache.encode(), cors, rates)


def make_policies(config: Config) -> Policies | None:
    """Return the policies of an app; None when its settings say nothing of any route."""
    said = config.cache_control or config.cors.origins or config.rate_limits
    return Policies(config) if said else None


def named_routes(config: Config) -> list[tuple[str, str]]:
    """Return each entry that names routes, with the key of its setting."""
    return [
        *((f"cors.routes.{index}", entry) for index, entry in enumerate(config.cors.routes)),
        *(
            (f"rateLimits.{index}.route", each.route)
            for index, each in enumerate(config.rate_limits)
        ),
        *((f"cacheControl.{entry}", entry) for entry in config.cache_control),
    ]


def _cors(config: CorsConfig) -> CORSMiddleware | None:
    if not config.origins:
        return None
    return CORSMiddleware(
        _nobody,
        allow_origins=config.origins,
        allow_methods=config.methods,
        allow_headers=config.headers,
        allow_credentials=config.credentials,
        expose_headers=config.expose,
        max_age=int(config.max_age),
    )


def _is_open(routes: Sequence[str], pattern: str, *, called: bool) -> bool:
    """Whether other origins have business at a route.

    The framework's own endpoints, such as those that sign in, are open where they are meant:
    ``/api/*`` is about those of the application.
    """
    if pattern.startswith(_OWN):
        routes = [entry for entry in routes if entry.startswith(_OWN)]
        called = False
    return any(covers(entry, pattern) for entry in routes) if routes else called


async def _nobody(scope: Scope, receive: Receive, send: Send) -> None:
    """Takes the place of a middleware's app: it records the call, and calls nothing."""
    message: Message = {"type": "http.response.start", "status": 500, "headers": []}
    await send(message)
