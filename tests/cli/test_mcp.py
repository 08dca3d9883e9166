"""`fx mcp`, as an agent uses it: the official client, over the standard streams of a process."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import trio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import TextContent

from tests.e2e.support import Server
from tests.trees import page, write_tree

NAMES = [
    *("routes", "problems", "search_docs"),
    *("errors", "request_log", "tree", "page_data", "screenshot"),
]


@asynccontextmanager
async def agent(root: Path) -> AsyncIterator[ClientSession]:
    command = StdioServerParameters(command=sys.executable, args=["-m", "fxtrio", "mcp"], cwd=root)
    errors = sys.__stderr__  # the default is what `sys.stderr` was when `mcp` was imported
    assert errors is not None
    with trio.fail_after(60):
        async with (
            stdio_client(command, errlog=errors) as (read, write),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            yield session


async def call(session: ClientSession, name: str, **arguments: Any) -> tuple[bool, str]:
    """Return whether the tool failed, and its text."""
    result = await session.call_tool(name, arguments)
    [content] = result.content
    assert isinstance(content, TextContent)
    return bool(result.is_error), content.text


async def test_without_fx_dev_it_knows_the_project(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/book/[id].fxl": page("")})
    async with agent(tmp_path) as session:
        names = [tool.name for tool in (await session.list_tools()).tools]
        routes = await call(session, "routes")
        problems = await call(session, "problems")
        docs = await call(session, "search_docs", query="LoaderError")
        live = [await call(session, name) for name in ("errors", "tree")]
        unknown = await call(session, "delete_everything")

    assert names == NAMES
    assert not routes[0] and "pages/book/[id].fxl" in routes[1]
    assert not problems[0]
    assert not docs[0] and "LoaderError" in docs[1]
    for failed, text in live:
        assert failed and "Start" in text and "fx dev" in text
    assert unknown[0]


@pytest.mark.browser
@pytest.mark.shared_dev
def test_with_fx_dev_it_knows_what_runs(project: Path, server: Server) -> None:
    found: dict[str, tuple[bool, str]] = {}

    async def use() -> None:
        async with agent(project) as session:
            assert [tool.name for tool in (await session.list_tools()).tools] == NAMES
            found["page"] = await call(session, "page_data", path="/about")
            found["tree"] = await call(session, "tree")
            found["errors"] = await call(session, "errors")
            found["routes"] = await call(session, "routes")
            found["elsewhere"] = await call(session, "page_data", path="http://evil.example/")

    # In a thread of its own, since Playwright's event loop belongs to this one.
    thread = Thread(target=partial(trio.run, use))
    thread.start()
    thread.join()

    assert set(found) == {"page", "tree", "errors", "routes", "elsewhere"}
    assert [failed for failed, _ in found.values()] == [False] * 4 + [True]
    assert found["page"][1].startswith("status 200, request ")
    assert found["tree"][1].startswith("process ")
    assert "pages/index.fxl" in found["routes"][1]
