"""Durable jobs of each kind."""

import time

import trio

from fx.db import get_database
from fx.jobs import every, job


@job
async def deliver(ticket: str) -> None:
    await get_database().execute("insert into deliveries (ticket) values ($1)", ticket)


@job(atomic=True)
async def deliver_once(ticket: str) -> None:
    await trio.sleep(0.2)
    await get_database().execute("insert into once (ticket) values ($1)", ticket)


@job(retries=3, backoff=1.0)
async def deliver_at_last(ticket: str) -> None:
    database = get_database()
    await database.execute("insert into attempts (ticket) values ($1)", ticket)
    if await database.value("select count(*) from attempts where ticket = $1", ticket) < 3:
        raise ValueError("not yet")
    await database.execute("insert into deliveries (ticket) values ($1)", ticket)


@every("* * * * *", atomic=True)
async def tick() -> None:
    minute = int(time.time()) // 60
    await get_database().execute("insert into ticks (minute) values ($1)", minute)
