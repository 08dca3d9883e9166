"""Starlette's HTTPException keeps its status, detail and headers wherever it is raised."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.routing import Route

from fx.testing import Client, SocketRejected, open_app
from tests.trees import LAYOUT, page, write_tree

RAISES = """
    import trio
    from starlette.exceptions import HTTPException

    def fail(request):
        how = request.query_params.get("how", "")
        if how == "moved":
            raise HTTPException(307, headers={"Location": "/elsewhere"})
        if how == "evil":
            raise HTTPException(303, "left", headers={"Location": "javascript:alert(1)"})
        if how == "structured":
            raise HTTPException(422, ["a", "b"])
        if how == "framed":
            raise HTTPException(418, "a teapot", {"Content-Length": "3", "content-type": "x/y"})
        headers = {"X-Pot": "tea", "Set-Cookie": "pot=1"}
        raise HTTPException(418, "a teapot", headers=headers)
    """
PAGE = """
    from raising_http import fail

    @server
    async def load(request):
        fail(request)

    @action
    async def brew(request):
        fail(request)

    def to_markdown(ctx):
        fail(ctx.request)

    async def websocket(ws):
        await ws.accept()
    """
NURSERY = """
    import trio
    from raising_http import fail

    @server
    async def load(request):
        async def child():
            fail(request)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(child)
    """
ENDPOINT = """
    from raising_http import fail

    async def get(request):
        fail(request)
    """
HOOK = """
    from raising_http import fail

    async def keep(connection):
        if connection.query_params.get("by") == "hook":
            fail(connection)
    """
ERROR = "export default function Oops({ error }) { return <p>{error.message}</p>; }\n"


async def raising(request: Request) -> None:
    from starlette.exceptions import HTTPException

    raise HTTPException(418, "a teapot", headers={"X-Pot": "tea", "Set-Cookie": "pot=1"})


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    write_tree(
        tmp_path,
        {
            "raising_http.py": RAISES,
            "keeping_http.py": HOOK,
            "pages/layout.fxl": LAYOUT,
            "pages/error.fxl": ERROR,
            "pages/index.fxl": page(PAGE),
            "pages/nursery.fxl": page(NURSERY),
            "pages/waits/index.fxl": page(NURSERY),
            "pages/waits/loading.fxl": LAYOUT,
            "pages/plain.fxl": page(""),
            "pages/api/pot.py": ENDPOINT,
        },
    )
    hooks = ["keeping_http.keep"]
    async with open_app(
        tmp_path,
        mode="production",
        llms={"enabled": True},
        route_middleware={"pages": hooks, "apis": hooks},
    ) as opened:
        opened.app.router.routes.append(Route("/raw", raising))
        yield opened


@pytest.mark.parametrize(
    ("method", "url", "navigation"),
    [
        ("GET", "/", False),
        ("GET", "/", True),
        ("GET", "/nursery", False),
        ("GET", "/waits", False),
        ("GET", "/index.md", False),
        ("GET", "/api/pot", False),
        ("GET", "/raw", False),
        ("GET", "/plain?by=hook", False),
        ("GET", "/plain?by=hook", True),
        ("GET", "/plain.md?by=hook", False),
        ("GET", "/api/pot?by=hook", False),
        ("POST", "/api/__actions/index/brew", False),
    ],
)
async def test_status_detail_and_headers_are_those_of_the_exception(
    client: Client, method: str, url: str, navigation: bool, caplog: pytest.LogCaptureFixture
) -> None:
    headers = {"x-fx-navigation": "1"} if navigation else {}
    response = await client.request(method, url, headers=headers)
    assert response.status == 418
    assert response.headers["x-pot"] == "tea"
    assert "pot=1" in response.headers.getlist("set-cookie")
    assert "a teapot" in response.text
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_a_location_makes_it_a_redirect(client: Client) -> None:
    for url in ("/?how=moved", "/api/pot?how=moved", "/plain?by=hook&how=moved"):
        response = await client.get(url)
        assert (response.status, response.headers["location"]) == (307, "/elsewhere")
    navigated = await client.get("/?how=moved", headers={"x-fx-navigation": "1"})
    assert navigated.json() == {"ok": True, "redirect": "/elsewhere"}
    called = await client.post("/api/__actions/index/brew?how=moved", json={})
    assert called.json() == {"ok": True, "redirect": "/elsewhere"}


async def test_a_location_that_is_not_a_page_is_not_sent(client: Client) -> None:
    response = await client.get("/?how=evil")
    assert response.status == 303
    assert "location" not in response.headers


async def test_a_detail_that_is_no_text_is_the_data_of_the_error(client: Client) -> None:
    response = await client.post("/api/__actions/index/brew?how=structured", json={})
    assert response.status == 422
    assert response.json()["data"] == {"detail": ["a", "b"]}


async def test_type_and_length_of_the_answer_are_its_own(client: Client) -> None:
    response = await client.get("/api/pot?how=framed")
    assert response.headers["content-type"] == "application/json"
    assert response.json() == {"ok": False, "error": "a teapot"}


async def test_a_hook_rejects_a_websocket_with_it(client: Client) -> None:
    with pytest.raises(SocketRejected, match="418"):
        async with client.websocket("/?by=hook"):
            raise AssertionError("it was let in")
