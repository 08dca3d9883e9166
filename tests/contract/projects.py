"""Small projects around one rule: written, checked, opened."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import trio
from starlette.types import Message, Scope

from fx.testing import Client, open_app
from fxtrio.compile.project import check_project
from fxtrio.config import load_config
from tests.built import KEY
from tests.trees import page, write_tree

_AS_IT_IS = (".fxl", ".json", ".md", ".py", ".txt")


def write_pages(root: Path, files: Mapping[str, str]) -> Path:
    """Write a project; ``files`` maps `index` or `shop/[id]` to the Python half of a page.

    A path with an ending is a file as it is.
    """
    tree = {}
    for name, text in files.items():
        if PurePosixPath(name).suffix in _AS_IT_IS:
            tree[name] = text
        else:
            tree[f"pages/{name}.fxl"] = page(text)
    return write_tree(root, tree)


@asynccontextmanager
async def open_pages(
    root: Path,
    files: Mapping[str, str] | str,
    *,
    mode: Literal["production", "development"] = "production",
    **settings: Any,
) -> AsyncIterator[Client]:
    """Run a project without rendering; a text is the Python half of its only page, `/`."""
    write_pages(root, {"index": files} if isinstance(files, str) else files)
    async with open_app(root, mode=mode, **{"secret_keys": (KEY,), **settings}) as client:
        yield client


def problems_of(root: Path, files: Mapping[str, str] | str) -> list[str]:
    """Return what `fx check` prints of a project, line by line."""
    write_pages(root, {"index": files} if isinstance(files, str) else files)
    return [str(problem) for problem in check_project(root, load_config(root)).problems]


async def exchange(client: Client, scope: Scope, log: list[str], *, body: bytes = b"") -> None:
    """Send one request and note in ``log`` when its response has been sent."""
    received = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> Message:
        for message in received:
            return message
        return await trio.sleep_forever()

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body" and not message.get("more_body"):
            log.append("response")

    await client.app(scope, receive, send)
