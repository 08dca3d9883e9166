"""`require_user`: who may pass, and what the others are told."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import attrs
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse

from fxtrio.config import Config
from fxtrio.context import App, entered
from fxtrio.errors import AuthNotInstalled, Redirect
from fxtrio.plugins.auth import User, get_auth, require_user
from tests.auth.harness import EMAIL, Auth, carry, log_in, open_auth_with_user

USER = User(id="a" * 32, email=EMAIL, created_at=0.0)


def request(path: str, *, query: bytes = b"", user: User | None = None) -> Request:
    scope = {
        "type": "http",
        "method": "GET",
        "scheme": "https",
        "server": ("app.test", 443),
        "path": path,
        "query_string": query,
        "headers": [],
        "state": {"user": user},
    }
    return Request(scope)


@pytest.fixture
async def auth(tmp_path: Path):
    async with open_auth_with_user(tmp_path, public_paths=("/docs", "/about")) as auth:
        with entered(auth.handle):
            yield auth


async def ask(auth: Auth, path: str, **options: Any) -> object:
    return await require_user(request(path, **options))


@pytest.mark.parametrize("path", ["/notes", "/api/__actions/notes/add", "/api/export", "/notes.md"])
async def test_signed_in_users_pass_everywhere(auth: Auth, path: str) -> None:
    assert await ask(auth, path, user=USER) is None


async def test_pages_redirect_to_the_login_and_name_the_way_back(auth: Auth) -> None:
    answer = await ask(auth, "/notes/a b", query=b"tag=x&y=%2F")
    assert isinstance(answer, Redirect)
    assert answer.status == 303
    assert answer.url == "/login?next=/notes/a%2520b%3Ftag%3Dx%26y%3D%252F"


@pytest.mark.parametrize("path", ["/api/__actions/notes/add", "/api/export"])
async def test_actions_and_endpoints_are_refused_with_401_and_json(auth: Auth, path: str) -> None:
    answer = await ask(auth, path)
    assert isinstance(answer, JSONResponse)
    assert answer.status_code == 401
    assert answer.body == b'{"ok":false,"error":"You are not signed in."}'


@pytest.mark.parametrize(
    "path",
    [
        "/login",
        "/register",
        "/docs",
        "/docs/start",
        "/about",
        "/api/__actions/login/submit",
        "/api/__actions/docs/start/vote",
    ],
)
async def test_the_ways_in_and_public_pages_are_open_with_their_actions(
    auth: Auth, path: str
) -> None:
    assert await ask(auth, path) is None


@pytest.mark.parametrize(
    "path", ["/docsx", "/loginx", "/notes/login", "/api/docs", "/", "/login.md", "/docs%2Fx"]
)
async def test_paths_that_only_look_public_are_guarded(auth: Auth, path: str) -> None:
    assert await ask(auth, path) is not None


async def test_the_root_page_can_be_public_and_opens_nothing_else(tmp_path: Path) -> None:
    async with open_auth_with_user(tmp_path, public_paths=("/",)) as auth:
        with entered(auth.handle):
            assert await ask(auth, "/") is None
            assert await ask(auth, "/api/__actions/index/vote") is None
            assert await ask(auth, "/members") is not None


async def test_paths_are_read_below_the_base_url(tmp_path: Path) -> None:
    async with open_auth_with_user(tmp_path, base_url="/app") as auth:
        with entered(auth.handle):
            assert await ask(auth, "/app/login") is None
            answer = await ask(auth, "/app/notes")
            assert isinstance(answer, Redirect)
            assert answer.url == "/app/login?next=/app/notes"


async def test_websockets_are_refused_with_401_unless_their_cookie_is_good(auth: Auth) -> None:
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
    with pytest.raises(AuthNotInstalled, match="no app is running here"):
        get_auth()


async def test_get_auth_finds_the_service_of_the_running_app(auth: Auth) -> None:
    assert get_auth() is auth.service


def test_a_user_holds_nothing_secret() -> None:
    assert [field.name for field in attrs.fields(User)] == ["id", "email", "created_at"]
