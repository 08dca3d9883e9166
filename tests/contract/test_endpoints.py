"""The endpoints, with and without a base URL."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from trio_websocket import WebSocketConnection

from fx.testing import SocketRejected, TestResponse
from tests.contract.llms import Renders, open_llms
from tests.contract.projects import open_pages
from tests.contract.rules import rule
from tests.contract.servers import Observed, open_socket, serve_with_hypercorn

Responses = dict[str, TestResponse]
based = pytest.mark.parametrize("base", ["", "/app", "/deep/app"])
PAGE = """
    from pydantic import BaseModel

    class Entry(BaseModel):
        count: int

    @server
    async def load(request):
        return {"path": request.url.path, "params": request.path_params}

    @action
    async def raw(request):
        body = await request.body()
        return invalidate_routes({"size": len(body), "params": request.path_params}, "/x")

    @action
    async def typed(request, entry: Entry):
        return {"count": entry.count}

    @action
    async def refuse(request):
        raise ActionError("no", 409)

    async def websocket(ws):
        await ws.accept()
        await ws.send_json(ws.path_params)

    def to_markdown(ctx):
        return f"# {ctx.path}"
"""
FILES = {"index": PAGE, "shops/[id]": PAGE, "shops/[id]/rooms/[...rest]": PAGE}


@rule("endpoints.action")
@based
async def test_endpoints_action_reads_the_body_itself_or_gets_a_model(
    tmp_path: Path, base: str
) -> None:
    url = f"{base}/api/__actions/shops/7"
    async with open_pages(tmp_path, FILES, base_url=base) as client:
        raw = await client.post(f"{url}/raw", content=b"\x00\xff no JSON")
        typed = await client.post(f"{url}/typed", json={"count": "5"})
        wrong = await client.post(f"{url}/typed", json={"count": "x"})
        rejected = await client.post(f"{url}/refuse", json={})
    assert raw.json() == {"ok": True, "size": 10, "params": {"id": "7"}}
    assert raw.headers["x-fx-invalidate"] == "/x"
    assert "x-fx-invalidate" not in typed.headers
    assert typed.json() == {"ok": True, "count": 5}
    assert (wrong.status, list(wrong.json()["fields"])) == (422, ["count"])
    assert (rejected.status, rejected.json()) == (409, {"ok": False, "error": "no"})


@rule("endpoints.action")
@pytest.mark.parametrize("url", ["/api/__actions/index/raw", "/other/api/__actions/index/raw"])
async def test_endpoints_action_is_below_the_base_url_only(tmp_path: Path, url: str) -> None:
    async with open_pages(tmp_path, FILES, base_url="/app") as client:
        assert (await client.post(url, json={})).status == 404


@rule("endpoints.websocket")
@based
async def test_endpoints_websocket_is_at_the_path_of_the_page(tmp_path: Path, base: str) -> None:
    async with open_pages(tmp_path, FILES, base_url=base) as client:
        for path, params in ((base or "/", {}), (f"{base}/shops/7", {"id": "7"})):
            async with client.websocket(path) as socket:
                assert await socket.receive_json() == params
        with pytest.raises(SocketRejected) as rejected:
            async with client.websocket(f"{base}/nowhere"):
                raise AssertionError("must not open")
    assert rejected.value.status == 404


async def _hear(member: WebSocketConnection, text: str) -> None:
    """Read messages until ``text`` has been said."""
    while json.loads(await member.get_message()) != {"said": text}:
        pass


@pytest.mark.node
@rule("endpoints.websocket")
async def test_endpoints_websocket_behind_hypercorn_carries_published_messages(tour: Path) -> None:
    long = "é" * 30_000
    async with serve_with_hypercorn(tour) as place:
        async with open_socket(place, "/") as one, open_socket(place, "/") as other:
            for member, text in ((one, "hello"), (other, long)):
                await member.send_message(text)
                await _hear(member, text)
            await _hear(one, long)


@pytest.mark.node
@rule("endpoints.websocket")
def test_endpoints_websocket_behind_fx_serve_carries_published_messages(workers: Observed) -> None:
    assert isinstance(workers.heard, str)
    assert json.loads(workers.heard) == {"said": "hello"}


FRAMES = """
    async def websocket(ws):
        await ws.accept()
        await ws.send_text(await ws.receive_text())
        await ws.send_bytes(await ws.receive_bytes())
        await ws.send_json(await ws.receive_json())
