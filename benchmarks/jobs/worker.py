"""A process that runs the jobs of the measurement, until it is ended."""

from __future__ import annotations

import time
from pathlib import Path

import trio

from fx.jobs import job
from fxtrio.config import DatabaseConfig
from fxtrio.db import open_database
from tests.jobs.running import running


@job()
async def no_op(number: int) -> None:
    pass


@job(atomic=True)
async def atomic_no_op(number: int) -> None:
    pass


@job()
async def tell(sent: float) -> None:
    """Print how long ago it was enqueued (milliseconds)."""
    print(1000 * (time.time() - sent), flush=True)


JOBS = (no_op, atomic_no_op, tell)


async def main(url: str, workers: int) -> None:
    async with open_database(DatabaseConfig(url=url), Path("/")) as database:
        async with running(database, *JOBS, workers=workers):
            print("ready", flush=True)
            await trio.sleep_forever()


def run(url: str, workers: int) -> None:
    """Run jobs for ever."""
    trio.run(main, url, workers)
