"""Rate limits: who is counted, for what, and what they get."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import parse
from starlette.responses import PlainTextResponse
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket
from trio.testing import MockClock

from fx.testing import Client, open_app
from fxtrio.clients import network_of
from fxtrio.policy.rate_limit import CountsInMemory, MemoryCounts, client_of
from tests.trees import page, write_tree

NAVIGATION = {"x-fx-navigation": "1"}
FILES = {
    "pages/index.fxl": page(
        """
        ran = []

        @server
        async def load(request):
            ran.append(1)
            return {"n": len(ran)}

        @action
        async def save(request):
            return {}
        """
    ),
    "pages/error.fxl": page("").replace("data.message", "error.message"),
    "pages/blog/[id].fxl": page(""),
    "pages/api/items.py": "async def get(request):\n    return {}\n",
    "pages/live.fxl": page(
        "async def websocket(ws):\n    await ws.accept()\n    await ws.close()\n"
    ),
    "who.py": """
        from types import SimpleNamespace

        class Who:
            def __init__(self, app):
                self.app = app

            async def __call__(self, scope, receive, send):
                if scope["type"] == "http":
                    headers = dict(scope["headers"])
                    if b"x-user" in headers:
                        name = headers[b"x-user"].decode()
                        scope["state"]["user"] = SimpleNamespace(id=name)
                    if b"x-address" in headers:
                        scope["client"] = (headers[b"x-address"].decode(), 1)
                await self.app(scope, receive, send)
        """,
}


def opened(
    root: Path, *rates: dict[str, Any], **settings: Any
) -> AbstractAsyncContextManager[Client]:
    """Serve the project; tests say who asks in the headers ``x-user`` and ``x-address``."""
    settings = {"middleware": ["who.Who"], **settings}
    return open_app(write_tree(root, FILES), mode="production", rate_limits=list(rates), **settings)


async def statuses(client: Client, *urls: str, **headers: str) -> list[int]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return [(await client.get(url, headers=named)).status for url in urls]


async def test_more_than_the_limit_is_rejected_until_the_time_is_over(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with opened(tmp_path, {"route": "/api/items", "limit": "2/minute"}) as client:
        first = await client.get("/api/items")
        assert await statuses(client, "/api/items", "/api/items") == [200, 429]
        rejected = await client.get("/api/items")
        await trio.sleep(int(rejected.headers["retry-after"]) - 1)
        assert await statuses(client, "/api/items") == [429]
        await trio.sleep(1)
        assert await statuses(client, "/api/items") == [200]
    assert first.headers["ratelimit-policy"] == '"2/60s";q=2;w=60'
    assert first.headers["ratelimit"].startswith('"2/60s";r=1;t=')
    assert rejected.headers["ratelimit"] == f'"2/60s";r=0;t={rejected.headers["retry-after"]}'
    assert rejected.json() == {"ok": False, "error": "Too many requests. Try again in 61 s."}
    assert rejected.headers["cache-control"] == "no-store"


async def test_each_form_of_a_route_reports_it_in_its_own_shape(tmp_path: Path) -> None:
    rate = {"route": "/", "limit": "1/hour"}
    async with opened(tmp_path, rate, llms=True) as client:
        allowed = await client.get("/")
        html = await client.get("/")
        head = await client.request("HEAD", "/")
        payload = await client.get("/", headers=NAVIGATION)
        markdown = await client.get("/index.md")
        negotiated = await client.get("/", headers={"accept": "text/markdown"})
        called = await client.action("/", "save")
    assert allowed.status == 200
    for each in (html, head, payload, markdown, negotiated, called):
        assert each.status == 429
        assert int(each.headers["retry-after"]) > 3000
        assert "ratelimit" in each.headers
    assert html.headers["content-type"].startswith("text/html")
    assert b"pages/error.fxl" in html.body  # which view is shown
    assert payload.json()["boundary"] == "pages/error.fxl"
    assert payload.json()["error"].startswith("Too many requests")
    assert markdown.headers["content-type"].startswith("text/markdown")
    assert not called.ok
    assert str(called.error).startswith("Too many requests")


async def test_a_form_without_javascript_gets_a_page_of_the_site(tmp_path: Path) -> None:
    rate = {"route": "/", "limit": "1/hour", "methods": ["POST"]}
    form = {
        "accept": "text/html",
        "content-type": "application/x-www-form-urlencoded",
    }
    async with opened(tmp_path, rate) as client:
        found = [
            await client.post("/api/__actions/index/save", content=b"a=1", headers=form)
            for _ in range(2)
        ]
    assert [each.status for each in found] == [303, 429]
    assert found[1].headers["content-type"].startswith("text/html")
    assert b"pages/error.fxl" in found[1].body
    assert int(found[1].headers["retry-after"]) > 3000


async def test_nothing_runs_for_who_is_rejected(tmp_path: Path) -> None:
    async with opened(tmp_path, {"route": "/", "limit": "1/hour"}) as client:
        found = [await client.get("/", headers=NAVIGATION) for _ in range(3)]
        later = await client.get("/", headers={**NAVIGATION, "x-address": "9.9.9.9"})
    assert [each.status for each in found] == [200, 429, 429]
    assert later.json()["props"]["data"] == {"n": 2}


async def test_it_is_the_matched_route_that_is_counted(tmp_path: Path) -> None:
    async with opened(tmp_path, {"route": "/blog/[id]", "limit": "2/hour"}) as client:
        found = await statuses(client, "/blog/1", "/blog/%32", "/blog/3", "/", "/blog")
    assert found == [200, 200, 429, 200, 404]


async def test_all_below_a_path_are_counted_by_themselves(tmp_path: Path) -> None:
    async with opened(tmp_path, {"route": "/*", "limit": "1/hour"}) as client:
        found = await statuses(client, "/", "/api/items", "/blog/1", "/", "/blog/2")
    assert found == [200, 200, 200, 429, 429]


async def test_only_the_named_methods_are_counted(tmp_path: Path) -> None:
    posts = {"route": "/", "limit": "1/hour", "methods": ["POST"]}
    async with opened(tmp_path, posts) as client:
        assert await statuses(client, "/", "/", "/") == [200, 200, 200]
        assert [(await client.action("/", "save")).status for _ in range(2)] == [200, 429]


async def test_get_covers_head(tmp_path: Path) -> None:
    async with opened(tmp_path, {"route": "/", "limit": "1/hour", "methods": ["GET"]}) as client:
        found = [(await client.request("HEAD", "/")).status for _ in range(2)]
    assert found == [200, 429]


async def test_of_several_limits_the_first_that_is_reached_rejects(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    rate = {"route": "/api/items", "limit": "2/minute; 3/day"}
    async with opened(tmp_path, rate) as client:
        assert await statuses(client, *["/api/items"] * 3) == [200, 200, 429]
        await trio.sleep(120)
        last = await client.get("/api/items")
        assert await statuses(client, "/api/items") == [429]
    assert last.headers["ratelimit-policy"] == '"2/60s";q=2;w=60, "3/86400s";q=3;w=86400'


async def test_users_are_counted_wherever_they_are(tmp_path: Path) -> None:
    async with opened(tmp_path, {"route": "/", "limit": "1/hour", "by": "user"}) as client:
        assert await statuses(client, "/", x_user="ada", x_address="1.1.1.1") == [200]
        assert await statuses(client, "/", x_user="ada", x_address="2.2.2.2") == [429]
        assert await statuses(client, "/", x_user="bob", x_address="1.1.1.1") == [200]
        assert await statuses(client, "/", "/", x_address="1.1.1.1") == [200, 429]


async def test_networks_of_ipv6_are_one_client(tmp_path: Path) -> None:
    async with opened(tmp_path, {"route": "/", "limit": "1/hour"}) as client:
        assert await statuses(client, "/", x_address="2001:db8:0:1::1") == [200]
        assert await statuses(client, "/", x_address="2001:db8:0:1:ffff::2") == [429]
        assert await statuses(client, "/", x_address="2001:db8:0:2::1") == [200]


async def test_cached_pages_are_counted_per_request_and_not_when_they_are_rendered(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    files = {**FILES, "pages/index.fxl": page('CACHE = {"revalidate": 1}')}
    write_tree(tmp_path, files)
    rate = {"route": "/", "limit": "3/hour"}
    async with open_app(tmp_path, mode="production", rate_limits=[rate]) as client:
        found = []
        for _ in range(4):
            found.append(await client.get("/"))
            await trio.sleep(5)
    assert [each.status for each in found] == [200, 200, 200, 429]
    assert [each.headers["x-fx-cache"] for each in found[:3]] == ["miss", "stale", "stale"]


async def test_routes_of_plugins_and_sockets_are_counted(tmp_path: Path) -> None:
    async def mine(request: Any) -> PlainTextResponse:
        return PlainTextResponse("mine")

    rates = [{"route": route, "limit": "1/hour"} for route in ("/mine/{id}", "/live")]
    async with opened(tmp_path, *rates) as client:
        client.app.add_route("/mine/{id}", mine)
        assert await statuses(client, "/mine/1", "/mine/2") == [200, 429]
        async with client.websocket("/live"):
            pass
        rejected = await _rejection(client, "/live")
    assert rejected[0] == 429 and rejected[1] > 0


async def test_sockets_of_starlette_are_counted(tmp_path: Path) -> None:
    async def mine(socket: WebSocket) -> None:
        await socket.accept()
        await socket.receive()

    async with opened(tmp_path, {"route": "/mine/{id}", "limit": "1/hour"}) as client:
        client.app.routes.append(WebSocketRoute("/mine/{id}", mine))
        async with client.websocket("/mine/1"):
            pass
        rejected = await _rejection(client, "/mine/2")
    assert rejected[0] == 429 and rejected[1] > 0


async def test_a_socket_of_a_route_that_is_open_to_other_origins_opens(tmp_path: Path) -> None:
    cors = {"origins": ["https://other.example"], "routes": ["/*"]}
    async with (
        opened(tmp_path, cors=cors) as client,
        client.websocket("/live", headers={"origin": "https://other.example"}),
    ):
        pass


async def _rejection(client: Client, url: str) -> tuple[int, int]:
    """Return status and `Retry-After` of a refused handshake."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await client.app(client.scope("websocket", url, None), receive, send)
    headers = dict(sent[0]["headers"])
    return sent[0]["status"], int(headers[b"retry-after"])


