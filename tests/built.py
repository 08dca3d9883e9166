"""Projects that are built once for several tests, which each open them: a build takes a second."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

from fx.testing import Client
from fxtrio.app import create_app
from fxtrio.compile.build import build_project
from fxtrio.config import load_config

KEY = "the secret key of these tests"


def build(root: Path, **settings: Any) -> Path:
    """Build a project for production and return its folder."""

    async def run() -> None:
        config = load_config(root, **settings)
        await build_project(root, config, mode="production", report=lambda line: None)

    trio.run(run)
    return root


@asynccontextmanager
async def open_built(root: Path, **settings: Any) -> AsyncIterator[Client]:
    """Run a project that was built, with rendering."""
    app = create_app(root, **{"secret_keys": (KEY,), **settings})
    async with app.router.lifespan_context(app):
        yield Client(app)
