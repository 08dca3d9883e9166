"""A database of the test's own, in place of the one that the settings name."""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path

import attrs

from fxtrio.config import Config, DatabaseConfig
from fxtrio.db import open_database


@asynccontextmanager
async def own_database(
    config: Config, hold: Callable[[], AbstractContextManager[None]]
) -> AsyncIterator[Config]:
    """Give the settings with an empty database instead of the app's, if it has one.

    For SQLite it is in memory; on a PostgreSQL it is made on the same server, whose user
    must be allowed to, and dropped after the block; ``hold`` keeps a mock clock meanwhile.
    """
    settings = config.database
    if not settings.url:
        yield config
    elif settings.url.startswith("sqlite"):
        yield _with(config, "sqlite://")
    else:
        name = f"fx_test_{secrets.token_hex(8)}"
        with hold():
            await _tell(settings, f"create database {name}")
        try:
            yield _with(config, _named(settings.url, name))
        finally:
            with hold():
                await _tell(settings, f"drop database {name} with (force)")


def _with(config: Config, url: str) -> Config:
    return attrs.evolve(config, database=attrs.evolve(config.database, url=url, migrate="run"))


def _named(url: str, name: str) -> str:
    """Return a URL with another database."""
    return re.sub(r"^(\w+://[^/?#]*)(/[^?#]*)?", rf"\1/{name}", url)


async def _tell(settings: DatabaseConfig, sql: str) -> None:
    """Run a statement beside the database of the settings, which need not exist."""
    beside = attrs.evolve(settings, url=_named(settings.url, "postgres"), pool=1)
    async with open_database(beside, Path()) as database:
        await database.execute(sql)