"""


@rule("endpoints.websocket")
async def test_endpoints_websocket_takes_text_binary_and_json(tmp_path: Path) -> None:
    async with open_pages(tmp_path, FRAMES) as client:
        async with client.websocket("/") as socket:
            await socket.send_text("text")
            await socket.send_bytes(b"\x00")
            await socket.send_json({"a": [1]})
            assert await socket.receive() == "text"
            assert await socket.receive() == b"\x00"
            assert await socket.receive_json() == {"a": [1]}


@rule("endpoints.llms_txt")
@based
async def test_endpoints_llms_txt_is_the_hooks_text_or_the_default(
    tmp_path: Path, base: str
) -> None:
    hook = "def llms_txt(ctx):\n    return '# Mine'"
    async with open_llms(tmp_path / "a", {"shop": "", "pages/llms.py": hook}, base_url=base) as one:
        mine = await one.get(f"{base}/llms.txt")
    async with open_llms(tmp_path / "b", {"shop": ""}, base_url=base) as other:
        default = await other.get(f"{base}/llms.txt")
        outside = await other.get("/llms.txt")
    assert (mine.status, mine.text) == (200, "# Mine")
    assert default.text.endswith(f"- [Shop](http://testserver{base}/shop.md)\n")
    assert outside.status == (404 if base else 200)


@rule("endpoints.markdown")
@based
async def test_endpoints_markdown_is_the_first_source_that_does_not_decline_framed(
    tmp_path: Path, base: str
) -> None:
    files = {
        "index": "def to_markdown(ctx):\n    return 'page'",
        "shops/[id]": "def to_markdown(ctx):\n    return None",
        "pages/llms.py": (
            "def to_markdown(ctx):\n    return 'folder'\n\n"
            "def wrap_markdown(ctx, markdown):\n    return f'<{markdown}>'"
        ),
    }
    async with open_llms(tmp_path, files, base_url=base) as client:
        assert (await client.get(f"{base}/index.md")).text == "<page>"
        assert (await client.get(f"{base}/shops/7.md")).text == "<folder>"
        if base:
            assert (await client.get("/index.md")).status == 404


@pytest.mark.node
@rule("endpoints.markdown")
def test_endpoints_markdown_is_converted_from_html_in_the_end(responses: Responses) -> None:
    note = responses["/notes/5.md"]
    assert note.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "# Note 5\n\nA **strong** word" in note.text
    assert note.text.endswith("\n--\n/notes/5\n")
    assert "# Hello Ann" in responses["/index.md?name=Ann"].text


@rule("endpoints.page")
@based
async def test_endpoints_page_is_html_or_its_payload_at_its_own_path(
    tmp_path: Path, base: str
) -> None:
    async with open_pages(tmp_path, FILES, base_url=base) as client:
        html = await client.get(f"{base}/shops/7")
        payload = await client.get(f"{base}/shops/7", headers={"x-fx-navigation": "1"})
    assert html.headers["content-type"] == "text/html; charset=utf-8"
    assert payload.headers["content-type"] == "application/vnd.fx.page+json"
    data = {"path": f"{base}/shops/7", "params": {"id": "7"}}
    assert payload.json()["props"]["data"] == data
    assert json.dumps(data, separators=(",", ":")) in html.text
    for response in (html, payload):
        assert "x-fx-navigation" in response.headers["vary"]


@pytest.mark.node
@rule("endpoints.page")
def test_endpoints_page_is_rendered_on_the_server(responses: Responses) -> None:
    assert "<p>plain</p>" in responses["/head/plain"].text


@rule("endpoints.note_1")
@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("shops/7/raw", 200),
        ("shops/7/rooms/a/b/raw", 200),
        ("shops/7/rooms/a/b/typed", 422),
        ("shops/raw", 404),
        ("shops/7/load", 404),
        ("shops/7/missing", 404),
    ],
)
async def test_endpoints_note_1_the_segments_name_page_and_function(
    tmp_path: Path, path: str, status: int
) -> None:
    async with open_pages(tmp_path, FILES) as client:
        assert (await client.post(f"/api/__actions/{path}", json={})).status == status


@rule("endpoints.note_1b")
@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("index", {}),
        ("shops/7", {"id": "7"}),
        ("shops/a%20b", {"id": "a b"}),
        ("shops/index", {"id": "index"}),
        ("shops/7/rooms/x/y", {"id": "7", "rest": "x/y"}),
    ],
)
async def test_endpoints_note_1b_the_page_path_is_the_concrete_path(
    tmp_path: Path, path: str, params: dict[str, str]
) -> None:
    async with open_pages(tmp_path, FILES) as client:
        response = await client.post(f"/api/__actions/{path}/raw", json={})
    assert response.json()["params"] == params


COUNTING = """
    @server
    async def load(request):
        request.app.state.runs.append("{name}")
        return {{}}

    @action
    async def act(request):
        return {{}}
