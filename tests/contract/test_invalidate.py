"""`invalidate_routes`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse, PlainTextResponse, Response

from fx.runtime import invalidate_routes
from tests.contract.projects import open_pages
from tests.contract.rules import rule

PAGE = """
    from starlette.responses import JSONResponse, Response

    @action
    async def of_dict(request):
        return invalidate_routes({"n": 1}, *(await request.json())["urls"])

    @action
    async def of_json_response(request):
        urls = (await request.json())["urls"]
        return invalidate_routes(JSONResponse({"n": 1}), *urls)

    @action
    async def of_response(request):
        response = Response('{"n": 1}', media_type="application/json")
        return invalidate_routes(response, *(await request.json())["urls"])

    @action
    async def in_two_steps(request):
        result = {"n": 1}
        invalidate_routes(result, "/a")
        invalidate_routes(result, "/b", "/a")
        return result
"""
every_kind = pytest.mark.parametrize("name", ["of_dict", "of_json_response", "of_response"])


@rule("invalidate_routes.response", "invalidate_routes.5")
@pytest.mark.parametrize(
    "response", [{"n": 1}, {}, JSONResponse({}), Response(), PlainTextResponse("x")]
)
def test_invalidate_routes_response_is_modified_in_place_and_returned(response: Any) -> None:
    def state() -> Any:
        return dict(response if isinstance(response, dict) else response.headers)

    before = state()
    assert invalidate_routes(response, "/a") is response
    after = state()
    assert before.items() < after.items()


@rule("invalidate_routes.urls")
@every_kind
async def test_invalidate_routes_urls_are_filtered_and_keep_their_order(
    tmp_path: Path, name: str
) -> None:
    urls = ["/b", "", "/a?p=1", "/b", "/a", "", "/a?p=1"]
    async with open_pages(tmp_path, PAGE) as client:
        result = await client.action("/", name, {"urls": urls})
    assert result.headers["x-fx-invalidate"] == "/b, /a?p=1, /a"


@rule("invalidate_routes.urls")
@every_kind
async def test_invalidate_routes_urls_that_are_all_empty_send_no_header(
    tmp_path: Path, name: str
) -> None:
    async with open_pages(tmp_path, PAGE) as client:
        result = await client.action("/", name, {"urls": ["", ""]})
        without = await client.action("/", name, {"urls": []})
    assert "x-fx-invalidate" not in result.headers
    assert "x-fx-invalidate" not in without.headers


@rule("invalidate_routes.1")
@every_kind
async def test_invalidate_routes_1_takes_a_dict_and_any_response(tmp_path: Path, name: str) -> None:
    async with open_pages(tmp_path, PAGE) as client:
        result = await client.action("/", name, {"urls": ["/a"]})
    assert (result.status, result.ok, result.data) == (200, True, {"n": 1})


@rule("invalidate_routes.1")
@pytest.mark.parametrize("response", [None, [], "text", ({}, 200)])
def test_invalidate_routes_1_rejects_anything_else(response: Any) -> None:
    with pytest.raises(TypeError, match="neither a dict nor a Response"):
        invalidate_routes(response, "/a")


@rule("invalidate_routes.2")
@every_kind
async def test_invalidate_routes_2_the_header_joins_the_urls_with_comma_and_space(
    tmp_path: Path, name: str
) -> None:
    async with open_pages(tmp_path, PAGE) as client:
        result = await client.action("/", name, {"urls": ["/", "/a b?q=1,2", "/é"]})
        single = await client.action("/", name, {"urls": ["/only"]})
    assert result.headers["x-fx-invalidate"] == "/, /a%20b?q=1,2, /%C3%A9"
    assert single.headers["x-fx-invalidate"] == "/only"


@rule("invalidate_routes.3")
async def test_invalidate_routes_3_the_sentinel_of_a_dict_never_reaches_the_client(
    tmp_path: Path,
) -> None:
    marked = invalidate_routes({"n": 1}, "/a", "/b")
    (sentinel,) = marked.keys() - {"n"}
    assert marked[sentinel] == ["/a", "/b"]
    async with open_pages(tmp_path, PAGE) as client:
        response = await client.post("/api/__actions/index/of_dict", json={"urls": ["/a"]})
    assert response.json() == {"ok": True, "n": 1}
    assert sentinel not in response.text


@rule("invalidate_routes.5")
@every_kind
async def test_invalidate_routes_5_can_be_the_return_value_of_an_action(
    tmp_path: Path, name: str
) -> None:
    async with open_pages(tmp_path, PAGE) as client:
        called = await client.action("/", name, {"urls": ["/x"]})
        stepwise = await client.action("/", "in_two_steps")
    assert (called.data, called.headers["x-fx-invalidate"]) == ({"n": 1}, "/x")
    assert (stepwise.data, stepwise.headers["x-fx-invalidate"]) == ({"n": 1}, "/a, /b")
