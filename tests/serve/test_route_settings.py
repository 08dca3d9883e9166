"""Settings of single routes: `Cache-Control` and CORS. Rate limits are in their own file."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.responses import PlainTextResponse

from fx.testing import Client, open_app
from fxtrio.config import read_config
from fxtrio.policy.patterns import covers, nearest
from tests.trees import page, write_tree

NAVIGATION = {"x-fx-navigation": "1"}
OTHER = {"origin": "https://other.example", "sec-fetch-site": "cross-site"}
PREFLIGHT = {
    **OTHER,
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type",
}

FILES = {
    "pages/index.fxl": page(
        """
        @server
        async def load(request):
            if "own" in request.query_params:
                request.state.response.headers["cache-control"] = "no-store"
            if "broken" in request.query_params:
                raise LoaderError("Broken", 500)
            return {}

        @action
        async def save(request):
            return {"cookies": len(request.cookies)}
        """
    ),
    "pages/blog/[id].fxl": page(""),
    "pages/api/items.py": """
        from starlette.responses import PlainTextResponse

        async def get(request):
            return {"n": 1}

        async def post(request):
            return {"n": 2}

        async def put(request):
            return PlainTextResponse("own", headers={"cache-control": "max-age=1"})

        async def delete(request):
            raise RuntimeError("no")
        """,
    "hooks.py": """
        from fx.runtime import redirect

        async def nobody(request):
            return redirect("/elsewhere")
        """,
    "public/site.css": "p { color: red }",
}


def opened(root: Path, **settings: Any) -> AbstractAsyncContextManager[Client]:
    return open_app(write_tree(root, FILES), mode="production", **settings)


# --- Cache-Control ---


async def test_a_route_has_the_cache_control_of_its_settings(tmp_path: Path) -> None:
    policies = {
        "/": "public, max-age=60",
        "/blog/*": "private, max-age=5",
        "/api/items": "no-cache",
    }
    async with opened(tmp_path, cache_control={**policies, "/site.css": "max-age=9"}) as client:
        found = {
            url: (await client.get(url)).headers["cache-control"]
            for url in ("/", "/blog/1", "/api/items", "/site.css")
        }
        payload = await client.get("/", headers=NAVIGATION)
        tokens = [(await client.get(url)).headers.get("set-cookie") for url in ("/", "/blog/1")]
    assert found == {
        "/": "public, max-age=60",
        "/blog/1": "private, max-age=5",
        "/api/items": "no-cache",
        "/site.css": "max-age=9",
    }
    assert payload.headers["cache-control"] == "private, max-age=60"  # it has no URL of its own
    # What shared caches keep must not hold anybody's token.
    assert tokens[0] is None


async def test_headers_that_code_sets_itself_are_sent(tmp_path: Path) -> None:
    async with opened(tmp_path, cache_control={"/*": "public, max-age=60"}) as client:
        page_ = await client.get("/?own")
        endpoint = await client.request("PUT", "/api/items")
    assert page_.headers.getlist("cache-control") == ["no-store"]
    assert endpoint.headers.getlist("cache-control") == ["max-age=1"]


async def test_nobody_keeps_what_went_wrong_or_leads_elsewhere(tmp_path: Path) -> None:
    public = {"/*": "public, max-age=60"}
    async with opened(tmp_path, cache_control=public) as client:
        broken = await client.get("/?broken")
        failed = await client.request("DELETE", "/api/items")
        missing = await client.get("/nowhere")
    async with opened(
        tmp_path, cache_control=public, route_middleware={"pages": ["hooks.nobody"]}
    ) as client:
        away = await client.get("/")
    statuses = [each.status for each in (broken, failed, missing, away)]
    assert statuses == [500, 500, 404, 303]
    for response in (broken, failed, missing, away):
        assert "public" not in response.headers.get("cache-control", "")


async def test_a_cached_page_has_the_cache_control_of_its_settings(tmp_path: Path) -> None:
    cached = {**FILES, "pages/index.fxl": page('CACHE = {"revalidate": 60}')}
    write_tree(tmp_path, cached)
    async with open_app(
        tmp_path, mode="production", cache_control={"/": "public, max-age=7"}
    ) as client:
        answers = [await client.get("/") for _ in range(2)]
    assert [each.headers["x-fx-cache"] for each in answers] == ["miss", "hit"]
    for each in answers:
        assert each.headers.getlist("cache-control") == ["public, max-age=7"]
        assert "set-cookie" not in each.headers


# --- CORS ---


async def test_another_origin_may_call_endpoints_and_actions(tmp_path: Path) -> None:
    cors = {"origins": ["https://other.example"], "credentials": True}
    async with opened(tmp_path, cors=cors) as client:
        client.cookies["session"] = "1"
        got = await client.get("/api/items", headers=OTHER)
        posted = await client.post("/api/items", json={}, headers=OTHER)
        called = await client.post("/api/__actions/index/save", json={}, headers=OTHER)
        page_ = await client.get("/", headers=OTHER)
        failed = await client.request("DELETE", "/api/items", headers=OTHER)
    assert [each.status for each in (got, posted, called, failed)] == [200, 200, 200, 500]
    for each in (got, posted, called, failed):
        assert each.headers["access-control-allow-origin"] == "https://other.example"
        assert each.headers["access-control-allow-credentials"] == "true"
        assert "Origin" in each.headers["vary"]
    assert "access-control-allow-origin" not in page_.headers


async def test_others_may_not(tmp_path: Path) -> None:
    async with opened(tmp_path, cors={"origins": ["https://friend.example"]}) as client:
        got = await client.get("/api/items", headers=OTHER)
        posted = await client.post("/api/items", json={}, headers=OTHER)
        preflight = await client.request("OPTIONS", "/api/items", headers=PREFLIGHT)
    assert (got.status, posted.status, preflight.status) == (200, 403, 400)
    for each in (got, posted, preflight):
        assert "access-control-allow-origin" not in each.headers
        assert "Origin" in each.headers["vary"]


@pytest.mark.parametrize("origin", ["*", "https://other.example"])
async def test_without_credentials_a_request_may_act_for_nobody_only(
    tmp_path: Path, origin: str
) -> None:
    async with opened(tmp_path, cors={"origins": [origin]}) as client:
        nobody = await client.post("/api/__actions/index/save", json={}, headers=OTHER)
        client.cookies["session"] = "1"
        somebody = await client.post("/api/__actions/index/save", json={}, headers=OTHER)
    assert (nobody.status, somebody.status) == (200, 403)
    assert nobody.headers["access-control-allow-origin"] == origin
    assert "access-control-allow-credentials" not in nobody.headers


async def test_a_preflight_is_answered_before_hooks(tmp_path: Path) -> None:
    names = {"apis": ["hooks.nobody"], "pages": ["hooks.nobody"]}
    cors = {
        "origins": ["https://other.example"],
        "methods": ["POST"],
        "headers": ["content-type", "x-mine"],
        "max_age": 33,
    }
    async with opened(tmp_path, cors=cors, route_middleware=names) as client:
        for url in ("/api/items", "/api/__actions/index/save"):
            preflight = await client.request("OPTIONS", url, headers=PREFLIGHT)
            assert preflight.status == 200
            assert preflight.headers["access-control-allow-methods"] == "POST"
            assert "x-mine" in preflight.headers["access-control-allow-headers"]
            assert preflight.headers["access-control-max-age"] == "33"
            for name, value in (("method", "PUT"), ("headers", "x-other")):
                wrong = {**PREFLIGHT, f"access-control-request-{name}": value}
                assert (await client.request("OPTIONS", url, headers=wrong)).status == 400
        plain = await client.request("OPTIONS", "/", headers=PREFLIGHT)
    assert "access-control-allow-methods" not in plain.headers


async def test_cors_is_for_the_routes_that_are_named(tmp_path: Path) -> None:
    async def mine(request: Any) -> PlainTextResponse:
        return PlainTextResponse("mine")

    cors = {"origins": ["*"], "routes": ["/blog/*", "/mine"]}
    async with opened(tmp_path, cors=cors) as client:
        client.app.add_route("/mine", mine, methods=["POST"])
        found = {
            url: (await client.get(url, headers=OTHER)).headers.get("access-control-allow-origin")
            for url in ("/", "/api/items", "/blog/1")
        }
        client.cookies.clear()  # which no browser sends without credentials
        preflight = await client.request("OPTIONS", "/mine", headers=PREFLIGHT)
        posted = await client.post("/mine", json={}, headers=OTHER)
    assert found == {"/": None, "/api/items": None, "/blog/1": "*"}
    assert (preflight.status, posted.status, posted.text) == (200, 200, "mine")
    assert posted.headers["access-control-allow-origin"] == "*"


# --- the settings themselves ---


@pytest.mark.parametrize(
    ("settings", "key", "cause"),
    [
        (
            {"cors": {"origins": ["*"], "credentials": True}},
            "cors.credentials",
            "must be false when cors.origins has '*'",
        ),
        ({"cors": {"origins": ["other.example"]}}, "cors.origins", "must contain origins"),
        ({"cors": {"routes": ["api"]}}, "cors.routes", "must be a route"),
        ({"cors": {"methods": ["GE T"]}}, "cors.methods", "must contain names"),
        ({"cache_control": {"blog": "public"}}, "cache_control", "must be a route"),
        ({"cache_control": {"/": "a\r\nset-cookie: b"}}, "cache_control", "must contain values"),
        ({"cache_control": {"/": 60}}, "cache_control", "must contain values"),
        ({"rate_limits": {}}, "rate_limits", "must be a list"),
        ({"rate_limits": ["/"]}, "rate_limits.0", "must be an object"),
        ({"rate_limits": [{"route": "/"}]}, "rate_limits.0", "must have a 'limit'"),
        (
            {"rate_limits": [{"route": "/a*b", "limit": "1/day"}]},
            "rate_limits.0.route",
            "must be a route",
        ),
        (
            {"rate_limits": [{"route": "/", "limit": "0/minute"}]},
            "rate_limits.0.limit",
            "must be a limit such as '20/minute'",
        ),
        (
            {"rate_limits": [{"route": "/", "limit": "often"}]},
            "rate_limits.0.limit",
            "must be a limit such as '20/minute'",
        ),
        (
            {"rate_limits": [{"route": "/", "limit": "1/day", "by": "cookie"}]},
            "rate_limits.0.by",
            "must be 'address' or 'user'",
        ),
        ({"rate_limit_storage": "disk"}, "rate_limit_storage", "must be 'memory' or a URL"),
    ],
)
def test_wrong_settings_are_reported(
    tmp_path: Path, settings: dict[str, Any], key: str, cause: str
) -> None:
    config, problems = read_config(tmp_path, environ={}, **settings)
    assert problems[0].key == key
    assert cause in problems[0].cause
    assert not config.cors.credentials


def test_a_conflict_of_two_places_is_found(tmp_path: Path) -> None:
    write_tree(tmp_path, {"fx.config.json": '{"cors": {"origins": ["*"]}}'})
    environ = {"FX_CORS__CREDENTIALS": "true"}
    _, problems = read_config(tmp_path, environ=environ)
    assert [problem.key for problem in problems] == ["cors.credentials"]


@pytest.mark.parametrize(
    ("entry", "pattern", "named"),
    [
        ("/login", "/login", True),
        ("/login", "/login/new", False),
        ("/api/*", "/api/items", True),
        ("/api/*", "/api", True),
        ("/api/*", "/apis", False),
        ("/*", "/", True),
        ("/*", "/blog/[id]", True),
        ("/blog/[id]", "/blog/[id]", True),
    ],
)
def test_an_entry_names_routes(entry: str, pattern: str, named: bool) -> None:
    assert covers(entry, pattern) is named


@given(st.permutations(["/*", "/a/*", "/a/b", "/a/b/*"]))
def test_the_nearest_entry_holds(entries: list[str]) -> None:
    found = [nearest(entries, pattern) for pattern in ("/a/b", "/a/b/c", "/a/c", "/d")]
    assert found == ["/a/b", "/a/b/*", "/a/*", "/*"]
    assert nearest(["/a"], "/b") is None
