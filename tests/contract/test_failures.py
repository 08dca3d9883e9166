"""What a client gets for a failed loader or action."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fx.testing import TestResponse
from tests.contract.projects import open_pages
from tests.contract.rules import rule

Responses = dict[str, TestResponse]
RAISES = """
    @server
    async def load(request):
        raise {error}
"""
ACTS = """
    class Body:
        pass

    @action
    async def plain(request):
        raise ActionError("no")

    @action
    async def crash(request):
        return {"x": 1 / 0}
"""


@rule("errors.loader_1")
async def test_errors_loader_1_without_a_boundary_the_built_in_page_has_the_message(
    tmp_path: Path,
) -> None:
    text = RAISES.format(error='LoaderError("sold <b>out", 409)')
    async with open_pages(tmp_path, text) as client:
        response = await client.get("/")
    assert response.status == 409
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "sold &lt;b&gt;out" in response.text


@rule("errors.loader_2")
async def test_errors_loader_2_the_navigation_payload_has_the_error_and_the_boundary(
    tmp_path: Path,
) -> None:
    text = RAISES.format(error='LoaderError("gone", 410, {"id": 5})')
    layout = "@server\nasync def load(request):\n    return {'user': 'Ann'}"
    files = {"shop/index": text, "error": "", "shop/error": "", "shop/layout": layout}
    async with open_pages(tmp_path, files) as client:
        loaded = await client.load_page("/shop?x=1")
        html = await client.get("/shop?x=1")
        view = client.app.site.plans[loaded.payload["page"]["id"]].view
    expected = {
        "ok": False,
        "statusCode": 410,
        "error": "gone",
        "type": "LoaderError",
        "data": {"id": 5},
        "boundary": "pages/shop/error.fxl",
    }
    assert expected.items() <= loaded.payload.items()
    assert (loaded.status, html.status) == (410, 410)
    assert view.module == "pages/shop/error.fxl"
    assert loaded.payload["props"]["layoutData"] == {"user": "Ann"}
    assert loaded.payload["requestedPath"] == "/shop?x=1"


@rule("errors.loader_2")
async def test_errors_loader_2_without_a_boundary_it_names_none(tmp_path: Path) -> None:
    text = RAISES.format(error='LoaderError("gone", 410)')
    async with open_pages(tmp_path, text) as client:
        loaded = await client.load_page("/")
    assert loaded.status == 410
    assert loaded.payload["boundary"] is None
    assert (loaded.payload["ok"], loaded.payload["statusCode"], loaded.error) == (
        False,
        410,
        "gone",
    )


NOT_FOUND = RAISES.format(error='LoaderError("no such thing", 404)')


@rule("errors.loader_3")
@pytest.mark.parametrize(
    ("path", "boundary"),
    [
        ("/a", "error"),
        ("/shop/a", "shop/error"),
        ("/shop/deep/a", "shop/error"),
        ("/nowhere", "not-found"),
        ("/shop/deep/no/where", "shop/deep/not-found"),
    ],
)
async def test_errors_loader_3_a_404_shows_the_nearest_error_page_and_an_unknown_url_not_found(
    tmp_path: Path, path: str, boundary: str
) -> None:
    pages = dict.fromkeys(("a", "shop/a", "shop/deep/a"), NOT_FOUND)
    others = dict.fromkeys(("not-found", "error", "shop/error", "shop/deep/not-found"), "")
    async with open_pages(tmp_path, {**pages, **others}) as client:
        loaded, html = await client.load_page(path), await client.get(path)
    assert (loaded.status, html.status) == (404, 404)
    assert loaded.payload["boundary"] == f"pages/{boundary}.fxl"


@rule("errors.loader_5")
@pytest.mark.parametrize(
    ("path", "boundary"), [("/shop/a", "shop/error"), ("/shop/deep/a", "shop/deep/not-found")]
)
async def test_errors_loader_5_not_found_shows_the_nearest_not_found_page(
    tmp_path: Path, path: str, boundary: str
) -> None:
    text = "    from fx.runtime import NotFound\n" + RAISES.format(
        error='NotFound("no", {"id": 5})'
    )
    others = dict.fromkeys(("error", "shop/error", "shop/deep/not-found"), "")
    pages = {**dict.fromkeys(("shop/a", "shop/deep/a"), text), **others}
    async with open_pages(tmp_path, pages) as client:
        loaded = await client.load_page(path)
    found = loaded.payload["boundary"], loaded.payload["type"], loaded.payload["data"]
    assert (loaded.status, *found) == (404, f"pages/{boundary}.fxl", "NotFound", {"id": 5})


@pytest.mark.node
@rule("errors.loader_3")
def test_errors_loader_3_an_unknown_url_is_rendered_by_it(responses: Responses) -> None:
    assert responses["/nowhere"].status == 404
    assert "<h1>Nothing here: <!-- -->404</h1>" in responses["/nowhere"].text


@pytest.mark.node
@rule("errors.loader_4")
def test_errors_loader_4_other_exceptions_say_nothing_in_production(responses: Responses) -> None:
    response = responses["/broken/division"]
    assert response.status == 500
    assert "<h1>An unexpected error occurred.</h1><code>500 ServerError" in response.text
    assert "division by zero" not in response.text
    assert "ZeroDivisionError" not in response.text


@rule("errors.loader_4")
@pytest.mark.parametrize(
    ("mode", "message", "kind"),
    [
        ("production", "An unexpected error occurred.", "ServerError"),
        ("development", "division by zero", "ZeroDivisionError"),
    ],
)
async def test_errors_loader_4_their_own_message_and_type_is_for_development(
    tmp_path: Path, mode: Any, message: str, kind: str
) -> None:
    text = "@server\nasync def load(request):\n    return {'x': 1 / 0}"
    async with open_pages(tmp_path, {"index": text, "error": ""}, mode=mode) as client:
        loaded = await client.load_page("/")
    assert (loaded.status, loaded.error, loaded.payload["type"]) == (500, message, kind)


@rule("errors.action_1")
async def test_errors_action_1_empty_data_and_fields_are_not_sent(tmp_path: Path) -> None:
    text = "@action\nasync def act(request):\n    raise ActionError('no', 400, {}, fields={})"
    async with open_pages(tmp_path, text) as client:
        response = await client.post("/api/__actions/index/act", json={})
    assert response.json() == {"ok": False, "error": "no"}


@rule("errors.action_2")
async def test_errors_action_2_other_exceptions_say_nothing_in_production(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    unexpected = {"ok": False, "error": "An unexpected error occurred."}
    assert await _crash(tmp_path) == (500, unexpected)
    assert "ZeroDivisionError" in caplog.text
    status, body = await _crash(tmp_path, mode="development")
    assert (status, body.keys()) == (500, {"ok", "error"})
    assert "division by zero" in body["error"]


@rule("errors.action_3")
@pytest.mark.parametrize("path", ["index/missing", "nowhere/plain", "index/Body", "index/__init__"])
@pytest.mark.parametrize("accept", ["application/json", "text/html"])
async def test_errors_action_3_unknown_pages_and_actions_are_a_404_in_json(
    tmp_path: Path, path: str, accept: str
) -> None:
    async with open_pages(tmp_path, ACTS) as client:
        response = await client.post(
            f"/api/__actions/{path}", content=json.dumps({}).encode(), headers={"accept": accept}
        )
    assert (response.status, response.json()) == (404, {"ok": False, "error": "Action not found"})


async def _crash(root: Path, **options: Any) -> tuple[int, Any]:
    async with open_pages(root, ACTS, **options) as client:
        response = await client.post("/api/__actions/index/crash", json={})
    return response.status, response.json()
