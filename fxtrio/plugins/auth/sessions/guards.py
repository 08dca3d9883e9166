"""`require_user`: the route hook that lets only signed-in users pass."""

from __future__ import annotations

from urllib.parse import quote

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Scope

from fxtrio.app_handle import get_app
from fxtrio.asgi_extensions import root_of, url_of_root
from fxtrio.errors import LoaderError, Redirect
from fxtrio.markdown import prefers_markdown
from fxtrio.plugins.auth.service import get_auth
from fxtrio.plugins.auth.settings import AuthSettings
from fxtrio.routes import MatchedRoute, route_of
from fxtrio.serve.request.response.translated import failure_response

_SIGNED_OUT = "You are not signed in."


async def require_user(connection: HTTPConnection) -> Response | Redirect | None:
    """Accept a request only with a signed-in user.

    Pages redirect to the sign-in page, with the requested path in ``?next=``; actions, Python
    endpoints and WebSockets are rejected with 401 and JSON, and pages as Markdown with a
    LoaderError (401). The pages to sign in and to register and those of ``publicPaths`` are
    public, with their actions; for them it does not look up the user, so those with ``CACHE``
    can be cached. Whether a page is public depends on the matched route, never on the URL. Name
    it in ``routeMiddleware``, or return its result from a loader. Raises AuthNotInstalled
    without the plugin.
    """
    service, route = get_auth(), route_of(connection)
    if route is not None and is_open(route, service.settings):
        return None
    if connection.scope["type"] == "websocket":
        await service.authenticate(connection)  # the middleware does not run for WebSockets
    user = getattr(connection.state, "user", None)
    if user is not None:
        return None
    if not _shows_a_page(connection.scope, route):
        return failure_response(_SIGNED_OUT, 401)
    scope, login = connection.scope, _base_path() + service.settings.login_path
    # A page that replaces the login page would be redirected to itself.
    if _is_agent(connection, route) or scope["path"] == root_of(scope) + login:
        raise LoaderError(_SIGNED_OUT, 401)
    return Redirect(f"{url_of_root(scope)}{login}?next={quote(_requested(scope), safe='/')}")


def is_open(route: MatchedRoute, settings: AuthSettings) -> bool:
    """Whether a route is listed as public.

    A pattern matches itself and, unless it is ``/``, the pages below it. One that ends in
    ``/*`` matches all routes below it, Python endpoints too.
    """
    pattern = route.pattern
    if pattern is None:
        return False
    is_page = not route.source.endswith(".py")
    if is_page and pattern in (settings.login_path, settings.register_path):
        return True
    for public in settings.public_paths:
        named = public.rstrip("/") or "/"
        if named.endswith("/*"):
            if pattern.startswith(named[:-1]):
                return True
        elif pattern == named or (is_page and named != "/" and pattern.startswith(f"{named}/")):
            return True
    return False


def _shows_a_page(scope: Scope, route: MatchedRoute | None) -> bool:
    """Whether a browser requests a page, and so can follow a redirect."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
        return False
    return route is None or route.kind in ("page", "markdown", "not-found")


def _base_path() -> str:
    app = get_app()
    return "" if app is None else app.config.base_url


def _is_agent(connection: HTTPConnection, route: MatchedRoute | None) -> bool:
    """Whether an agent requests a page, which would mistake the login page for it."""
    if route is not None and route.kind == "markdown":
        return True
    app = get_app()
    speaks = app is not None and app.config.llms.enabled
    return speaks and prefers_markdown(connection.headers.get("accept"))


def _requested(scope: Scope) -> str:
    """Return path and query as the client sent them."""
    raw = scope.get("raw_path") or quote(scope["path"]).encode()
    path = bytes(raw).partition(b"?")[0]
    query = bytes(scope["query_string"])
    return (path + b"?" + query if query else path).decode("latin-1")
