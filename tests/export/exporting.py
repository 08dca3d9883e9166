"""Exports sample projects without Node: the HTML of a page is what its loader gives as ``html``."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from textwrap import dedent
from typing import Any

import msgspec
from msgspec.structs import replace

from fxtrio.compile.build import compile_server
from fxtrio.config import load_config
from fxtrio.export import Exported, export_site, place_of
from fxtrio.manifest import FILE_NAME, load_manifest
from fxtrio.ssr.frames import Rendered
from fxtrio.testing.open import NoRender
from tests.trees import PAGE, write_tree


class DataRenderer(NoRender):
    """Renders the HTML that is in a page's data."""

    async def render(self, page: int, payload: bytes) -> Rendered:
        state = json.loads(payload)
        html = state["props"]["data"].get("html", "<p>plain</p>")
        return Rendered(b"", html.replace("PATH", state["requestedPath"]).encode())


@asynccontextmanager
async def open_data_renderer() -> AsyncIterator[DataRenderer]:
    yield DataRenderer()


def page_with(html: str, python: str = "") -> str:
    """Return a page whose HTML is ``html``; ``python`` comes before its loader."""
    loader = f"@server\nasync def load(request):\n    return {{'html': {html!r}}}\n"
    return dedent(python).strip("\n") + "\n\n" + loader + "\n" + PAGE


async def export(
    root: Path,
    files: dict[str, str],
    *,
    site: str = "https://example.com",
    base: str | None = None,
    allow_missing: bool = False,
    jobs: int = 8,
    scripts: bool = True,
    **settings: Any,
) -> Exported:
    """Build a project of ``files`` in ``root`` without bundles, and export it into ``out``.

    Without ``scripts``, no code of a page needs any.
    """
    write_tree(root, files)
    config = load_config(root, **settings)
    build = root / ".fx" / "build"
    build.mkdir(parents=True, exist_ok=True)
    compile_server(root, config, build, mode="production")
    if not scripts:
        manifest = load_manifest(build)
        views = tuple(replace(view, scripts=False) for view in manifest.views)
        (build / FILE_NAME).write_bytes(msgspec.json.encode(replace(manifest, views=views)))
    return await export_site(
        root,
        config,
        root / "out",
        place_of(site, base, base_url=config.base_url),
        allow_missing=allow_missing,
        jobs=jobs,
        open_renderer=open_data_renderer,
    )


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder by name."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
