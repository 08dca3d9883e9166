"""What the pages have in common: jobs of both kinds, and what is under way."""

import trio

from fx.db import get_database
from fx.jobs import job

UNDER_WAY = {"streams": 0}


async def short_job(seconds):
    await trio.sleep(seconds)


@job
async def deliver(ticket: str) -> None:
    await get_database().execute("insert into deliveries (ticket) values ($1)", ticket)
