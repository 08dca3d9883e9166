"""`/openapi.json` of a running app: what a visitor may call, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator, validate
from trio.testing import MockClock

from fx.testing import Client, open_app
from fxtrio.serve.openapi.answer import DocumentFile
from tests.trees import page, write_tree

ADMIN = """
    import attrs

    @attrs.frozen
    class Grant:
        who: str

    @action
    async def grant(request, right: Grant):
        return {}
"""
OPEN = """
    import attrs

    @attrs.frozen
    class Wish:
        text: str

    @action
    async def wish(request, new: Wish):
        return {}
"""
GUARD = """
    import trio
    from fx.runtime import LoaderError
    from fxtrio.routes import route_of

    SEEN = []


    async def admins_only(connection):
        route = route_of(connection)
        SEEN.append((route.kind, route.pattern, connection.scope["method"], connection.url.path))
        if "slow" in connection.headers:
            await trio.sleep(3600)
        if "bug" in connection.headers:
            raise ValueError("a hook that fails")
        if route.pattern.startswith(("/admin", "/api/keys")) and "admin" not in connection.headers:
            raise LoaderError("forbidden", 403)
"""


def project(root: Path) -> tuple[Path, str]:
    guard = f"guard_{abs(hash(root))}"
    files = {
        f"{guard}.py": GUARD,
        "pages/index.fxl": page(OPEN),
        "pages/admin/[id].fxl": page(ADMIN),
        "pages/api/keys.py": "async def get(request):\n    return {'keys': [1]}\n",
        "pages/api/news.py": "async def get(request):\n    return {'news': []}\n",
    }
    return write_tree(root, files), guard


WISH, GRANT = "/api/__actions/index/wish", "/api/__actions/admin/{id}/grant"


async def document_for(client: Client, **headers: str) -> dict[str, Any]:
    answer = await client.get("/openapi.json", headers=headers)
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    validate(document, cls=OpenAPIV31SpecValidator)
    return document


async def test_it_is_served_where_the_settings_say_so(tmp_path: Path) -> None:
    root, _ = project(tmp_path)
    async with open_app(root, openapi=True) as client:
        document = await document_for(client)
        posted = await client.post("/openapi.json")
    assert {WISH, GRANT, "/api/keys", "/api/news", "/api/__csrf"} == set(document["paths"])
    assert (posted.status_code, posted.headers["allow"]) == (405, "GET, HEAD")
    async with open_app(root) as client:
        assert (await client.get("/openapi.json")).status_code == 404


@pytest.mark.parametrize("kinds", [("pages", "apis"), ("actions", "apis")])
async def test_what_the_hooks_keep_from_a_visitor_is_not_reported(
    tmp_path: Path, kinds: tuple[str, ...]
) -> None:
    root, guard = project(tmp_path)
    hooks = {kind: [f"{guard}:admins_only"] for kind in kinds}
    async with open_app(root, openapi=True, route_middleware=hooks) as client:
        visitor = await client.get("/openapi.json")
        everything = await document_for(client, admin="yes")
    assert "grant" not in visitor.text.lower() and "keys" not in visitor.text
    assert set(visitor.json()["paths"]) == {WISH, "/api/news", "/api/__csrf"}
    assert GRANT in everything["paths"] and "GrantInput" in everything["components"]["schemas"]
    assert visitor.headers["cache-control"] == "no-store"


async def test_hooks_judge_the_call_that_is_described(tmp_path: Path) -> None:
    root, guard = project(tmp_path)
    hooks = {kind: [f"{guard}:admins_only"] for kind in ("pages", "actions", "apis")}
    async with open_app(root, openapi=True, base_url="/app", route_middleware=hooks) as client:
        assert (await client.get("/app/openapi.json")).status_code == 200
        seen = __import__(guard).SEEN
    assert ("action", "/", "POST", "/app") in seen, "hooks of pages see the page's URL"
    assert ("action", "/", "POST", f"/app{WISH}") in seen
    assert ("api", "/api/news", "GET", "/app/api/news") in seen


async def test_a_hook_that_fails_or_hangs_opens_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    root, guard = project(tmp_path)
    hooks = {kind: [f"{guard}:admins_only"] for kind in ("actions", "apis")}
    async with open_app(root, openapi=True, route_middleware=hooks) as client:
        failing = await document_for(client, bug="yes")
        hanging = await client.get("/openapi.json", headers={"slow": "yes"})
    assert failing["paths"] == {}
    assert hanging.status_code == 504


async def test_an_anonymous_visitor_sees_the_public_operations(tmp_path: Path) -> None:
    root, _ = project(tmp_path)
    plugins = [{"name": "auth", "settings": {"publicPaths": ["/", "/api/news"]}}]
    required = ["fxtrio.plugins.auth.require_user"]
    hooks = {"actions": required, "apis": required}
    async with open_app(root, openapi=True, plugins=plugins, route_middleware=hooks) as client:
        before = await document_for(client)
        account = {"email": "a@b.example", "password": "correct horse battery"}
        await client.post("/api/__auth/register", json=account)
        signed = await client.post("/api/__auth/login", json=account)
        after = await document_for(client)
    assert signed.status_code == 200, signed.text
    assert set(before["paths"]) == {WISH, "/api/news", "/api/__csrf"}
    assert after["paths"][GRANT]["post"]["security"] == [{"session": []}]


async def test_a_build_without_a_document_says_so(tmp_path: Path) -> None:
    root, _ = project(tmp_path)
    async with open_app(root, openapi=True) as client:
        client.app.openapi = DocumentFile(tmp_path / "openapi.json")
        answer = await client.get("/openapi.json")
    assert answer.status_code == 503
    assert "fx build" in answer.json()["error"]
