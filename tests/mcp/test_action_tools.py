"""Actions as tools: what the official client of the protocol lists, calls and cancels."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
import trio
from mcp.client.client import Client as AgentClient
from mcp.client.streamable_http import streamable_http_client

from fx.testing import open_app, open_server
from fxtrio.application import Application
from fxtrio.config import Config, PluginConfig
from fxtrio.plugins.protocol import PluginFailed
from fxtrio.server.supervise.options import ServeOptions
from fxtrio.testing import real_server
from fxtrio.testing.real_server import TestServer
from fxtrio.tools.types.ui.extra_paths import other_paths
from tests.trees import page, write_tree

# The client of the SDK leaves generators of its HTTP library to the garbage collector: the warning
# that trio gives for each is an error here, which is raised where nobody can take it.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Async generator 'httpx2:ResourceWarning"),
    pytest.mark.filterwarnings(
        "ignore:Exception ignored in. <async_generator object PoolByteStream"
        ":pytest.PytestUnraisableExceptionWarning"
    ),
]

PAGE = """
    from typing import Annotated

    import attrs
    import trio

    SEEN = []
    BEGUN = trio.Event()
    ENDED = trio.Event()


    @attrs.frozen
    class Line:
        item: str
        count: int = 1


    @attrs.frozen
    class Order:
        lines: list[Line]
        note: str | None = None


    @action(tool=True)
    async def order(request, order: Order):
        \"\"\"Order items of the shop.

        Prices are those of today.
        \"\"\"
        SEEN.append(dict(request.headers))
        if order.note == "missing":
            raise ActionError("Out of stock", 409)
        if order.note == "defect":
            raise RuntimeError("canary-of-a-defect")
        return {"count": sum(line.count for line in order.lines), "shop": request.path_params}


    @action(tool=True)
    async def tell(request):
        \"\"\"Tell a story in parts.\"\"\"
        for part in ("Once", " upon", " a time"):
            yield part


    @action(tool=True)
    async def wait(request):
        \"\"\"Wait for ever.\"\"\"
        try:
            BEGUN.set()
            await trio.sleep_forever()
        finally:
            ENDED.set()


    @action(tool=True)
    async def secret(request):
        \"\"\"Only for those with a token.\"\"\"
        return {"for": request.state.agent}


    @action
    async def for_pages(request):
        return {}
    """
HOOKS = """
    from fx.runtime import LoaderError
    from fxtrio.routes import route_of


    async def agents(request):
        if route_of(request).action == "secret":
            if request.headers.get("authorization") != "Bearer right":
                raise LoaderError("A token is needed", 401)
            request.state.agent = "agent 7"


    async def members(request):
        from starlette.responses import PlainTextResponse
        if request.headers.get("authorization") != "Bearer right":
            return PlainTextResponse("Who are you?", 401)
    """
RIGHT = {"authorization": "Bearer right"}
NAMES = ["shop_id_order", "shop_id_secret", "shop_id_tell", "shop_id_wait"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project, which is described once for each kind of settings."""
    root = tmp_path_factory.mktemp("tools")
    hooks = f"hooks_{root.name}"
    config = {"routeMiddleware": {"pages": [f"{hooks}:agents"]}}
    files = {
        "pages/shop/[id].fxl": page(PAGE),
        f"{hooks}.py": HOOKS,
        "fx.config.json": json.dumps(config),
    }
    return write_tree(root, files)


def plugin(**settings: Any) -> dict[str, Any]:
    return {"plugins": [{"name": "mcp", "settings": settings}]}


@asynccontextmanager
async def agent(
    server: TestServer,
    headers: dict[str, str] | None = None,
    *,
    mode: str = "auto",
    h2: bool = False,
) -> AsyncIterator[AgentClient]:
    http = httpx2.AsyncClient(headers=headers, trust_env=False, timeout=20, http1=not h2, http2=h2)
    with trio.fail_after(20):
        async with http:
            transport = streamable_http_client(f"{server.url}/mcp", http_client=http)
            async with AgentClient(transport, mode=mode) as client:
                yield client


