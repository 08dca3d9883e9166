"""Who may see a URL: the route that it has, and what each hook before it says to a stranger."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import attrs
import trio
from starlette.types import Scope

from fxtrio.errors import ActionError, LoaderError, Redirect
from fxtrio.manifest import ApiRoute
from fxtrio.routes.matched import SCOPE_KEY, MatchedRoute
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.hooks import Hook, run_hooks
from fxtrio.serve.request.response.response import ResponseDraft

LIMIT = 5.0
"""How long all hooks may take (seconds)."""

ALLOWS = "allows the request"
"""What is said of a hook that returns None."""


@attrs.frozen
class Found:
    """The route of a URL."""

    pattern: str
    source: str
    kind: str
    hooks: tuple[Hook, ...]
    params: dict[str, str]


def find_route(site: Site, path: str) -> Found | None:
    """Return the route of a path, which has no base URL."""
    match = site.router.match(path, None)
    if match is None:
        return None
    route, params = match
    if isinstance(route, ApiRoute):
        hooks = site.hooks.before("endpoint", "api")
        return Found(route.pattern, route.source, "api", hooks, params)
    source = site.manifest.views[route.view].module
    return Found(route.pattern, source, "page", site.hooks.before("page", "page"), params)


async def ask_hooks(
    app: Any, found: Found, path: str, scope: Scope
) -> AsyncIterator[tuple[str, str]]:
    """Yield each hook that a visitor meets who is not signed in, and what it says.

    ``app`` is the ASGI app, ``scope`` that of the request that asks.
    """
    site: Site = app.site
    inner = {**_scope(site, found, path, scope), "app": app}
    audience = site.terms.audience
    with trio.move_on_after(LIMIT):
        for hook in found.hooks:
            try:
                refusal = await run_hooks((hook,), audience.connect(inner), audience)
            except (LoaderError, ActionError) as error:
                yield hook.name, f"rejects with {error.status_code}"
                return
            except Exception as error:  # application code
                yield hook.name, f"fails with {type(error).__name__}"
                return
            if isinstance(refusal, Redirect):
                yield hook.name, f"redirects to {refusal.url.partition('?')[0]}"
                return
            if refusal is not None:
                yield hook.name, f"responds with {refusal.status_code}"
                return
            yield hook.name, ALLOWS
        return
    yield "", f"the hooks took longer than {LIMIT:g} s"


def _scope(site: Site, found: Found, path: str, scope: Scope) -> Scope:
    """Return the scope of a request of a visitor without cookies."""
    route: Any = MatchedRoute(kind=found.kind, pattern=found.pattern, source=found.source)  # type: ignore[arg-type]  # one of its two kinds
    host = [(name, value) for name, value in scope["headers"] if name == b"host"]
    return {
        "type": "http",
        "method": "GET",
        "scheme": scope.get("scheme", "http"),
        "http_version": scope.get("http_version", "1.1"),
        "server": scope.get("server"),
        "client": scope.get("client"),
        "root_path": "",
        "path": site.base_url + path,
        "raw_path": (site.base_url + path).encode(),
        "query_string": b"",
        "headers": host,
        "path_params": found.params,
        "state": {"response": ResponseDraft(), "user": None},
        SCOPE_KEY: route,
    }
