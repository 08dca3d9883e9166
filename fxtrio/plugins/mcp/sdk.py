"""The tools of an app as a server of the official SDK, which runs on Trio.

Its low-level server is used: the other one sets up logging by itself. It has no sessions: each
call is a request of its own, so any process of an app can answer it.
"""

from __future__ import annotations

import json
from typing import Any

import attrs
import mcp.types as types
import trio
from mcp.server.lowlevel import Server
from starlette.types import Scope

from fxtrio.plugins.mcp.calls import Calls, call, client_of
from fxtrio.plugins.mcp.tools import ActionTool, tools_of
from fxtrio.serve.openapi.answer import PATH, OpenApiSource

_LONGEST = 2000  # characters of a message about progress


@attrs.define(eq=False)
class Tools:
    """What agents can call, and the calls."""

    base_url: str
    calls: Calls
    _known: tuple[Any, dict[str, ActionTool]] | None = None

    async def listed(self, scope: Scope) -> list[types.Tool]:
        """Return the tools that the app's hooks open to who asks."""
        called = await call(scope, "GET", self.base_url + PATH)
        found = tools_of(called.result) if called.status == 200 else {}
        return [
            types.Tool(name=one.name, description=one.description, input_schema=dict(one.schema))
            for one in found.values()
        ]

    async def find(self, scope: Scope, name: str) -> ActionTool | None:
        """Return a tool, whoever asks: the action's own hooks decide about a call."""
        documents: OpenApiSource = scope["app"].openapi
        whole = await documents.get()
        if whole is None:
            return None
        if self._known is None or self._known[0] is not whole:
            self._known = whole, tools_of(whole.document)
        return self._known[1].get(name)

    async def call(self, context: Any, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return what an action answers, with ``ok`` and, if that is false, ``error``."""
        scope: Scope = context.request.scope
        tool = await self.find(scope, name)
        if tool is None:
            return _failure(f"{name!r:.80}: there is no such tool.")
        try:
            path = self.base_url + tool.url_path(arguments)
        except KeyError as error:
            return _failure(f"{name}: the argument {error} is missing.")

        async def report(number: int, text: str) -> None:
            await context.session.report_progress(number, message=text[:_LONGEST])

        try:
            with self.calls.admit(client_of(scope), context.request_id):
                called = await call(scope, "POST", path, tool.body(arguments), report)
                return called.result
        except trio.WouldBlock:
            return _failure("Too many calls are under way. Try again in a moment.")
        return _failure("The call was cancelled.")


def _failure(text: str) -> dict[str, Any]:
    return {"ok": False, "error": text}


def make_server(name: str, version: str, tools: Tools) -> Server[Any]:
    """Return a server that offers ``tools``."""

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=await tools.listed(context.request.scope))

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        result = await tools.call(context, params.name, params.arguments or {})
        text = json.dumps(result, ensure_ascii=False)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)],
            structured_content=result,
            is_error=not result["ok"],
        )

    return Server(
        name,
        version=version,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=lambda name: None,  # no tool has parameters in headers
    )