@pytest.mark.parametrize(
    ("mode", "h2"), [("legacy", False), ("legacy", True), ("auto", False), ("auto", True)]
)
async def test_the_official_client_lists_and_calls_actions(
    root: Path, mode: str, h2: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real_server, "ServeOptions", partial(ServeOptions, h2c=h2))
    arguments = {"id": "a/b", "lines": [{"item": "tea", "count": 2}, {"item": "cup"}]}
    heard: list[str] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append(f"{progress:g}{message}")

    async with open_server(root, **plugin()) as server:
        async with agent(server, RIGHT, mode=mode, h2=h2) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            ordered = await client.call_tool("shop_id_order", arguments)
            streamed = await client.call_tool(
                "shop_id_tell", {"id": "5"}, progress_callback=progress
            )
            secret = await client.call_tool("shop_id_secret", {"id": "5"})
        async with agent(server, mode=mode, h2=h2) as client:
            open_tools = [tool.name for tool in (await client.list_tools()).tools]
            rejected = await client.call_tool("shop_id_secret", {"id": "5"})

    assert list(tools) == NAMES
    assert open_tools == [name for name in NAMES if name != "shop_id_secret"]
    order = tools["shop_id_order"]
    assert order.description == "Order items of the shop.\n\nPrices are those of today."
    assert order.input_schema["required"] == ["id", "lines"]
    assert order.input_schema["properties"]["lines"]["items"] == {"$ref": "#/$defs/LineInput"}
    assert ordered.structured_content == {"ok": True, "count": 3, "shop": {"id": "a/b"}}
    assert json.loads(vars(ordered.content[0])["text"]) == ordered.structured_content
    assert streamed.structured_content == {"ok": True, "values": ["Once", " upon", " a time"]}
    assert heard == ["1Once", "2 upon", "3 a time"]
    assert secret.structured_content == {"ok": True, "for": "agent 7"}
    assert rejected.is_error
    assert rejected.structured_content["error"] == "A token is needed"


async def test_the_errors_of_a_call_are_its_result(root: Path) -> None:
    async with open_server(root, **plugin()) as server, agent(server) as client:

        async def result(name: str, **arguments: Any) -> dict[str, Any]:
            called = await client.call_tool(name, arguments)
            assert called.is_error
            found: dict[str, Any] = called.structured_content
            return found

        invalid = await result("shop_id_order", id="1", lines=[{"item": 5}])
        stock = await result("shop_id_order", id="1", lines=[], note="missing")
        defect = await result("shop_id_order", id="1", lines=[], note="defect")
        missing = await result("shop_id_order", lines=[])
        unknown = await result("shop_id_for_pages", id="1")

    assert list(invalid["fields"]) == ["lines.0.item"]
    assert stock["error"] == "Out of stock"
    assert defect["ok"] is False
    assert "'id' is missing" in missing["error"]
    assert "there is no such tool" in unknown["error"]


def names_of(app: Application) -> dict[str, Any]:
    """Return the names of the page's module, whose lists say what has happened."""
    site = app.site
    plan = site.plans[site.manifest.routes[0].view]
    names: dict[str, Any] = plan.inner.actions["wait"].function.__globals__
    return names


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_that_cancels_its_call_cancels_the_task(root: Path, mode: str) -> None:
    async with open_server(root, **plugin()) as server, agent(server, mode=mode) as client:
        await client.list_tools()
        names = names_of(server.app)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.call_tool, "shop_id_wait", {"id": "1"})
            await names["BEGUN"].wait()
            nursery.cancel_scope.cancel()
        with trio.fail_after(5):
            await names["ENDED"].wait()


