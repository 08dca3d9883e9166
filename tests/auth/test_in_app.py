"""The auth plugin in a whole app: guards, actions, WebSockets, CSRF, shutdown."""

from __future__ import annotations

import traceback
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fx.testing import Client, SocketClosed, SocketRejected, open_app
from fxtrio.plugins.auth import AuthService
from fxtrio.realtime import Authenticator
from tests.auth.harness import EMAIL, KEY, PASSWORD
from tests.trees import page, write_tree

CHEAP = {"timeCost": 1, "memoryKib": 8, "parallelism": 1}
GUARD = "fxtrio.plugins.auth.require_user"
NOTES = """
    from fx.realtime import authenticate_websocket

    @server
    async def load(request):
        return {"message": request.state.user.email}

    @action
    async def add(request):
        return {"by": request.state.user.email}

    async def websocket(ws):
        user = await authenticate_websocket(ws)
        await ws.accept()
        await ws.send_text(user.email)
    """
CHAT = """
    from fx.realtime import authenticate_websocket

    async def websocket(ws):
        if await authenticate_websocket(ws) is None:
            await ws.accept()
            await ws.close(4401)
            return
        await ws.accept()
    """
LOGIN = """
    @server
    async def load(request):
        return {"message": request.query_params.get("error", "")}

    @action
    async def help(request):
        return {"sent": True}
    """
LLMS = """
    def to_markdown(ctx):
        return f"# Notes of {ctx.request.state.user.email}"
    """


def project(root: Path) -> Path:
    return write_tree(
        root,
        {
            "pages/notes.fxl": page(NOTES),
            "pages/chat.fxl": page(CHAT),
            "pages/login.fxl": page(LOGIN),
            "pages/llms.py": LLMS,
        },
    )


def settings(*, guarded: bool) -> dict[str, Any]:
    guards = [GUARD] if guarded else []
    return {
        "plugins": [{"name": "auth", "settings": {"argon2": CHEAP}}],
        "secret_keys": (KEY,),
        "llms": True,
        "route_middleware": {"pages": guards, "actions": guards},
    }


def service(client: Client) -> AuthService:
    found: AuthService = client.app.state.fx.plugins["auth"]
    return found


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[Client]:
    async with open_app(project(tmp_path), **settings(guarded=True)) as client:
        await service(client).add_user(EMAIL, PASSWORD)
        yield client


@pytest.fixture
async def open_client(tmp_path: Path) -> AsyncIterator[Client]:
    async with open_app(project(tmp_path), **settings(guarded=False)) as client:
        await service(client).add_user(EMAIL, PASSWORD)
        yield client


async def log_in(client: Client, **headers: str) -> int:
    body = {"email": EMAIL, "password": PASSWORD}
    return (await client.post("/api/__auth/login", json=body, headers=headers)).status


async def test_a_guarded_page_is_closed_in_every_form_and_opens_after_the_login(
    guarded: Client,
) -> None:
    html = await guarded.get("/notes")
    assert (html.status, html.headers["location"]) == (303, "/login?next=/notes")
    navigation = await guarded.get("/notes", headers={"x-fx-navigation": "1"})
    assert "/login?next=/notes" in navigation.text
    assert (await guarded.get("/notes.md")).status == 401
    assert (await guarded.action("/notes", "add")).status == 401
    with pytest.raises(SocketRejected) as rejected:
        async with guarded.websocket("/notes"):
            raise AssertionError("must not open")
    assert rejected.value.status == 401

    assert await log_in(guarded) == 200

    assert (await guarded.load_page("/notes")).data == {"message": EMAIL}
    assert (await guarded.get("/notes")).status == 200
    assert (await guarded.get("/notes.md")).text == f"# Notes of {EMAIL}"
    assert (await guarded.action("/notes", "add")).data == {"by": EMAIL}
    async with guarded.websocket("/notes") as socket:
        assert await socket.receive() == EMAIL


async def test_an_agent_gets_a_text_that_asks_it_to_sign_in(guarded: Client) -> None:
    named = await guarded.get("/notes.md")
    negotiated = await guarded.get("/notes", headers={"accept": "text/markdown"})
    for answer in (named, negotiated):
        assert (answer.status, answer.text) == (401, "# 401\n\nYou are not signed in.\n")
        assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
        assert "location" not in answer.headers


async def test_llms_txt_lists_the_pages_that_the_visitor_may_see(guarded: Client) -> None:
    assert "/login.md" in (await guarded.get("/llms.txt")).text
    assert "/notes" not in (await guarded.get("/llms.txt")).text
    assert await log_in(guarded) == 200
    assert "/notes.md" in (await guarded.get("/llms.txt")).text


