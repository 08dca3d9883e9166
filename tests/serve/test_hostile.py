"""What visitors can write into a request stays data: in documents, payloads, logs and caches."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.responses import Response
from starlette.routing import Route

from fx.testing import Client, TestResponse, open_app
from fxtrio.ssr.frames import Rendered
from tests.trees import LAYOUT, page, write_tree

MARKUP = "</script><!--<script>\u2028\u2029<img src=x onerror=alert(1)>&lt;"
PAGE = """
    from fx.runtime import LoaderError

    @server
    async def load(request):
        query = request.query_params
        if "fail" in query:
            raise LoaderError(query["fail"], 409, {"quoted": query["fail"]})
        return {"quoted": query.get("q"), "user": request.cookies.get("user")}

    @action
    async def act(request):
        return await request.json()

    @action
    async def refuse(request):
        raise ActionError((await request.json())["text"], 409)
    """
WHO = """
    @server
    async def load(request):
        return {"greeting": f"Hello {request.cookies.get('user')}"}
    """


class CountingRenderer:
    """Renders a page state to the data in it, and counts how often."""

    def __init__(self) -> None:
        self.renders = 0

    async def render(self, page: int, payload: bytes) -> Rendered:
        self.renders += 1
        state = json.loads(payload)
        rendered = json.dumps([state["props"], state["layouts"]]).replace("<", "&lt;")
        return Rendered(b"", rendered.encode())


@pytest.fixture
def renderer() -> CountingRenderer:
    return CountingRenderer()


@pytest.fixture
async def client(tmp_path: Path, renderer: CountingRenderer) -> AsyncIterator[Client]:
    write_tree(
        tmp_path,
        {
            "pages/[id].fxl": page(PAGE),
            "pages/layout.fxl": page(WHO, LAYOUT),
            "pages/error.fxl": page(""),
        },
    )

    @asynccontextmanager
    async def open_renderer() -> AsyncIterator[CountingRenderer]:
        yield renderer

    options: dict[str, Any] = {"llms": True, "open_renderer": open_renderer, "mode": "production"}
    async with open_app(tmp_path, **options) as opened:
        yield opened


@pytest.mark.parametrize(
    "url",
    [
        f"/{quote(MARKUP, safe='')}",
        "/x?</script><script>alert(1)</script>",
        f"/x?q={quote(MARKUP)}",
        f"/x?fail={quote(MARKUP)}",
    ],
    ids=["path", "query", "data", "error"],
)
async def test_nothing_that_a_visitor_writes_ends_the_page_state(client: Client, url: str) -> None:
    plain, hostile = await client.get("/x"), await client.get(url)
    assert hostile.text.count("</script") == plain.text.count("</script")
    state = hostile.text.partition('id="__fx_data">')[2].partition("</script>")[0]
    assert not set("<>&\u2028\u2029") & set(state)
    assert json.loads(state)["requestedPath"] == url


async def test_what_a_form_sends_stays_data_in_the_page_that_comes_back(client: Client) -> None:
    headers = {"accept": "text/html"}
    url = "/api/__actions/x/refuse"
    plain = await client.post(url, data={"text": "x"}, headers=headers)
    hostile = await client.post(url, data={"text": MARKUP, MARKUP: "x"}, headers=headers)
    assert hostile.text.count("</script") == plain.text.count("</script")
    state = hostile.text.partition('id="__fx_data">')[2].partition("</script>")[0]
    answer = json.loads(state)["actionData"]
    assert (answer["error"], answer["values"]) == (MARKUP, {"text": MARKUP, MARKUP: "x"})


async def test_no_visitor_gets_what_was_rendered_for_another(
    client: Client, renderer: CountingRenderer
) -> None:
    async def visit(user: str) -> TestResponse:
        return await Client(client.app, cookies={"user": user}).get("/x")

    ann, bob, again = await visit("ann"), await visit("bob"), await visit("ann")
    assert renderer.renders == 2
    assert "Hello ann" in ann.text and "bob" not in ann.text
    assert "Hello bob" in bob.text and "ann" not in bob.text
    assert "Hello ann" in again.text and "bob" not in again.text
    policies = {each.headers["content-security-policy-report-only"] for each in (ann, bob, again)}
    tokens = {each.headers["set-cookie"] for each in (ann, bob)}
    assert len(policies) == 3
    assert len(tokens) == 2


async def test_no_cache_may_store_responses_that_contain_the_host(client: Client) -> None:
    headers = {"host": "evil.example", "x-forwarded-host": "worse.example"}
    listed = await client.get("/llms.txt", headers=headers)
    assert listed.headers["cache-control"] == "no-store"
    assert "worse.example" not in listed.text
    for url in ("/x", "/x/"):
        assert "evil.example" not in str((await client.get(url, headers=headers)).headers)


async def test_a_key_named_proto_is_data(client: Client) -> None:
    content = b'{"__proto__": {"admin": true}, "constructor": 1}'
    headers = {"content-type": "application/json"}
    response = await client.post("/api/__actions/x/act", content=content, headers=headers)
    assert response.json() == {"__proto__": {"admin": True}, "constructor": 1, "ok": True}


@pytest.mark.parametrize("text", ["a\nERROR forged", "a\r\nERROR forged", "a\x1b[31mERROR forged"])
async def test_one_error_of_a_loader_is_one_line_of_the_log(
    client: Client, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    caplog.set_level(logging.INFO)
    assert (await client.get(f"/x?fail={quote(text)}")).status == 409
    lines = [record.getMessage() for record in caplog.records if "forged" in record.getMessage()]
    assert lines == [f"pages/[id].fxl: {text!r} (409)"]


async def test_a_path_in_the_log_stays_on_its_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(request: object) -> Response:
        raise ValueError("a route that fails")

    write_tree(tmp_path, {"pages/index.fxl": page("")})
    async with open_app(tmp_path) as client:
        client.app.router.routes.append(Route("/files/{name}", fail))
        assert (await client.get("/files/a%0AERROR%20forged")).status == 500
    assert "GET '/files/a\\nERROR forged' failed" in caplog.text