"""


@rule("endpoints.note_2")
async def test_endpoints_note_2_a_get_runs_the_loaders_of_page_and_layouts(tmp_path: Path) -> None:
    layouts = {
        name: COUNTING.format(name=name).partition("    @action")[0]
        for name in ("layout", "shop/layout", "other/layout")
    }
    files = {**layouts, "shop/index": COUNTING.format(name="page")}
    async with open_pages(tmp_path, files) as client:
        runs = client.app.state.runs = []
        for headers in ({}, {"x-fx-navigation": "1"}):
            runs.clear()
            assert (await client.get("/shop", headers=headers)).status == 200
            assert sorted(runs) == ["layout", "page", "shop/layout"]
        runs.clear()
        assert (await client.post("/shop", json={})).status == 405
        assert (await client.action("/shop", "act")).ok
        assert runs == []


@rule("endpoints.note_2b")
async def test_endpoints_note_2b_the_navigation_payload_needs_no_render(tmp_path: Path) -> None:
    renders = Renders()
    files = {"shops/[id]": PAGE, "layout": "@server\nasync def load(request):\n    return {'n': 1}"}
    async with open_llms(tmp_path, files, renders) as client:
        loaded = await client.load_page("/shops/7?q=1")
        assert renders.count == 0
        await client.get("/shops/7?q=1")
        assert renders.count == 1
    payload = loaded.payload
    names = ("ok", "routePath", "requestedPath", "statusCode", "page", "props", "head", "ttl")
    assert set(names) <= payload.keys()
    assert (payload["ok"], payload["statusCode"], payload["ttl"]) == (True, 200, 0)
    assert (payload["routePath"], payload["requestedPath"]) == ("/shops/[id]", "/shops/7?q=1")
    assert payload["props"]["layoutData"] == {"n": 1}


@rule("endpoints.note_3")
@based
@pytest.mark.parametrize("query", ["", "?a=1&b=%20"])
async def test_endpoints_note_3_without_a_source_the_client_is_redirected_to_the_page(
    tmp_path: Path, base: str, query: str
) -> None:
    llms = {"enabled": True, "auto_convert": False}
    files = {"index": "", "shops/[id]": "def to_markdown(ctx):\n    return None"}
    async with open_llms(tmp_path, files, base_url=base, llms=llms) as client:
        root = await client.get(f"{base}/index.md{query}")
        shop = await client.get(f"{base}/shops/7.md{query}")
        followed = await client.get(shop.headers["location"])
    assert (root.status, root.headers["location"]) == (307, f"{base}/{query}")
    assert (shop.status, shop.headers["location"]) == (307, f"{base}/shops/7{query}")
    assert followed.status == 200
