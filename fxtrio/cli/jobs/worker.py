"""Runs the durable jobs of a built project without serving it. Called by `fx jobs work`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import NoReturn

from fxtrio.app import assemble
from fxtrio.compile.plurals import counted
from fxtrio.config import load_config
from fxtrio.errors import PlacedError
from fxtrio.manifest import FOLDERS, load_manifest
from fxtrio.serve.pages.resources import Renderer


class NothingToRun(PlacedError):
    """A project has no durable jobs, or no database for them."""

    remedy = (
        "Set 'database.url', and put @job before a function of a module that a page or endpoint "
        "imports"
    )

    def __init__(self) -> None:
        super().__init__("fx jobs work", "there are no jobs to run")


class RendersNothing:
    """Stands in for Node where no page is requested."""

    async def render(self, page: int, payload: bytes) -> NoReturn:
        """Refuse."""
        raise NotImplementedError("this process runs jobs, and renders no pages")

    def stream(self, page: int, payload: bytes) -> AbstractAsyncContextManager[NoReturn]:
        """Refuse."""
        raise NotImplementedError("this process runs jobs, and renders no pages")


@asynccontextmanager
async def _open_nothing() -> AsyncIterator[Renderer]:
    yield RendersNothing()


async def run_apart(
    root: Path,
    queues: tuple[str, ...],
    workers: int,
    *,
    until: Callable[[], Awaitable[object]],
    report: Callable[[str], None],
) -> None:
    """Run the jobs of the build in ``root`` until ``until`` returns, and let them finish.

    ``queues`` are those of the settings when there are none. Raises NothingToRun, and what
    the app raises at its start.
    """
    config = load_config(root, jobs__workers=workers)
    if queues:
        config = load_config(root, jobs__workers=workers, jobs__queues=queues)
    build = root / FOLDERS["production"]
    app = assemble(root, config, build, load_manifest(build), open_renderer=_open_nothing)
    async with app.router.lifespan_context(app):
        runner = app.state.fx.jobs
        if runner is None:
            raise NothingToRun
        report(f"{counted(workers, 'job')} at a time, of {', '.join(queues) or 'every queue'}.")
        await until()
