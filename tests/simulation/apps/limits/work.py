"""What is under way in the process."""

import trio

UNDER_WAY = {"streams": 0, "bytes": 0}


async def short_job(seconds):
    await trio.sleep(seconds)
