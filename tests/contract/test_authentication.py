"""Proof against cross-site requests, users of WebSockets, guards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fx.testing import Client, SocketClosed, SocketRejected
from tests.contract.projects import open_pages
from tests.contract.rules import rule
from tests.contract.test_handshake import CHEAP, EMAIL, PASSWORD, log_in, queries

BARE = {"sec-fetch-site": ""}
"""What a client sends that is no browser: nothing about where it comes from."""

SAVE = """
    @action
    async def save(request):
        request.app.state.saved += 1
        return {"saved": request.app.state.saved}

    async def websocket(ws):
        await ws.accept()
        await ws.send_text("open")
"""


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with open_pages(tmp_path, SAVE) as opened:
        opened.app.state.saved = 0
        yield opened


async def save(client: Client, headers: dict[str, str], **options: Any) -> int:
    url = f"{client.base_url}/api/__actions/index/save"
    options.setdefault("json", {})
    return (await client.post(url, headers=headers, **options)).status


@rule("authentication.1")
@pytest.mark.parametrize("headers", [BARE, {"sec-fetch-site": "cross-site"}])
async def test_authentication_1_actions_are_protected_without_any_setting(
    client: Client, headers: dict[str, str]
) -> None:
    response = await client.post("/api/__actions/index/save", json={}, headers=headers)
    assert (response.status, response.json()["ok"]) == (403, False)
    assert response.json()["error"].startswith("CSRF check failed")
    assert client.app.state.saved == 0


@rule("authentication.2")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({**BARE, "origin": "http://testserver"}, 200),
        ({**BARE, "origin": "http://testserver:80"}, 200),
        ({**BARE, "origin": "http://testserver:8080"}, 403),
        ({**BARE, "origin": "http://evil.test"}, 403),
        ({**BARE, "origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site", "origin": "http://testserver"}, 403),
    ],
)
async def test_authentication_2_browsers_pass_by_where_they_come_from(
    client: Client, headers: dict[str, str], status: int
) -> None:
    assert await save(client, headers) == status
    assert client.app.state.saved == (status == 200)


@rule("authentication.2b")
async def test_authentication_2b_other_clients_send_the_token_of_the_cookie_back(
    client: Client,
) -> None:
    await client.get("/")
    token = client.cookies["fx-csrf"]
    nonce, _, signature = token.partition(".")
    assert nonce and signature
    form = "application/x-www-form-urlencoded"
    assert await save(client, {**BARE, "x-csrf-token": token}) == 200
    assert await save(client, BARE, json=None, data={"_csrf_token": token}) == 200
    assert await save(client, {**BARE, "content-type": form}) == 403
    assert await save(client, {**BARE, "x-csrf-token": f"{nonce}.{'0' * len(signature)}"}) == 403
    client.cookies.clear()
    assert await save(client, {**BARE, "x-csrf-token": token}) == 403


@rule("authentication.2b")
async def test_authentication_2b_over_https_the_cookie_is_bound_to_the_host(
    client: Client,
) -> None:
    secure = Client(client.app, scheme="https")
    page = await secure.get("/")
    assert page.headers["set-cookie"].startswith("__Host-fx-csrf=")
    assert "Secure" in page.headers["set-cookie"]
    token = secure.cookies["__Host-fx-csrf"]
    assert await save(secure, {**BARE, "x-csrf-token": token}) == 200
    plain = Client(client.app, cookies={"fx-csrf": token}, scheme="https")
    assert await save(plain, {**BARE, "x-csrf-token": token}) == 403


CACHED = """
    @server
    async def load(request):
        request.state.response.headers["cache-control"] = "{policy}"
        return {{}}
