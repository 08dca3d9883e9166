"""The tools of `fx dev` for agents: what they answer, and who may call them."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from mcp.client.client import Client as AgentClient
from starlette.applications import Starlette
from starlette.types import Message, Receive, Scope, Send

from fx.testing import open_app
from fxtrio.develop.mcp.endpoint import FILE, PATH, ToolsEndpoint, read_known
from fxtrio.develop.mcp.live_tools import Here, live_tools
from fxtrio.develop.mcp.recent_log import RecentLog
from fxtrio.develop.mcp.sdk import make_server
from fxtrio.develop.mcp.tools import local_tools
from fxtrio.observe.observer import open_observer
from tests.trees import page, write_tree

CANARY = "canary-3b7f"
HERE = Here("127.0.0.1", 8000, "")
PAGE = """
    @server
    async def load(request):
        return {}

    @action
    async def fail(request):
        await request.json()
        raise RuntimeError("broken")
    """


async def ask(root: Path, name: str, log: RecentLog | None = None, **arguments: Any) -> Any:
    log = RecentLog(root) if log is None else log
    server = make_server([*local_tools(root), *live_tools(log, HERE)])
    async with AgentClient(server) as client:
        return await client.call_tool(name, arguments)


async def test_the_official_client_lists_the_tools_with_their_schemas(tmp_path: Path) -> None:
    server = make_server([*local_tools(tmp_path), *live_tools(RecentLog(tmp_path), HERE)])
    async with AgentClient(server) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}

    assert list(tools) == [
        *("routes", "problems", "search_docs"),
        *("errors", "request_log", "tree", "page_data", "screenshot"),
    ]
    assert all(tool.description for tool in tools.values())
    assert tools["page_data"].input_schema["required"] == ["path"]


async def test_routes_come_from_the_project(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/book/[id].fxl": page("")})
    result = await ask(tmp_path, "routes")

    assert "pages/book/[id].fxl" in result.content[0].text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("LoaderError", "Raise it in a loader"),
        ("guides/actions", "# Actions and forms"),
        ("rate limit", "Cache-Control, CORS"),
    ],
)
async def test_the_documentation_is_searched_or_read(
    tmp_path: Path, query: str, expected: str
) -> None:
    result = await ask(tmp_path, "search_docs", query=query)

    assert expected in result.content[0].text
    assert len(result.content[0].text) < 70_000


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("search_docs", {"query": "xyzzy plugh"}, "no page contains 'xyzzy plugh'"),
        ("search_docs", {"query": " "}, "the query is empty"),
        ("search_docs", {}, "takes query"),
        ("routes", {"folder": "/etc"}, "takes no arguments"),
        ("page_data", {"path": "//evil.example/"}, "is not a path of the app"),
        ("page_data", {"path": "http://evil.example/"}, "is not a path of the app"),
        ("screenshot", {"path": "/\r\nhost: evil"}, "is not a path of the app"),
        ("nothing", {}, "there is no such tool"),
    ],
)
async def test_a_wrong_call_is_answered_with_the_reason(
    tmp_path: Path, name: str, arguments: dict[str, Any], expected: str
) -> None:
    result = await ask(tmp_path, name, **arguments)

    assert result.is_error
    assert expected in result.content[0].text


async def test_errors_have_their_places_and_no_value_of_a_visitor(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(PAGE)})
    log = RecentLog(tmp_path)
    with log.listening():
        async with open_app(tmp_path) as client:
            headers = {"cookie": f"session={CANARY}", "authorization": f"Bearer {CANARY}"}
            await client.get(f"/?token={CANARY}", headers=headers)
            body = {"password": CANARY}
            answer = await client.post("/api/__actions/index/fail", json=body, headers=headers)
    errors = (await ask(tmp_path, "errors", log)).content[0].text
    request_id = answer.headers["x-request-id"]
    lines = (await ask(tmp_path, "request_log", log, request_id=request_id)).content[0].text

    assert errors.startswith("pages/index.fxl:")
    assert f"fail [request {request_id}]" in errors
    assert "RuntimeError: broken" in lines
    assert CANARY not in errors + lines + "".join(line.text for line in log.lines)


async def test_the_tree_shows_what_runs(tmp_path: Path) -> None:
    failed = await ask(tmp_path, "tree")
    with open_observer():
        result = await ask(tmp_path, "tree")

    assert failed.is_error
    assert f"process {os.getpid()}" in result.content[0].text
    assert "test_the_tree_shows_what_runs" in result.content[0].text


async def _app(scope: Scope, receive: Receive, send: Send) -> None:
    await Starlette()(scope, receive, send)


Post = Callable[..., Awaitable[tuple[int, bytes]]]


@asynccontextmanager
async def served(root: Path) -> AsyncIterator[Post]:
    """Run the endpoint in its lifespan; give a function that posts to it."""
    endpoint = ToolsEndpoint(_app, root, HERE)
    stop = trio.Event()
    began = trio.Event()

    async def lifespan_receive() -> Message:
        if not began.is_set():
            return {"type": "lifespan.startup"}
        await stop.wait()
        return {"type": "lifespan.shutdown"}

    async def lifespan_send(message: Message) -> None:
        began.set()

    async def post(
        method: str = "tools/list", address: str = "127.0.0.1", **headers: str
    ) -> tuple[int, bytes]:
        call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}
        sent = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        scope = {
            "type": "http",
            "method": "POST",
            "path": PATH,
            "raw_path": PATH.encode(),
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
            "client": (address, 1),
            "server": ("127.0.0.1", 8000),
            "scheme": "http",
            "http_version": "1.1",
        }
        found: dict[str, Any] = {"body": b""}
        bodies = [{"type": "http.request", "body": json.dumps(call).encode()}]

        async def receive() -> Message:
            if bodies:
                return bodies.pop()
            await trio.sleep_forever()
            raise AssertionError

        async def send(message: Message) -> None:
            found.setdefault("status", message.get("status"))
            found["body"] += message.get("body", b"")

        await endpoint(scope, receive, send)
        return found["status"], found["body"]

    async with trio.open_nursery() as nursery:
        nursery.start_soon(endpoint, {"type": "lifespan"}, lifespan_receive, lifespan_send)
        await began.wait()
        yield post
        stop.set()


async def test_a_program_of_this_machine_with_the_token_is_answered(tmp_path: Path) -> None:
    async with served(tmp_path) as post:
        known = read_known(tmp_path)
        assert known is not None
        status, body = await post(authorization=f"Bearer {known.token}")

    assert status == 200
    assert [tool["name"] for tool in json.loads(body)["result"]["tools"]][:2] == [
        "routes",
        "problems",
    ]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, b"send the token"),
        ({"authorization": "Bearer guess"}, b"send the token"),
        ({"authorization": "TOKEN", "origin": "http://127.0.0.1:8000"}, b"pages in browsers"),
        ({"authorization": "TOKEN", "origin": "null"}, b"pages in browsers"),
        ({"authorization": "TOKEN", "sec_fetch_site": "cross-site"}, b"pages in browsers"),
        ({"authorization": "TOKEN", "address": "192.0.2.7"}, b"programs of this machine"),
        ({"authorization": "TOKEN", "address": "::ffff:192.0.2.7"}, b"programs of this machine"),
    ],
)
async def test_everybody_else_is_rejected(
    tmp_path: Path, headers: dict[str, str], expected: bytes
) -> None:
    async with served(tmp_path) as post:
        known = read_known(tmp_path)
        assert known is not None
        sent = {
            name: value.replace("TOKEN", f"Bearer {known.token}") for name, value in headers.items()
        }
        status, body = await post(**sent)

    assert status == 403
    assert expected in body
    assert known.token.encode() not in body


async def test_the_token_stays_and_is_for_the_developer_alone(tmp_path: Path) -> None:
    async with served(tmp_path):
        first = read_known(tmp_path)
    async with served(tmp_path):
        second = read_known(tmp_path)

    assert first == second is not None
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