async def test_the_login_page_and_its_actions_stay_open(guarded: Client) -> None:
    assert (await guarded.get("/login")).status == 200
    assert (await guarded.action("/login", "help")).data == {"sent": True}


async def test_a_socket_without_a_user_can_be_closed_with_4401_and_costs_no_query(
    open_client: Client,
) -> None:
    storage = service(open_client).storage
    before = storage.statistics().queries
    async with open_client.websocket("/chat") as socket:
        with pytest.raises(SocketClosed) as closed:
            await socket.receive()
    assert closed.value.code == 4401
    assert storage.statistics().queries == before


async def test_the_service_is_what_authenticate_websocket_asks(open_client: Client) -> None:
    assert isinstance(service(open_client), Authenticator)


async def test_a_login_from_another_site_is_rejected(open_client: Client) -> None:
    assert await log_in(open_client, **{"sec-fetch-site": "cross-site"}) == 403
    assert open_client.cookies == {}


async def test_csrf_tokens_are_valid_for_the_session_they_were_issued_to(
    open_client: Client,
) -> None:
    bare = {"sec-fetch-site": ""}

    async def call(token: str) -> int:
        headers = {**bare, "x-csrf-token": token}
        return (await open_client.action("/login", "help", headers=headers)).status

    before = (await open_client.get("/api/__csrf")).json()["token"]
    assert await call(before) == 200
    assert await log_in(open_client) == 200
    assert await call(before) == 403
    after = (await open_client.get("/api/__csrf")).json()["token"]
    assert await call(after) == 200


async def test_every_answer_of_the_endpoints_has_the_security_headers(open_client: Client) -> None:
    response = await open_client.get("/api/__auth/session")
    assert response.json() == {"ok": True, "user": None}
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["x-request-id"]


async def test_over_https_the_cookie_is_bound_to_the_host(open_client: Client) -> None:
    browser = Client(open_client.app, scheme="https")
    assert await log_in(browser) == 200
    assert "__Host-sid" in browser.cookies
    assert (await browser.load_page("/notes")).data == {"message": EMAIL}


async def test_below_a_base_url_everything_works_the_same(tmp_path: Path) -> None:
    options = {**settings(guarded=True), "base_url": "/app"}
    async with open_app(project(tmp_path), **options) as client:
        await service(client).add_user(EMAIL, PASSWORD)
        location = (await client.get("/app/notes")).headers["location"]
        assert location == "/app/login?next=/app/notes"
        body = {"email": EMAIL, "password": PASSWORD}
        assert (await client.post("/app/api/__auth/login", json=body)).status == 200
        assert (await client.load_page("/app/notes")).data == {"message": EMAIL}


async def test_the_database_is_closed_with_the_app(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    async with open_app(project(tmp_path), data=folder, **settings(guarded=False)) as client:
        await service(client).add_user(EMAIL, PASSWORD)
    assert [path.name for path in folder.iterdir()] == ["auth.sqlite3"]


BORROWER = """
    from contextlib import asynccontextmanager

    from fxtrio.plugins import Plugin

    class Database:
        async def authenticate(self, connection):
            return "whoever the database says"

    class DatabasePlugin(Plugin):
        name = "database"

        @asynccontextmanager
        async def open(self, app):
            service = Database()
            if {registers}:
                with app.authenticated_by(service):
                    yield service
            else:
                yield service
    """


@pytest.mark.parametrize("registers", [False, True])
async def test_only_what_a_plugin_registers_says_who_connections_belong_to(
    tmp_path: Path, registers: bool
) -> None:
    project(tmp_path)
    write_tree(tmp_path, {f"database_{registers}.py": BORROWER.format(registers=registers)})
    auth = settings(guarded=False)
    auth["plugins"].insert(0, {"name": f"database_{registers}:DatabasePlugin"})
    if registers:
        with pytest.raises(BaseException) as failed:  # in a group, or alone
            async with open_app(tmp_path, **auth):
                raise AssertionError("must not start")
        text = "".join(traceback.format_exception(failed.value))
        assert "AuthService and Database both authenticate visitors" in text
        return
    async with open_app(tmp_path, **auth) as client:
        await service(client).add_user(EMAIL, PASSWORD)
        assert await log_in(client) == 200
        async with client.websocket("/notes") as socket:
            assert await socket.receive() == EMAIL