"""


@rule("authentication.2c")
@pytest.mark.parametrize("base", ["", "/app"])
async def test_authentication_2c_pages_and_an_endpoint_give_the_cookie(
    tmp_path: Path, base: str
) -> None:
    fails = "@server\nasync def load(request):\n    raise LoaderError('x')"
    files = {"index": SAVE, "shop/index": "", "fails": fails, "error": ""}
    async with open_pages(tmp_path, files, base_url=base) as client:
        client.app.state.saved = 0
        for path in (base or "/", f"{base}/shop", f"{base}/fails", f"{base}/api/__csrf"):
            visitor = Client(client.app)
            await visitor.get(path)
            assert "fx-csrf" in visitor.cookies, path
        answer = await client.get(f"{base}/api/__csrf")
        assert answer.json() == {"token": client.cookies["fx-csrf"]}
        assert await save(client, {**BARE, "x-csrf-token": answer.json()["token"]}) == 200


@rule("authentication.2c")
@pytest.mark.parametrize(
    ("policy", "has_cookie"),
    [
        ("public, max-age=60", False),
        ("max-age=60", False),
        ("s-maxage=60", False),
        ("private, max-age=60", True),
        ("No-Store", True),
    ],
)
async def test_authentication_2c_pages_that_shared_caches_may_keep_have_no_cookie(
    tmp_path: Path, policy: str, has_cookie: bool
) -> None:
    async with open_pages(tmp_path, CACHED.format(policy=policy)) as client:
        response = await client.get("/")
    assert response.headers["cache-control"] == policy
    assert ("set-cookie" in response.headers) is has_cookie


@rule("authentication.2d")
@pytest.mark.parametrize(
    ("csrf", "status"),
    [
        (False, 200),
        (True, 403),
        ({"exempt_paths": ["/api/__actions/index"]}, 200),
        ({"exempt_paths": ["/api"]}, 200),
        ({"exempt_paths": ["/api/__actions/ind"]}, 403),
        ({"exempt_paths": ["/other"]}, 403),
    ],
)
async def test_authentication_2d_settings_switch_the_protection_off(
    tmp_path: Path, csrf: Any, status: int
) -> None:
    async with open_pages(tmp_path, SAVE, csrf=csrf) as client:
        client.app.state.saved = 0
        assert await save(client, {"sec-fetch-site": "cross-site"}) == status


SOCKETS = """
    from fx.realtime import authenticate_websocket, origin_allowed

    @server
    async def load(request):
        return {"user": getattr(request.state.user, "email", None)}

    def to_markdown(ctx):
        return f"user: {getattr(ctx.request.state.user, 'email', None)}"

    async def websocket(ws):
        await ws.accept()
        if "ask" in ws.query_params:
            user = await authenticate_websocket(ws)
            if user is None:
                await ws.close(4401)
                return
            await ws.send_text(user.email)
        elif "origin" in ws.query_params:
            await ws.send_json(origin_allowed(ws, ["http://testserver"]))
        else:
            await ws.send_json(hasattr(ws.state, "user"))
