"""What a tool is, and those that need no server: routes, problems, and the documentation.

Each answers with text. They run in the process of `fx dev` and in that of `fx mcp`; what imports
the project does so in a process of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from subprocess import DEVNULL, STDOUT
from typing import Any

import attrs
import trio

from fxtrio.tools.documentation.topics import (
    docs_folder,
    find_named,
    find_section,
    read_topics,
    search,
)

LIMIT = 120.0
"""How long a command may take (seconds)."""

LONGEST = 60_000
"""The longest answer; the rest is cut off (characters)."""


class ToolFailed(Exception):
    """A tool cannot answer; the text says why, and what to do."""


@attrs.frozen(kw_only=True)
class Picture:
    """An answer that is a PNG."""

    data: bytes


@attrs.frozen(kw_only=True)
class Tool:
    """Something that agents can call."""

    name: str
    description: str
    call: Callable[[Mapping[str, Any]], Awaitable[str | Picture]]
    """Takes the arguments, which fit the schema. Raises ToolFailed."""

    properties: Mapping[str, Any] = attrs.field(factory=dict)
    """A JSON Schema of each argument."""

    required: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }


def shortened(text: str) -> str:
    """Return a text that is not too long for an answer."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n… {len(text) - LONGEST} more characters are left out."


def local_tools(root: Path) -> list[Tool]:
    """Return the tools for the project in ``root`` that need no server."""
    run = partial(_run_command, root)
    strict = {"type": "boolean", "description": "Also check the types, which takes longer."}
    text = {"type": "string"}
    return [
        Tool(
            name="routes",
            description="List the routes of the project: which file serves which URL.",
            call=lambda arguments: run("routes", "--json"),
        ),
        Tool(
            name="problems",
            description=(
                "Find mistakes in page files, settings and Python code, each with file, line, "
                "column and remedy. Call it after every change."
            ),
            call=lambda arguments: run(
                "check", "--json", *(["--types"] if arguments.get("types") else [])
            ),
            properties={"types": strict},
        ),
        Tool(
            name="search_docs",
            description=(
                "Search the documentation of the installed version of fxtrio for lines that hold "
                "all words, or read one page by its name, such as 'guides/actions', or the "
                "section of an error class, such as 'LoaderError'."
            ),
            call=_search_docs,
            properties={"query": {**text, "description": "Words, a page's name, or a class."}},
            required=("query",),
        ),
    ]


async def _run_command(root: Path, *words: str) -> str:
    """Return what a command of `fx` prints for the project."""
    name, *options = words
    command = [sys.executable, "-m", "fxtrio", name, "--root", str(root), *options]
    with trio.move_on_after(LIMIT):
        done = await trio.run_process(
            command, stdin=DEVNULL, capture_stdout=True, stderr=STDOUT, check=False
        )
        return shortened(done.stdout.decode(errors="replace")) or "Nothing to report."
    raise ToolFailed(f"fx {name}: took longer than {LIMIT:g} s.")


async def _search_docs(arguments: Mapping[str, Any]) -> str:
    await trio.lowlevel.checkpoint()
    query = str(arguments["query"]).strip()
    words: Sequence[str] = query.split()
    if not words:
        raise ToolFailed("search_docs: the query is empty. Name words, a page or an error class.")
    topics = read_topics(docs_folder())
    section = find_section(topics, query)
    named = find_named(topics, query)
    if section or named:
        return shortened(section or named[0].text)
    found = [f"{topic.name} > {heading}: {line}" for topic, heading, line in search(topics, words)]
    if not found:
        raise ToolFailed(f"search_docs: no page contains {query!r}. Use fewer or other words.")
    return shortened("\n".join(found))