MESSAGE = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
HEADERS = {"accept": "application/json, text/event-stream"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "shop.example", "origin": "https://evil.example"}, 403),
        ({"host": "shop.example", "origin": "null"}, 403),
        ({"host": "localhost:8000", "origin": "http://localhost:3000"}, 403),
        ({"host": "shop.example"}, 200),
        ({"host": "shop.example", "origin": "https://shop.example"}, 200),
        ({"host": "localhost:8000", "origin": "http://localhost:8000"}, 200),
    ],
)
async def test_other_hosts_and_origins_are_rejected(
    root: Path, headers: dict[str, str], status: int
) -> None:
    async with open_app(root, **plugin(site="https://shop.example")) as client:
        answer = await client.post("/mcp", json=MESSAGE, headers={**HEADERS, **headers})

        assert answer.status == status
        assert (await client.get("/mcp", headers=headers)).status == (
            405 if status == 200 else status
        )


async def test_agents_without_a_token_learn_where_there_are_some(root: Path) -> None:
    settings = plugin(
        site="https://shop.example",
        guard=f"hooks_{root.name}:members",
        authorizationServers=["https://login.example"],
        scopes=["orders"],
    )
    metadata = "https://shop.example/app/.well-known/oauth-protected-resource/mcp"
    async with open_app(root, base_url="/app", **settings) as client:
        headers = {**HEADERS, "host": "shop.example"}
        without = await client.post("/app/mcp", json=MESSAGE, headers=headers)
        wrong = {**headers, "authorization": "Bearer wrong"}
        rejected = await client.post("/app/mcp", json=MESSAGE, headers=wrong)
        passed = await client.post("/app/mcp", json=MESSAGE, headers={**headers, **RIGHT})
        path = metadata.removeprefix("https://shop.example")
        listing = await client.get(path, headers={"host": "evil.example"})

    for answer in (without, rejected):
        assert answer.status == 401
        assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{metadata}"'
    assert passed.status == 200
    assert listing.json() == {
        "resource": "https://shop.example/app/mcp",
        "authorization_servers": ["https://login.example"],
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["orders"],
    }


async def test_cookies_of_a_request_reach_no_action(root: Path) -> None:
    call = {"name": "shop_id_order", "arguments": {"id": "1", "lines": []}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {**HEADERS, "host": "localhost", "cookie": "session=1", "user-agent": "agent"}
    async with open_app(root, **plugin(), csrf={"mode": "strict"}) as client:
        answer = await client.post("/mcp", json=message, headers=headers)
        seen = names_of(client.app)["SEEN"][-1]

    assert answer.status == 200, answer.text
    assert seen["user-agent"] == "agent"
    assert "cookie" not in seen


async def test_more_calls_than_allowed_are_rejected(root: Path) -> None:
    async with open_server(root, **plugin(calls=1)) as server, agent(server) as client:
        await client.list_tools()
        names = names_of(server.app)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.call_tool, "shop_id_wait", {"id": "1"})
            await names["BEGUN"].wait()
            second = await client.call_tool("shop_id_tell", {"id": "1"})
            nursery.cancel_scope.cancel()

    assert "Too many calls" in second.structured_content["error"]


async def test_the_document_is_public_only_where_it_is_enabled(root: Path) -> None:
    async with open_app(root, **plugin()) as client:
        assert (await client.get("/openapi.json")).status == 404
    async with open_app(root, openapi=True) as client:
        document = (await client.get("/openapi.json")).json()

    tools = [
        path for path, one in document["paths"].items() if one.get("post", {}).get("x-fx-tool")
    ]
    assert tools == [f"/api/__actions/shop/{{id}}/{name}" for name in ("order", "tell", "wait")]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"guard": "nowhere:nothing"}, "cannot be imported"),
        ({"guard": "json:dumps"}, "which is not async"),
    ],
)
async def test_a_guard_that_cannot_guard_stops_the_start(
    root: Path, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(PluginFailed, match=message):
        async with open_app(root, **plugin(**settings)):
            pass


def test_links_to_the_endpoint_are_known_and_not_those_of_the_sdk(tmp_path: Path) -> None:
    paths = set(other_paths(tmp_path, Config(plugins=(PluginConfig(name="mcp"),))))

    assert "/mcp" in paths
    assert paths.isdisjoint({"", "/*", "/token"})
