"""Opens an app for a test: compiled, its lifespan run, no sockets."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from fxtrio.app import Application, assemble, create_app
from fxtrio.compile.build import build_project, compile_server
from fxtrio.config import env_files, load_config
from fxtrio.context import entered
from fxtrio.serve.pages.running import Renderer
from fxtrio.ssr.frames import Rendered
from fxtrio.testing.client import Client


class NoParts:
    """A stream of one empty part."""

    async def __aiter__(self) -> AsyncIterator[Rendered]:
        """Give the part that closes the root element."""
        yield Rendered(b"", b"</div>")

    async def resolve(self, name: str, value: bytes) -> None:
        """Take a value that nothing is waiting for."""

    async def reject(self, name: str, error: bytes) -> None:
        """Take an error that nothing is waiting for."""


class NoRender:
    """Stands in for Node: pages have their data and head, and an empty root element."""

    async def render(self, page: int, payload: bytes) -> Rendered:
        """Return an empty render."""
        return Rendered(b"", b"")

    @asynccontextmanager
    async def stream(self, page: int, payload: bytes) -> AsyncIterator[NoParts]:
        """Open an empty stream."""
        yield NoParts()


@asynccontextmanager
async def _open_no_render() -> AsyncIterator[Renderer]:
    yield NoRender()


@asynccontextmanager
async def open_app(
    root: str | Path,
    *,
    render: bool = False,
    mode: Literal["production", "development"] = "development",
    data: str | Path | None = None,
    open_renderer: Any = _open_no_render,
    **settings: Any,
) -> AsyncIterator[Client]:
    """Run the project in ``root`` for the length of the block.

    Gives a `Client`; the app is its ``app``. ``settings`` are those of `load_config`.
    Without ``render`` nothing outside the process is needed, so the clock may be a
    mock clock. With it the project is built and rendered in Node, on the real clock.

    Plugins keep their files in the folder ``data``; by default in an empty one, which is
    gone after the block, so that tests leave the project's own data alone. The block's
    code belongs to the app: `get_auth`, `enqueue` and `get_app` work there. The variables
    of `.env` and `.env.local` are set for as long as it runs.

    Raises ConfigInvalid for settings, and CompileFailed for page files with problems.
    """
    project = Path(root)
    with (
        env_files(project),
        tempfile.TemporaryDirectory(prefix="fxtrio-test-") as folder,
    ):
        config = load_config(project, **settings)
        build, kept = Path(folder), Path(folder, "data")
        if render:
            await build_project(project, config, mode="production", report=lambda line: None)
            app = create_app(project, **settings)
        else:
            manifest = compile_server(project, config, build, mode=mode)
            app = assemble(project, config, build, manifest, open_renderer=open_renderer)
        async with _running(app, kept if data is None else Path(data)) as client:
            yield client


@asynccontextmanager
async def _running(app: Application, data: Path) -> AsyncIterator[Client]:
    """Run the lifespan. What the test raises leaves it as it is, in no group."""
    for plugin in app.plugins:
        plugin.isolate(data)
    failure: Exception | None = None
    async with app.router.lifespan_context(app):
        with entered(app.state.fx):
            try:
                yield Client(app)
            except Exception as error:  # the test's own
                failure = error
    if failure is not None:
        raise failure