"""


@pytest.fixture
async def members(tmp_path: Path) -> AsyncIterator[Client]:
    """An app with the auth plugin and one user, who is not signed in yet."""
    plugins = [{"name": "auth", "settings": {"argon2": CHEAP}}]
    async with open_pages(tmp_path, SOCKETS, plugins=plugins, llms=True) as client:
        await client.app.state.fx.plugins["auth"].add_user(EMAIL, PASSWORD)
        yield client


@rule("authentication.3")
async def test_authentication_3_the_middleware_does_nothing_for_websockets(
    members: Client,
) -> None:
    await log_in(members)
    assert (await members.load_page("/")).data == {"user": EMAIL}
    before = queries(members)
    async with members.websocket("/") as socket:
        assert await socket.receive_json() is False
    assert queries(members) == before


@rule("authentication.3b")
async def test_authentication_3b_a_handler_asks_and_closes_with_4401(members: Client) -> None:
    async with members.websocket("/?ask") as socket:
        with pytest.raises(SocketClosed) as closed:
            await socket.receive()
    assert closed.value.code == 4401
    await log_in(members)
    async with members.websocket("/?ask") as socket:
        assert await socket.receive() == EMAIL


@rule("authentication.4")
async def test_authentication_4_websockets_need_no_proof_but_can_look_at_the_origin(
    members: Client,
) -> None:
    foreign = {"sec-fetch-site": "cross-site", "origin": "http://evil.test"}
    async with members.websocket("/", headers=foreign) as socket:
        assert await socket.receive_json() is False  # it is open
    for headers, allowed in ((foreign, False), ({"origin": "http://testserver"}, True)):
        async with members.websocket("/?origin", headers=headers) as socket:
            assert await socket.receive_json() is allowed


@rule("authentication.5")
async def test_authentication_5_loaders_and_markdown_run_for_everybody(members: Client) -> None:
    assert (await members.load_page("/")).data == {"user": None}
    assert (await members.get("/index.md")).text == "user: None"


GUARDED = """
    from fx.runtime import redirect

    @server
    async def load(request):
        request.app.state.ran.append("loader")
        return {"secret": "pages"}

    @action
    async def save(request):
        request.app.state.ran.append("action")
        return {"secret": "actions"}

    def to_markdown(ctx):
        ctx.request.app.state.ran.append("markdown")
        return "secret"

    async def websocket(ws):
        ws.app.state.ran.append("websocket")
        await ws.accept()
        await ws.send_text("secret")
"""
FORMS = {
    "html": ("GET", "/{}", {}),
    "head": ("HEAD", "/{}", {}),
    "navigation": ("GET", "/{}", {"x-fx-navigation": "1"}),
    "markdown": ("GET", "/{}.md", {}),
    "accept": ("GET", "/{}", {"accept": "text/markdown"}),
    "accept_navigation": ("GET", "/{}", {"accept": "text/markdown", "x-fx-navigation": "1"}),
    "action": ("POST", "/api/__actions/{}/save", {}),
    "form": (
        "POST",
        "/api/__actions/{}/save",
        {"accept": "text/html", "content-type": "application/x-www-form-urlencoded"},
    ),
}


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[Client]:
    """A page whose only guard is one of `routeMiddleware.pages`; `/slow` has a loading file."""
    tree = {"shops/[id]": GUARDED, "slow/index": GUARDED, "slow/loading": "", "layout": LAYOUT}
    files = {**tree, "file": GUARDED, "pages/file.md": "secret"}
    hooks = {"pages": ["tests.contract.hooks.members_only"]}
    async with open_pages(tmp_path, files, llms=True, route_middleware=hooks) as client:
        client.app.state.ran = []
        yield client


LAYOUT = """
    @server
    async def load(request):
        request.app.state.ran.append("layout")
        return {"secret": "layouts"}
"""
each_page = pytest.mark.parametrize("page", ["shops/7", "slow", "file"])


@rule("authentication.5b")
@each_page
@pytest.mark.parametrize("form", FORMS)
async def test_authentication_5b_a_guard_of_a_page_holds_for_each_of_its_forms(
    guarded: Client, page: str, form: str
) -> None:
    method, path, headers = FORMS[form]
    rejected = await guarded.request(method, path.format(page), headers=headers)
    assert (rejected.status, guarded.app.state.ran) == (403, [])
    assert "secret" not in rejected.text
    guarded.cookies["member"] = "yes"
    allowed = await guarded.request(method, path.format(page), headers=headers)
    assert allowed.status in (200, 303)
    assert guarded.app.state.ran or page == "file"


@rule("authentication.5b")
@each_page
async def test_authentication_5b_a_guard_of_a_page_holds_for_its_websocket(
    guarded: Client, page: str
) -> None:
    with pytest.raises(SocketRejected) as rejected:
        async with guarded.websocket(f"/{page}"):
            raise AssertionError("must not open")
    assert (rejected.value.status, guarded.app.state.ran) == (403, [])
    guarded.cookies["member"] = "yes"
    async with guarded.websocket(f"/{page}") as socket:
        assert await socket.receive() == "secret"
