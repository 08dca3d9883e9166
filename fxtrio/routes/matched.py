"""Which route answers a request: what hooks judge, instead of reading the URL themselves.

`fxtrio.serve` writes it into the ASGI scope before any hook runs; `route_of` reads it,
for hooks, loaders and actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import attrs

if TYPE_CHECKING:  # heavy, and programs that serve nothing know routes, too
    from starlette.requests import HTTPConnection

SCOPE_KEY = "fx.route"
"""Key of the ASGI scope that holds the `MatchedRoute`, its ``params`` left out."""

STARLETTE_KEY = "fx.starlette_route"
"""Key of the ASGI scope that holds the path of the Starlette route that answers, with its
parameters by name and without the base URL."""

RouteKind = Literal["page", "markdown", "action", "stream", "websocket", "api", "not-found"]

FileKind = Literal["page", "endpoint", "actions"]
"""What the file of a route is: a page file, a Python file of an `api` folder, or a module of
actions."""

HookList = Literal["pages", "actions", "apis", "websockets"]
"""A list of hooks in ``routeMiddleware``."""

GUARDS: Mapping[tuple[FileKind, RouteKind], tuple[HookList, ...]] = MappingProxyType(
    {
        ("page", "page"): ("pages",),
        ("page", "markdown"): ("pages",),
        ("page", "action"): ("pages", "actions"),
        ("page", "stream"): ("pages", "actions"),
        ("page", "websocket"): ("pages", "websockets"),
        ("page", "not-found"): ("pages",),
        ("actions", "action"): ("pages", "actions"),
        ("endpoint", "api"): ("apis",),
        ("endpoint", "websocket"): ("apis", "websockets"),
    }
)
"""Whose hooks stand before each form of each kind of file, outermost first.

What is not in it is no form of such a file. Hooks of ``not-found`` are asked only where
loaders would run that are not public.
"""


@attrs.frozen(kw_only=True)
class MatchedRoute:
    """The route that a request matches."""

    kind: RouteKind
    """What is asked of it. HTML and the navigation payload are ``page``."""

    pattern: str | None
    """As its file stands in the pages folder, without groups and base URL: ``/login``,
    ``/blog/[id]``. None for ``not-found``; ``/@actions/shared.delete`` for an action of a
    module, which is no path of a page."""

    source: str
    """The file whose code runs, relative to the project folder: ``pages/login.fxl``."""

    action: str = ""
    """The name of the action, such as ``save`` or, of a module, ``shared.delete``; "" for all but
    ``action``."""

    stream: str = ""
    """The name of the `@stream` function; "" for all but ``stream``."""

    params: Mapping[str, str] = attrs.field(factory=dict)
    """The values of the pattern's parameters, decoded."""


def route_of(connection: HTTPConnection) -> MatchedRoute | None:
    """Return the route that a request or WebSocket matches.

    None before a route is matched: in middleware, and in Starlette routes of the application
    and of plugins.
    """
    found = connection.scope.get(SCOPE_KEY)
    if not isinstance(found, MatchedRoute):
        return None
    params = connection.scope.get("path_params")
    return attrs.evolve(found, params=dict(params)) if params else found
