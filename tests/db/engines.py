"""A database of each kind, for tests that hold on all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fxtrio.config import DatabaseConfig
from fxtrio.db import Database, open_database

ENGINES = ("memory", "file")


@asynccontextmanager
async def opened(
    kind: str, root: Path, *, fresh: bool = True, **settings: Any
) -> AsyncIterator[Database]:
    """Open a database of a kind; the tests' files are below ``root``.

    It is empty when it is ``fresh``, or the first of the test.
    """
    url = {"memory": "sqlite://", "file": "sqlite:///data/app.db"}[kind]
    async with open_database(DatabaseConfig(url=url, **settings), root) as database:
        yield database
