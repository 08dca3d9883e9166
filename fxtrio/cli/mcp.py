"""`fx mcp`: tools for agents that work on a project, over the standard streams."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from fxtrio.cli.output import root_option
from fxtrio.errors import ExtraMissing

if TYPE_CHECKING:
    from fxtrio.develop.mcp.tools import Picture, Tool


@click.command
@root_option
def command(root: Path) -> None:
    """Offer tools to coding agents with the Model Context Protocol.

    Agents start it and use its standard input and output. The tools return routes, problems with
    their places, and the documentation of this version; while 'fx dev' runs, also errors, logs,
    the data of pages, and screenshots.
    """
    # Heavy, and extras.
    try:
        import mcp  # noqa: F401
    except ModuleNotFoundError as error:
        raise ExtraMissing("fx mcp", "mcp", "mcp") from error
    import trio

    trio.run(_serve, root.resolve())


async def _serve(root: Path) -> None:
    from mcp.server.stdio import stdio_server

    from fxtrio.develop.mcp.sdk import make_server
    from fxtrio.develop.mcp.tools import local_tools

    server = make_server([*local_tools(root), *_forwarded(root)])
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _forwarded(root: Path) -> list[Tool]:
    """Return the tools that need the server, each of which asks the one of `fx dev`."""
    from fxtrio.develop.mcp.live_tools import Here, live_tools
    from fxtrio.develop.mcp.recent_log import RecentLog

    described = live_tools(RecentLog(root), Here("", 0, ""))
    return [attrs.evolve(tool, call=partial(_forward, root, tool.name)) for tool in described]


async def _forward(root: Path, name: str, arguments: Mapping[str, Any]) -> str | Picture:
    from fxtrio.develop.mcp.endpoint import call_known, read_known
    from fxtrio.develop.mcp.tools import Picture, ToolFailed

    known = read_known(root)
    if known is None:
        raise ToolFailed(f"{name}: needs the server. Start 'fx dev'.")
    try:
        answer = await call_known(known, name, arguments)
        result = json.loads(answer)["result"]
    except OSError as error:
        raise ToolFailed(f"{name}: 'fx dev' does not run. Start it.") from error
    except (ValueError, KeyError) as error:
        raise ToolFailed(f"{name}: the server of 'fx dev' cannot answer now. Try again.") from error
    [content] = result["content"]
    if result.get("isError"):
        raise ToolFailed(content["text"])
    if content["type"] == "image":
        return Picture(data=b64decode(content["data"]))
    return str(content["text"])
