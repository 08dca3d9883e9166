"""A project with ``llms``, and a stand-in for Node that counts its renders."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs

from fx.testing import Client, open_app
from fxtrio.ssr.frames import Rendered
from tests.built import KEY
from tests.contract.projects import write_pages

HTML = "<p>rendered</p>"


@attrs.define
class Renders:
    """Stands for Node, and counts."""

    count: int = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Renders]:
        yield self

    async def render(self, page: int, payload: bytes) -> Rendered:
        self.count += 1
        return Rendered(b"", HTML.encode())


@asynccontextmanager
async def open_llms(
    root: Path, files: dict[str, str], renders: Renders | None = None, **settings: Any
) -> AsyncIterator[Client]:
    """Run a project with ``llms``, rendered by a stand-in."""
    write_pages(root, files)
    options = {"llms": True, "secret_keys": (KEY,), **settings}
    opener = (renders or Renders()).open
    async with open_app(root, mode="production", open_renderer=opener, **options) as client:
        yield client
