"""`require_user`: the route hook that lets only signed-in users pass."""

from __future__ import annotations

from urllib.parse import quote

import attrs
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from fxtrio.context import get_app
from fxtrio.errors import LoaderError, Redirect
from fxtrio.markdown import prefers_markdown
from fxtrio.markdown.paths import page_path
from fxtrio.plugins.auth.service import get_auth
from fxtrio.plugins.auth.settings import AuthSettings

_ACTIONS = "/api/__actions/"


@attrs.frozen
class _Place:
    """What a connection asks for."""

    page: str | None
    """The page it belongs to; None for Python endpoints."""

    shows: bool
    """Whether it wants to see the page, and so can follow a redirect."""


async def require_user(connection: HTTPConnection) -> Response | Redirect | None:
    """Let a request pass when somebody is signed in.

    Pages redirect to the login page, with ``?next=`` the path that was asked for; actions,
    Python endpoints and WebSockets are refused with 401 and JSON, and pages as Markdown with
    a LoaderError (401). The pages to sign in and to register and those of ``publicPaths``
    are open, with their actions, and for them it reads nothing of the visitor: those with
    ``CACHE`` can be kept. Name it in ``routeMiddleware``, or return what it returns from a
    loader. Raises AuthNotInstalled without the plugin.
    """
    service, base_url = get_auth(), _base_url()
    place = _place(connection.scope, base_url)
    if place.page is not None and _is_public(place.page, service.settings):
        return None
    if connection.scope["type"] == "websocket":
        # The middleware does not run for WebSockets.
        user = await service.authenticate(connection)
    else:
        user = getattr(connection.state, "user", None)
    if user is not None:
        return None
    if not place.shows:
        return JSONResponse({"ok": False, "error": "You are not signed in."}, 401)
    if place.page is not None and _is_agent(connection):
        raise LoaderError("You are not signed in.", 401)
    login = base_url + service.settings.login_path
    return Redirect(f"{login}?next={quote(_requested(connection.scope), safe='/')}")


def _base_url() -> str:
    app = get_app()
    return "" if app is None else app.config.base_url


def _place(scope: Scope, base_url: str) -> _Place:
    path = str(scope["path"])[len(base_url) :]
    shows = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
    raw = bytes(scope.get("raw_path") or b"").lower()
    if b"%2f" in raw and not path.startswith("/api/"):
        # The router takes an encoded slash as part of a segment, so this names no public page.
        return _Place(None, shows)
    if path.startswith(_ACTIONS):
        page = path[len(_ACTIONS) :].rpartition("/")[0]
        return _Place("/" if page == "index" else f"/{page}", shows=False)
    if path.startswith("/api/"):
        return _Place(None, shows=False)
    return _Place((page_path(path) if _has_markdown() else None) or path, shows)


def _has_markdown() -> bool:
    """Whether the app serves its pages as Markdown."""
    app = get_app()
    return app is not None and app.config.llms.enabled


def _is_agent(connection: HTTPConnection) -> bool:
    """Whether a page is asked for by an agent, which would take the login page for the answer."""
    if not _has_markdown():
        return False
    named = page_path(str(connection.scope["path"]))
    return named is not None or prefers_markdown(connection.headers.get("accept"))


def _requested(scope: Scope) -> str:
    """Return path and query as the client sent them."""
    raw = scope.get("raw_path") or quote(scope["path"]).encode()
    path = bytes(raw).partition(b"?")[0]
    query = bytes(scope["query_string"])
    return (path + b"?" + query if query else path).decode("latin-1")


def _is_public(page: str, settings: AuthSettings) -> bool:
    return page in (settings.login_path, settings.register_path) or any(
        # "/" is the home page: as a prefix it would be the whole app.
        page == public or (public != "/" and page.startswith(public.rstrip("/") + "/"))
        for public in settings.public_paths
    )
