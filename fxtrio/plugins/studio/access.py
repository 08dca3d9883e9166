"""Who may see a URL: the route that it has, and what each hook before it says to a stranger."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any
from urllib.parse import SplitResult, quote, unquote, urlsplit

import attrs
import trio
from starlette.routing import Match
from starlette.types import Scope

from fxtrio.asgi_extensions import SAFE_IN_PATHS
from fxtrio.errors import ActionError, LoaderError, Redirect
from fxtrio.manifest import ApiRoute
from fxtrio.policy.patterns import pattern_of
from fxtrio.routes.matched import SCOPE_KEY, MatchedRoute
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.hooks import Hook, run_hooks
from fxtrio.serve.request.response.response import ResponseDraft
from fxtrio.serve.static_files import Folder

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


def path_of(url: str, *, root: str, base_url: str) -> str:
    """Return the path that is matched with routes, of a URL or a path as browsers show it.

    ``root`` is the path that the app is mounted at, encoded.
    """
    path = unquote(_split(url).path)
    for prefix in (unquote(root) + base_url, base_url):
        if prefix and (path == prefix or path.startswith(prefix + "/")):
            path = path[len(prefix) :]
            break
    return "/" + path.lstrip("/")


def _split(url: str) -> SplitResult:
    with suppress(ValueError):  # a host like ``[id]``
        parts = urlsplit(url)
        if parts.scheme in {"http", "https"}:
            return parts
    return urlsplit("http://_/" + url.lstrip("/"))


def find_other(app: Any, path: str) -> str | None:
    """Return what has a path instead of a page or endpoint, in words; None if nothing has."""
    site: Site = app.site
    whole = site.base_url + path
    scope = {"type": "http", "method": "GET", "path": whole, "root_path": "", "headers": []}
    for route in app.router.routes:
        if route.matches(scope)[0] is Match.FULL:
            pattern = pattern_of(route, site.config.base_url)
            return f"the Starlette route {pattern}, whose code decides who may see it"
    folder = app._root / site.config.public_dir
    public = Folder(folder, immutable=False, listed=False, compressed={})
    if ".." not in path and public.may_have(path):
        return "a file of the public folder, which everybody may see"
    return None


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
        "raw_path": quote(site.base_url + path, safe=SAFE_IN_PATHS).encode(),
        "query_string": b"",
        "headers": host,
        "path_params": found.params,
        "state": {"response": ResponseDraft(), "user": None},
        SCOPE_KEY: route,
    }
