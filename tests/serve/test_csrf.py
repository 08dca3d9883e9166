"""Cross-site request forgery: which requests pass, and what a refusal says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from fx.testing import Client, open_app
from fxtrio.serve.request.csrf import CsrfTokens, exempt
from tests.trees import page, write_tree

PAGE = """
    @action
    async def save(request):
        return {"saved": await request.json()}
    """
URL = "/api/__actions/index/save"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_tree(tmp_path, {"pages/index.fxl": page(PAGE), "pages/api/hook.py": HOOK})


HOOK = """
    async def post(request):
        return {"got": (await request.body()).decode()}
    """


@pytest.fixture
async def client(project: Path) -> AsyncIterator[Client]:
    async with open_app(project) as opened:
        yield opened


async def status_of(client: Client, headers: dict[str, str], **body: Any) -> int:
    """Post with exactly these of the headers that the check looks at."""
    all_headers = {"sec-fetch-site": "", **headers}
    response = await client.post(URL, headers=all_headers, **(body or {"json": {}}))
    if response.status == 403:
        assert response.json()["ok"] is False
        assert response.json()["error"].startswith("CSRF ")
    return response.status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "cross-site", "origin": "http://testserver"}, 403),
        ({"origin": "http://testserver"}, 200),
        ({"origin": "http://testserver:80"}, 200),
        ({"origin": "http://testserver:8080"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://evil.example", "x-forwarded-host": "evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://user@testserver"}, 403),
        ({"origin": "http://@testserver"}, 403),
        ({"origin": "http://testserver/"}, 403),
        ({"origin": "http://testserver/path"}, 403),
        ({"origin": "http://testserver?"}, 403),
        ({"origin": "http://testserver#"}, 403),
        ({"origin": "http://testserver:"}, 403),
        ({"origin": "http://test\tserver"}, 403),
        ({"origin": " http://testserver"}, 403),
        ({"origin": "ws://testserver:80"}, 403),
        ({"origin": "http:\\\\testserver"}, 403),
        ({"origin": "HTTP://TestServer"}, 200),
        ({"origin": "http://"}, 403),
        ({"origin": "http://testserver:port"}, 403),
        ({}, 403),
    ],
)
async def test_the_headers_of_browsers_decide(
    client: Client, headers: dict[str, str], status: int
) -> None:
    assert await status_of(client, headers) == status


async def test_a_client_without_these_headers_returns_the_token_of_its_cookie(
    client: Client,
) -> None:
    await client.get("/")
    token = client.cookies["fx-csrf"]
    assert await status_of(client, {"x-csrf-token": token}) == 200
    assert await status_of(client, {"x-csrf-token": token + "0"}) == 403
    assert await status_of(client, {}, data={"_csrf_token": token}) == 200
    assert await status_of(client, {}, data={"_csrf_token": "no"}) == 403
    client.cookies.clear()
    assert await status_of(client, {"x-csrf-token": token}) == 403


async def test_a_token_that_this_app_did_not_sign_does_not_pass(client: Client) -> None:
    forged = "0" * 32 + "." + "1" * 32
    client.cookies["fx-csrf"] = forged
    assert await status_of(client, {"x-csrf-token": forged}) == 403


async def test_clients_without_pages_get_a_token_from_an_endpoint(client: Client) -> None:
    token = (await client.get("/api/__csrf")).json()["token"]
    assert client.cookies["fx-csrf"] == token
    assert (await client.get("/api/__csrf")).json()["token"] == token
    assert await status_of(client, {"x-csrf-token": token}) == 200


async def test_a_cookie_that_holds_is_not_sent_again(client: Client) -> None:
    first, second = await client.get("/"), await client.get("/")
    assert "fx-csrf=" in first.headers["set-cookie"]
    assert "set-cookie" not in second.headers


async def test_over_https_the_cookie_is_bound_to_the_host(client: Client) -> None:
    client.scheme = "https"
    line = (await client.get("/")).headers["set-cookie"]
    assert line.startswith("__Host-fx-csrf=")
    assert "; Secure" in line


async def test_strict_mode_asks_for_the_origin_and_the_token(project: Path) -> None:
    async with open_app(project, csrf={"mode": "strict"}) as client:
        await client.get("/")
        token = client.cookies["fx-csrf"]
        assert await status_of(client, {"sec-fetch-site": "same-origin"}) == 403
        good = {"sec-fetch-site": "same-origin", "x-csrf-token": token}
        assert await status_of(client, good) == 200
        assert await status_of(client, {**good, "sec-fetch-site": "cross-site"}) == 403


async def test_in_strict_mode_a_token_is_not_enough(project: Path) -> None:
    async with open_app(project, csrf={"mode": "strict"}) as client:
        token = (await client.get("/api/__csrf")).json()["token"]
        assert await status_of(client, {"x-csrf-token": token}) == 403
        assert await status_of(client, {"x-csrf-token": token, "origin": "null"}) == 403
        named = {"x-csrf-token": token, "origin": "http://testserver"}
        assert await status_of(client, named) == 200


@pytest.mark.parametrize("host", ["", "testserver:99999", "[", "a b"])
async def test_an_origin_without_a_host_is_not_that_of_a_request_without_one(
    client: Client, host: str
) -> None:
    assert await status_of(client, {"origin": "null", "host": host}) == 403


async def test_a_form_for_an_endpoint_brings_the_token_in_a_field(project: Path) -> None:
    async with open_app(project, csrf={"mode": "strict"}) as client:
        token = (await client.get("/api/__csrf")).json()["token"]
        for fields, status in (
            ({}, 403),
            ({"_csrf_token": "x"}, 403),
            ({"_csrf_token": token}, 200),
        ):
            answer = await client.post("/api/hook", data={"a": "1", **fields})
            assert answer.status == status
        assert answer.json() == {"got": f"a=1&_csrf_token={token}"}


async def test_a_trusted_origin_passes(project: Path) -> None:
    trusted = {"trusted_origins": ["https://app.example"]}
    async with open_app(project, csrf=trusted) as client:
        headers = {"origin": "https://app.example", "sec-fetch-site": "cross-site"}
        assert await status_of(client, headers) == 200


async def test_the_check_can_be_switched_off(project: Path) -> None:
    async with open_app(project, csrf=False) as client:
        assert await status_of(client, {}) == 200


async def test_python_endpoints_are_guarded_too_unless_exempt(project: Path) -> None:
    async with open_app(project) as client:
        rejected = await client.post("/api/hook", content=b"x", headers={"sec-fetch-site": ""})
        assert rejected.status == 403
    async with open_app(project, csrf={"exempt_paths": ["/api/hook"]}) as client:
        passed = await client.post("/api/hook", content=b"x", headers={"sec-fetch-site": ""})
        assert passed.json() == {"got": "x"}


async def test_a_rejected_request_does_not_reach_the_action(client: Client) -> None:
    response = await client.post(URL, content=b"{broken", headers={"sec-fetch-site": "cross-site"})
    assert response.status == 403


@pytest.mark.parametrize(
    ("path", "prefixes", "expected"),
    [
        ("/hooks", ["/hooks"], True),
        ("/hooks/a", ["/hooks"], True),
        ("/hooks-b", ["/hooks"], False),
        ("/hooks/a", ["/hooks/"], True),
        ("/", ["/hooks"], False),
    ],
)
def test_exempt_paths_end_at_segment_boundaries(
    path: str, prefixes: list[str], expected: bool
) -> None:
    assert exempt(path, prefixes) is expected


@given(st.text(), st.text())
def test_no_other_text_is_a_token(token: str, binding: str) -> None:
    tokens = CsrfTokens((b"key",))
    assert not tokens.holds(token, binding)


@given(st.from_regex(r"[0-9a-f]{32}", fullmatch=True), st.text(), st.text())
def test_a_token_holds_for_its_session_and_for_every_key_in_rotation(
    nonce: str, binding: str, other: str
) -> None:
    old = CsrfTokens((b"old",))
    rotated = CsrfTokens((b"new", b"old"))
    token = old.make(nonce, binding)
    assert rotated.holds(token, binding)
    assert rotated.holds(token, other) is (other == binding)
    assert not CsrfTokens((b"new",)).holds(token, binding)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("sec-fetch-site", ("cross-site", "same-origin")),
        ("origin", ("http://evil.example", "http://testserver")),
        ("host", ("evil.example", "testserver")),
    ],
)
@pytest.mark.parametrize("url", [URL, "/", "/api/hook"])
async def test_two_headers_of_which_one_would_be_believed_are_rejected(
    client: Client, url: str, name: str, values: tuple[str, str]
) -> None:
    for kind, method in (("http", "GET"), ("http", "POST"), ("websocket", "GET")):
        scope = {**client.scope(kind, url, {"sec-fetch-site": "", "host": ""}), "method": method}
        scope["headers"] += [(name.encode(), value.encode()) for value in values]
        statuses: list[int] = []

        async def receive(kind: str = kind) -> Any:
            if kind == "websocket":
                return {"type": "websocket.connect"}
            return {"type": "http.request", "body": b"{}", "more_body": False}

        async def send(message: Any, statuses: list[int] = statuses) -> None:
            if message["type"].endswith("response.start"):
                statuses.append(message["status"])

        await client.app(scope, receive, send)
        assert statuses == [400]


async def test_other_headers_may_come_twice(client: Client) -> None:
    scope = client.scope("http", "/", {})
    scope["headers"] += [(b"cookie", b"a=1"), (b"cookie", b"b=2"), (b"accept", b"*/*")]
    statuses: list[int] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await client.app(scope, receive, send)
    assert statuses == [200]


async def test_an_exempt_path_ends_where_its_segments_do(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/api/[name].py": HOOK, "pages/api/hooks/[id].py": HOOK})
    bare = {"sec-fetch-site": ""}
    async with open_app(tmp_path, csrf={"exempt_paths": ["/api/hooks"]}) as client:
        below = await client.post("/api/hooks/a%2Fb", headers=bare)
        other = await client.post("/api/hooks%2Fa", headers=bare)
    assert (below.status, other.status) == (200, 403)


async def test_no_path_that_leads_up_is_exempt(tmp_path: Path) -> None:
    async def pay(request: Request) -> PlainTextResponse:
        return PlainTextResponse(request.path_params["rest"])

    write_tree(tmp_path, {"pages/index.fxl": page("")})
    for base in ("", "/app"):
        async with open_app(
            tmp_path, base_url=base, csrf={"exempt_paths": ["/files/hook"]}
        ) as client:
            client.app.add_route(f"{base}/files/{{rest:path}}", pay, methods=["POST"])

            async def status(
                path: str, url: str = f"{base}/files/", client: Client = client
            ) -> int:
                response = await client.post(url + path, headers={"sec-fetch-site": "cross-site"})
                return response.status

            for path in ("hook", "hook/a", "hook/a%2Fb", "hook/..a"):
                assert await status(path) == 200, path
            for up in (
                "..",
                "%2e%2e",
                ".%2E",
                "..%2fpay",
                ".",
                "a%2F..%2F..",
                "%2e%2e%2f..",
                "a/..",
            ):
                assert await status(f"hook/{up}") == 403, up
                assert await status(f"hook/{up}/pay") == 403, up
