"""A process that runs jobs until it is killed: `run` in an interpreter of its own."""

from __future__ import annotations

from pathlib import Path

import trio

from fx.db import db
from fx.jobs import job
from fxtrio.config import DatabaseConfig
from fxtrio.db import open_database
from tests.jobs.running import running

TABLES = """
create table exact (n integer primary key);
create table touched (n integer not null);
"""


@job(atomic=True, retries=0)
async def exactly(number: int) -> None:
    await db.execute("insert into exact values ($1)", number)  # which fails the second time


@job(retries=0)
async def at_least(number: int) -> None:
    await db.execute("insert into touched values ($1)", number)


async def main(url: str) -> None:
    async with open_database(DatabaseConfig(url=url), Path("/")) as database:
        async with running(database, exactly, at_least, workers=8):
            print("ready", flush=True)
            await trio.sleep_forever()


def run(url: str) -> None:
    """Run jobs for ever."""
    trio.run(main, url)
