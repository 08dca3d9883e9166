"""Tools as a server of the official SDK, which runs on Trio.

Its low-level server is used: the other one sets up logging by itself.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import mcp.types as types
from mcp.server.lowlevel import Server

import fxtrio
from fxtrio.develop.mcp.tools import Picture, Tool, ToolFailed

_INSTRUCTIONS = (
    "Tools for a project of fxtrio, a web framework: a page is one .fxl file, Python first and "
    "React after it. Call 'problems' after each change, and 'search_docs' before you guess."
)


def make_server(tools: Sequence[Tool]) -> Server[Any]:
    """Return a server that offers ``tools``."""
    by_name = {tool.name: tool for tool in tools}
    listed = [
        types.Tool(name=tool.name, description=tool.description, input_schema=tool.schema)
        for tool in tools
    ]

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = by_name.get(params.name)
        if tool is None:
            return _failed(f"{params.name!r}: there is no such tool.")
        arguments = params.arguments or {}
        unknown = set(arguments) - set(tool.properties)
        missing = set(tool.required) - set(arguments)
        if unknown or missing:
            return _failed(f"{tool.name}: takes {', '.join(tool.properties) or 'no arguments'}.")
        try:
            answer = await tool.call(arguments)
        except ToolFailed as error:
            return _failed(str(error))
        return types.CallToolResult(content=[_content(answer)])

    return Server(
        "fxtrio",
        version=fxtrio.__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _content(answer: str | Picture) -> types.ContentBlock:
    if isinstance(answer, Picture):
        data = b64encode(answer.data).decode()
        return types.ImageContent(type="image", data=data, mime_type="image/png")
    return types.TextContent(type="text", text=answer)


def _failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)
