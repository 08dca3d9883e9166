"""A database of each kind, for tests that hold on all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fxtrio.config import DatabaseConfig
from fxtrio.db import Database, open_database

ENGINES = ("memory", "file", "postgresql")


@asynccontextmanager
async def opened(kind: str, root: Path, **settings: Any) -> AsyncIterator[Database]:
    """Open a database: "memory", a "file" below ``root``, or what a URL names."""
    url = {"memory": "sqlite://", "file": "sqlite:///data/app.db"}.get(kind, kind)
    async with open_database(DatabaseConfig(url=url, **settings), root) as database:
        yield database
