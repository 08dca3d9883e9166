"""`require_user`: who may pass, and what the others get."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import attrs
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse

from fxtrio.app_handle import App
from fxtrio.config import Config
from fxtrio.context import entered
from fxtrio.errors import LoaderError, Redirect
from fxtrio.plugins.auth import User, get_auth, require_user
from fxtrio.plugins.auth.errors import AuthNotInstalled
from fxtrio.routes.matched import SCOPE_KEY, MatchedRoute, RouteKind
from tests.auth.harness import EMAIL, Auth, carry, log_in, open_auth_with_user

USER = User(id="a" * 32, email=EMAIL, created_at=0.0)


def request(
    path: str,
    *,
    pattern: str | None = None,
    kind: RouteKind = "page",
    query: bytes = b"",
    user: User | None = None,
) -> Request:
    source = "pages/api/x.py" if kind == "api" else "pages/x.fxl"
    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST" if kind == "action" else "GET",
        "scheme": "https",
        "server": ("app.test", 443),
        "path": path,
        "query_string": query,
        "headers": [],
        "state": {"user": user},
        SCOPE_KEY: MatchedRoute(kind=kind, pattern=pattern or path, source=source),
    }
    return Request(scope)


@pytest.fixture
async def auth(tmp_path: Path):
    public = ("/docs", "/about/", "/[team]/open", "/api/status", "/api/open/*")
    async with open_auth_with_user(tmp_path, public_paths=public) as auth:
        with entered(auth.handle):
            yield auth


async def ask(auth: Auth, path: str, **options: Any) -> object:
    return await require_user(request(path, **options))


@pytest.mark.parametrize("kind", ["page", "action", "api", "not-found"])
async def test_signed_in_users_pass_everywhere(auth: Auth, kind: RouteKind) -> None:
    assert await ask(auth, "/notes", kind=kind, user=USER) is None


async def test_pages_redirect_to_the_login_and_name_the_way_back(auth: Auth) -> None:
    answer = await ask(auth, "/notes/a b", query=b"tag=x&y=%2F")
    assert isinstance(answer, Redirect)
    assert answer.status == 303
    assert answer.url == "/login?next=/notes/a%2520b%3Ftag%3Dx%26y%3D%252F"


@pytest.mark.parametrize("kind", ["action", "api"])
async def test_actions_and_endpoints_are_rejected_with_401_and_json(
    auth: Auth, kind: RouteKind
) -> None:
    answer = await ask(auth, "/notes", kind=kind)
    assert isinstance(answer, JSONResponse)
    assert answer.status_code == 401
    assert answer.body == b'{"ok":false,"error":"You are not signed in."}'


async def test_agents_are_rejected_in_words(auth: Auth) -> None:
    with pytest.raises(LoaderError, match="You are not signed in") as rejected:
        await ask(auth, "/notes", kind="markdown")
    assert rejected.value.status_code == 401


@pytest.mark.parametrize("kind", ["page", "markdown", "action"])
@pytest.mark.parametrize(
    "pattern",
    ["/login", "/register", "/docs", "/docs/[...slug]", "/docs/start", "/about", "/[team]/open"],
)
async def test_the_ways_in_and_public_routes_are_open_in_every_form(
    auth: Auth, pattern: str, kind: RouteKind
) -> None:
    assert await ask(auth, "/whatever", pattern=pattern, kind=kind) is None


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/login", "/[team]"),
        ("/register", "/[[...all]]"),
        ("/docs", "/[team]"),
        ("/docs/start", "/[team]/[page]"),
        ("/docsx", "/docsx"),
        ("/login/more", "/login/more"),
        ("/notes/login", "/notes/login"),
        ("/docs/open", "/[section]/open"),
        ("/", "/"),
    ],
)
async def test_routes_that_only_look_public_are_guarded(
    auth: Auth, path: str, pattern: str
) -> None:
    answer = await ask(auth, path, pattern=pattern, kind="action")
    assert isinstance(answer, JSONResponse)
    assert answer.status_code == 401


@pytest.mark.parametrize(
    ("pattern", "is_open"),
    [
        ("/api/status", True),
        ("/api/status/more", False),
        ("/api/open/[id]", True),
        ("/api/open", False),
        ("/docs/api/x", False),
        ("/login", False),
    ],
)
async def test_endpoints_are_open_only_where_the_settings_name_them(
    auth: Auth, pattern: str, is_open: bool
) -> None:
    assert (await ask(auth, "/x", pattern=pattern, kind="api") is None) is is_open


async def test_what_no_route_answers_is_not_open(auth: Auth) -> None:
    unknown = request("/login")
    unknown.scope[SCOPE_KEY] = MatchedRoute(
        kind="not-found", pattern=None, source="pages/not-found.fxl"
    )
    with pytest.raises(LoaderError):
        await require_user(unknown)
    del unknown.scope[SCOPE_KEY]
    with pytest.raises(LoaderError):
        await require_user(unknown)


async def test_a_page_in_place_of_the_login_page_is_not_redirected_to_itself(auth: Auth) -> None:
    with pytest.raises(LoaderError) as rejected:
        await ask(auth, "/login", pattern="/[team]")
    assert rejected.value.status_code == 401


async def test_the_root_page_can_be_public_and_opens_nothing_else(tmp_path: Path) -> None:
    async with open_auth_with_user(tmp_path, public_paths=("/",)) as auth:
        with entered(auth.handle):
            assert await ask(auth, "/") is None
            assert await ask(auth, "/", kind="action") is None
            assert await ask(auth, "/", pattern="/[[...all]]") is not None
            assert await ask(auth, "/members") is not None


async def test_the_login_page_is_below_the_base_url(tmp_path: Path) -> None:
    async with open_auth_with_user(tmp_path, base_url="/app") as auth:
        with entered(auth.handle):
            assert await ask(auth, "/app/login", pattern="/login") is None
            answer = await ask(auth, "/app/notes", pattern="/notes")
            assert isinstance(answer, Redirect)
            assert answer.url == "/app/login?next=/app/notes"


async def test_websockets_are_rejected_with_401_unless_their_cookie_is_good(auth: Auth) -> None:
    answer = await require_user(auth.socket(path="/notes"))
    assert isinstance(answer, JSONResponse)
    assert answer.status_code == 401
    cookie = carry(await log_in(auth.client()))
    assert await require_user(auth.socket(cookie, path="/notes")) is None


async def test_without_the_plugin_the_guard_is_an_error_and_nobody_passes() -> None:
    nothing = cast("Any", SimpleNamespace())
    app = App(config=Config(), tasks=nothing, broker=nothing, state=nothing)
    with entered(app), pytest.raises(AuthNotInstalled, match="Add 'auth' to 'plugins'"):
        await require_user(request("/notes", user=USER))
    with pytest.raises(AuthNotInstalled, match="no app of fxtrio runs here"):
        get_auth()


async def test_get_auth_finds_the_service_of_the_running_app(auth: Auth) -> None:
    assert get_auth() is auth.service


def test_a_user_holds_nothing_secret() -> None:
    assert [field.name for field in attrs.fields(User)] == ["id", "email", "created_at"]
