"""A durable job, and one that is not."""

from fx.db import get_database
from fx.jobs import job


@job
async def confirm(receiver: str) -> None:
    await get_database().execute("insert into mails (receiver) values ($1)", receiver)
