"""Actions of modules: called from anywhere, and treated as those of pages are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fx.testing import Client, open_app
from tests.auth.harness import KEY
from tests.trees import page, write_tree

INVOICES = """
    from dataclasses import dataclass

    from fx.runtime import ActionError, action, invalidate_routes, redirect, route_of

    @dataclass
    class Delete:
        id: int
        name: str = ""

    @action
    async def delete(request, body: Delete):
        request.app.state.deleted = body.id
        if body.id == 9:
            raise ActionError("It has been paid.", 409, fields={"id": ["paid"]})
        return invalidate_routes({"deleted": body.id}, "/invoices")

    @action
    async def where(request):
        route = route_of(request)
        shown = [route.kind, route.pattern, route.source, route.action]
        return {"route": shown, "path": request.url.path, "params": request.path_params}

    @action
    async def leave(request):
        return redirect("/invoices")

    async def helper(request):
        return {}
    """
LIST = """
    @server
    async def load(request):
        return {"message": "list"}
    """
FORM = {"accept": "text/html", "referer": "http://testserver/invoices?page=2"}
FILES = {
    "pages/index.fxl": page(""),
    "pages/invoices.fxl": page(LIST),
    "pages/error.fxl": page(""),
    "actions/billing/invoices.py": INVOICES,
    "actions/_private.py": "raise RuntimeError",
    "actions/plain.py": "raise RuntimeError  # it has none, so nobody imports it",
}
URL = "/api/__actions/billing.invoices"


async def test_an_action_of_a_module_is_called_by_its_whole_name(tmp_path: Path) -> None:
    async with open_app(write_tree(tmp_path, FILES)) as client:
        done = await client.action("/invoices", "billing.invoices.delete", {"id": 5})
        assert (done.ok, done.data, done.headers["x-fx-invalidate"]) == (
            True,
            {"deleted": 5},
            "/invoices",
        )
        failed = await client.action("/nowhere", "billing.invoices.delete", {"id": 9})
        assert (failed.status, failed.error, failed.fields) == (
            409,
            "It has been paid.",
            {"id": ["paid"]},
        )
        invalid = await client.action("/", "billing.invoices.delete", {"id": "x"})
        assert (invalid.status, list(invalid.fields)) == (422, ["id"])
        left = await client.action("/", "billing.invoices.leave")
        assert left.data == {"redirect": "/invoices"}


async def test_hooks_and_actions_learn_which_action_is_called(tmp_path: Path) -> None:
    async with open_app(write_tree(tmp_path, FILES)) as client:
        found = await client.action("/", "billing.invoices.where")
    name = "billing.invoices.where"
    source = "actions/billing/invoices.py"
    assert found.data["route"] == ["action", f"/@actions/{name}", source, name]
    assert (found.data["path"], found.data["params"]) == (f"{URL}.where", {})


@pytest.mark.parametrize(
    "url",
    [
        f"{URL}.helper",
        f"{URL}.nothing",
        "/api/__actions/billing.invoices",
        "/api/__actions/billing/invoices.delete",
        "/api/__actions/index/billing.invoices.delete",
        "/api/__actions/invoices/billing.invoices.delete",
        "/api/__actions//billing.invoices.delete",
        "/api/__actions/./billing.invoices.delete",
        "/api/__actions/x%2F..%2Fbilling.invoices.delete",
        "/api/__actions/_private.act",
    ],
)
async def test_nothing_else_is_reachable(tmp_path: Path, url: str) -> None:
    async with open_app(write_tree(tmp_path, FILES)) as client:
        client.app.state.deleted = None
        answer = await client.post(url, json={"id": 5})
        assert (answer.status, answer.json()["error"]) == (404, "Action not found")
        assert client.app.state.deleted is None


async def test_it_needs_a_proof_of_origin_and_post(tmp_path: Path) -> None:
    async with open_app(write_tree(tmp_path, FILES)) as client:
        client.app.state.deleted = None
        foreign = {"sec-fetch-site": "cross-site", "origin": "https://evil.test"}
        answer = await client.post(f"{URL}.delete", json={"id": 5}, headers=foreign)
        assert (answer.status, client.app.state.deleted) == (403, None)
        read = await client.get(f"{URL}.delete")
        assert (read.status, read.headers["allow"]) == (405, "POST")


async def test_a_form_without_javascript_leads_back_to_its_page(
    tmp_path: Path,
) -> None:
    async with open_app(write_tree(tmp_path, FILES)) as client:
        done = await client.post(f"{URL}.delete", data={"id": "5"}, headers=FORM)
        assert (done.status, done.headers["location"]) == (303, "/invoices?page=2")
        unknown = {**FORM, "referer": "http://testserver/nowhere"}
        done = await client.post(f"{URL}.delete", data={"id": "5"}, headers=unknown)
        assert (done.status, done.headers["location"]) == (303, "/")
        failed = await client.post(f"{URL}.delete", data={"id": "9"}, headers=unknown)
        assert (failed.status, "It has been paid." in failed.text) == (409, True)


@pytest.mark.parametrize(("page", "has_page"), [("/invoices", True), ("/", False)])
async def test_a_form_that_fails_shows_no_page_that_its_visitor_may_not_see(
    tmp_path: Path, page: str, has_page: bool
) -> None:
    module = f"shared_hooks_{abs(hash(tmp_path))}"
    guard = """
        from fx.runtime import redirect, route_of

        async def open_ones(request):
            open_ones = ("/invoices", "/@actions/billing.invoices.delete")
            if route_of(request).pattern not in open_ones:
                return redirect("/invoices")
        """
    files = {**FILES, f"{module}.py": guard, "pages/index.fxl": FILES["pages/invoices.fxl"]}
    hooks = {"pages": [f"{module}.open_ones"]}
    async with open_app(write_tree(tmp_path, files), route_middleware=hooks) as client:
        headers = {"accept": "text/html", "referer": f"http://testserver{page}"}
        answer = await client.post(f"{URL}.delete", data={"id": "9"}, headers=headers)
        assert answer.status == 409
        assert ('"message":"list"' in answer.text) is has_page
        assert ('"action":"billing.invoices.delete"' in answer.text) is has_page


async def test_whoever_is_not_signed_in_calls_none_unless_it_is_public(tmp_path: Path) -> None:
    for public, status in (
        (["/api/*", "/invoices", "/billing"], 401),
        (["/@actions/billing.invoices.delete"], 200),
        (["/@actions/*"], 200),
    ):
        root = tmp_path / str(len(public)) / public[0].replace("/", "_").replace("*", "all")
        cheap = {"timeCost": 1, "memoryKib": 8, "parallelism": 1}
        auth = {"name": "auth", "settings": {"publicPaths": public, "argon2": cheap}}
        settings: dict[str, Any] = {
            "plugins": [auth],
            "secret_keys": (KEY,),
            "route_middleware": {"pages": ["fxtrio.plugins.auth.require_user"]},
        }
        async with open_app(write_tree(root, FILES), **settings) as client:
            answer = await Client(client.app).post(f"{URL}.delete", json={"id": 5})
            assert answer.status == status, public


async def test_settings_of_routes_name_it_by_its_pattern(tmp_path: Path) -> None:
    limits = [{"route": "/@actions/*", "limit": "1/minute"}]
    async with open_app(write_tree(tmp_path, FILES), rate_limits=limits) as client:
        statuses = [
            (await client.post(f"{URL}.delete?n={n}", json={"id": n})).status for n in range(3)
        ]
    assert statuses == [200, 429, 429]