async def test_a_rejection_can_be_read_by_another_origin(tmp_path: Path) -> None:
    rate = {"route": "/api/*", "limit": "1/hour"}
    origin = {"origin": "https://other.example"}
    async with opened(tmp_path, rate, cors={"origins": ["*"]}) as client:
        await client.get("/api/items")
        preflight = await client.request(
            "OPTIONS", "/api/items", headers={**origin, "access-control-request-method": "GET"}
        )
        rejected = await client.get("/api/items", headers=origin)
    assert (preflight.status, rejected.status) == (200, 429)
    assert rejected.headers["access-control-allow-origin"] == "*"


# --- the counts themselves ---


async def test_memory_is_bounded_under_many_addresses(autojump_clock: MockClock) -> None:
    storage = MemoryCounts(capacity=100)
    counts = CountsInMemory(storage)
    item = parse("1/hour")
    for number in range(1000):
        await counts.hit(item, f"address:{number}")
        await counts.hit(item, "address:often")
    assert len(storage) == 100
    assert not (await counts.hit(item, "address:often")).passed
    assert (await counts.hit(item, "address:0")).passed  # forgotten long ago


@settings(max_examples=30)
@given(
    st.integers(1, 6),
    st.lists(st.tuples(st.floats(0, 25), st.integers(1, 8)), min_size=1, max_size=12),
)
def test_retry_after_suffices_and_no_window_has_more_than_twice_the_limit(
    limit: int, visits: list[tuple[float, int]]
) -> None:
    item = parse(f"{limit}/10 seconds")
    passed: list[float] = []

    async def run() -> None:
        counts = CountsInMemory()
        for pause, count in visits:
            await trio.sleep(pause)
            for _ in range(count):
                found = await counts.hit(item, "a")
                assert found.passed or found.remaining == 0
                if found.passed:
                    passed.append(trio.current_time())
        if not found.passed:
            await trio.sleep(found.wait)
            assert (await counts.hit(item, "a")).passed

    trio.run(run, clock=MockClock(autojump_threshold=0))
    for start in passed:
        inside = [moment for moment in passed if start <= moment < start + 10]
        assert len(inside) <= 2 * limit


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("10.0.0.7", "10.0.0.7"),
        ("::ffff:10.0.0.7", "10.0.0.7"),
        ("2001:db8::1", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_an_address_counts_as_its_network(address: str, network: str) -> None:
    assert network_of(address) == network


def test_a_client_without_an_address_is_one_client() -> None:
    assert client_of({"client": None}, by="address") == "address:"
    assert client_of({}, by="user") == "address:"
    assert client_of({"state": {"user": {"id": 7}}}, by="user") == "user:7"
    assert client_of({"state": {"user": None}, "client": ("1.1.1.1", 1)}, by="user") == (
        "address:1.1.1.1"
    )
