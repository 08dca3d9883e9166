"""What loaders and actions may ask of the request: each row for both."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import pytest

from fx.testing import Client, TestResponse
from tests.contract.projects import open_pages
from tests.contract.rules import rule

PAGE = """
    from starlette.datastructures import URL, Headers, QueryParams, State

    def describe(request):
        state = request.state
        return {
            "path_params": request.path_params,
            "query": [request.query_params["q"], request.query_params.getlist("q")],
            "header": request.headers["X-One"],
            "cookies": request.cookies,
            "url": str(request.url),
            "method": request.method,
            "state": [getattr(state, name, None) for name in ("visitor", "stamp", "request_id")],
            "types": [
                isinstance(request.path_params, dict),
                isinstance(request.query_params, QueryParams),
                isinstance(request.headers, Headers),
                isinstance(request.cookies, dict),
                isinstance(request.url, URL),
                isinstance(request.method, str),
                isinstance(state, State),
            ],
        }

    @server
    async def load(request):
        return describe(request)

    @action
    async def look(request):
        return describe(request)
"""
URLS = {
    "loader": "/shops/7/rooms/a%20b/c?q=1&q=%C3%A9",
    "action": "/api/__actions/shops/7/rooms/a%20b/c/look?q=1&q=%C3%A9",
}
Kind = Literal["loader", "action"]
both = pytest.mark.parametrize("kind", ["loader", "action"])


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    hooks = {"pages": ["tests.contract.hooks.note_visitor"]}
    async with open_pages(
        tmp_path,
        {"shops/[shop]/rooms/[...rest]": PAGE},
        route_middleware=hooks,
        middleware=["tests.contract.hooks.Stamp"],
    ) as opened:
        opened.cookies["c"] = "3"
        yield opened


async def ask(client: Client, kind: Kind, **headers: str) -> TestResponse:
    all_headers = {"x-one": "1", **headers}
    if kind == "action":
        return await client.post(URLS[kind], json={}, headers=all_headers)
    return await client.get(URLS[kind], headers={**all_headers, "x-fx-navigation": "1"})


def seen(response: TestResponse) -> dict[str, Any]:
    assert response.status == 200, response.text
    payload = response.json()
    found: dict[str, Any] = payload["props"]["data"] if "props" in payload else payload
    return found


@rule("request.available")
async def test_request_available_in_loaders_and_actions_alike(client: Client) -> None:
    loader, action = [seen(await ask(client, kind)) for kind in ("loader", "action")]
    assert loader.keys() == action.keys() - {"ok"}
    assert loader["types"] == action["types"] == [True] * 7


@rule("request.path_params")
@both
async def test_request_path_params_are_those_of_the_route(client: Client, kind: Kind) -> None:
    assert seen(await ask(client, kind))["path_params"] == {"shop": "7", "rest": "a b/c"}


@rule("request.query_params")
@both
async def test_request_query_params_are_those_of_the_query(client: Client, kind: Kind) -> None:
    assert seen(await ask(client, kind))["query"] == ["é", ["1", "é"]]


@rule("request.headers")
@both
async def test_request_headers_ignore_case(client: Client, kind: Kind) -> None:
    assert seen(await ask(client, kind))["header"] == "1"


@rule("request.cookies")
@both
async def test_request_cookies_are_a_dict(client: Client, kind: Kind) -> None:
    assert seen(await ask(client, kind))["cookies"]["c"] == "3"


@rule("request.url")
@both
async def test_request_url_is_the_whole_url(client: Client, kind: Kind) -> None:
    url = seen(await ask(client, kind))["url"]
    path = URLS[kind].partition("?")[0].replace("%20", " ")
    assert url == f"http://testserver{path}?q=1&q=%C3%A9"


@rule("request.method")
@both
async def test_request_method_is_the_method(client: Client, kind: Kind) -> None:
    assert seen(await ask(client, kind))["method"] == ("GET" if kind == "loader" else "POST")


@rule("request.state")
@both
async def test_request_state_carries_what_middleware_and_hooks_put_there(
    client: Client, kind: Kind
) -> None:
    state = seen(await ask(client, kind, **{"x-visitor": "Ann"}))["state"]
    assert state[:2] == ["Ann", "stamped"]


@rule("request.state")
async def test_request_state_can_be_changed_and_is_of_one_request(tmp_path: Path) -> None:
    counts = """
    @server
    async def load(request):
        before = getattr(request.state, "count", 0)
        request.state.count = before + 1
        return {"before": before, "after": request.state.count}
    """
    async with open_pages(tmp_path, counts) as client:
        pages = [await client.load_page("/") for _ in range(2)]
    assert [each.data for each in pages] == [{"before": 0, "after": 1}] * 2


@rule("request.request_id")
@both
async def test_request_request_id_is_also_in_the_response_header(
    client: Client, kind: Kind
) -> None:
    responses = [await ask(client, kind) for _ in range(2)]
    ids = [response.headers["X-Request-Id"] for response in responses]
    assert [seen(response)["state"][2] for response in responses] == ids
    assert len(set(ids)) == 2
    assert all(re.fullmatch("[0-9a-f]{32}", each) for each in ids)


@rule("request.request_id")
@both
async def test_request_request_id_is_absent_without_observability(
    tmp_path: Path, kind: Kind
) -> None:
    text = """
    @server
    async def load(request):
        return {"has": hasattr(request.state, "request_id")}

    @action
    async def look(request):
        return {"has": hasattr(request.state, "request_id")}
    """
    files = {"shops/[shop]/rooms/[...rest]": text}
    async with open_pages(tmp_path, files, observability={"enabled": False}) as client:
        response = await ask(client, kind)
    assert seen(response)["has"] is False
    assert "x-request-id" not in response.headers
