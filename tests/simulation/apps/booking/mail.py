"""A durable job that a crash may run twice."""

import trio

from fx.db import get_database
from fx.jobs import job


@job
async def confirm(receiver: str) -> None:
    await get_database().execute("insert into mails (receiver) values ($1)", receiver)
    await trio.sleep(2)  # until the mail server says that it has the message
