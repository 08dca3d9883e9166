"""A process that runs jobs until it is killed: `run` in an interpreter of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import attrs
import trio

from fx.db import db
from fx.jobs import job
from fxtrio.config import DatabaseConfig
from fxtrio.db import open_database
from fxtrio.jobs.decorators import Schedule
from fxtrio.jobs.store import JobStore
from tests.jobs.running import running

TABLES = """
create table exact (n integer primary key);
create table touched (n integer not null);
create table ticked (tick bigint not null);
"""


@job(atomic=True, retries=0)
async def exactly(number: int) -> None:
    await db.execute("insert into exact values ($1)", number)  # which fails the second time


@job(retries=0)
async def at_least(number: int) -> None:
    await db.execute("insert into touched values ($1)", number)


@job(retries=0)
async def lasting(number: int) -> None:
    await trio.sleep(0.05)
    await db.execute("insert into touched values ($1)", number)


@attrs.frozen
class EachSecond(Schedule):
    """A schedule that cron has not: tests have no minutes."""

    def after(self, moment: float) -> float:
        return math.floor(moment) + 1.0

    def before(self, moment: float) -> float:
        return math.ceil(moment) - 1.0


@job(retries=0)
async def no_op() -> None: ...


tick = attrs.evolve(no_op, name="tick", schedule=EachSecond("", ZoneInfo("UTC")))


class TellingStore(JobStore):
    """Keeps each time of a schedule that was the first of its kind."""

    async def tick(self, ticks: Mapping[str, float]) -> set[str]:
        first = await super().tick(ticks)
        if self.database.in_transaction:
            for name in first:
                await self.database.execute("insert into ticked values ($1)", int(ticks[name]))
        return first


JOBS: dict[str, Any] = {each.name: each for each in (exactly, at_least, lasting, tick)}


async def main(url: str, names: list[str]) -> None:
    async with open_database(DatabaseConfig(url=url), Path("/")) as database:
        jobs = [JOBS[name] for name in names]
        async with running(database, *jobs, workers=8, store=TellingStore):
            print("ready", flush=True)
            await trio.sleep_forever()


def run(url: str, *names: str) -> None:
    """Run jobs for ever."""
    trio.run(main, url, list(names))
