"""Opens an app for a test: compiled, its lifespan run, no sockets."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from fxtrio.app import assemble, create_app
from fxtrio.compile.build import build_project, compile_server
from fxtrio.config import load_config
from fxtrio.serve.site import Renderer
from fxtrio.ssr.pool import Rendered
from fxtrio.testing.client import Client


class NoRender:
    """Stands in for Node: pages have their data and head, and an empty root element."""

    async def render(self, page: int, payload: bytes) -> Rendered:
        """Return an empty render."""
        return Rendered(b"", b"")


@asynccontextmanager
async def _open_no_render() -> AsyncIterator[Renderer]:
    yield NoRender()


@asynccontextmanager
async def open_app(
    root: str | Path,
    *,
    render: bool = False,
    open_renderer: Any = _open_no_render,
    **settings: Any,
) -> AsyncIterator[Client]:
    """Run the project in ``root`` for the length of the block.

    Gives a `Client`; the app is its ``app``. ``settings`` are those of `load_config`.
    Without ``render`` nothing outside the process is needed, so the clock may be a
    mock clock. With it the project is built and rendered in Node, on the real clock.

    Raises CompileFailed for page files with problems.
    """
    root = Path(root).resolve()
    config = load_config(root, **settings)
    if render:
        await build_project(root, config, mode="production", report=lambda line: None)
        async with _running(create_app(root, **settings)) as client:
            yield client
        return
    with tempfile.TemporaryDirectory(prefix="fxtrio-test-") as folder:
        build = Path(folder)
        manifest = compile_server(root, config, build, mode="development")
        app = assemble(root, config, build, manifest, open_renderer=open_renderer)
        async with _running(app) as client:
            yield client


def _running(app: Any) -> AbstractAsyncContextManager[Client]:
    @asynccontextmanager
    async def run() -> AsyncIterator[Client]:
        async with app.router.lifespan_context(app):
            yield Client(app)

    return run()
