"""Work that needs the database is done when that is back."""

from __future__ import annotations

import logging
import random
from collections.abc import Awaitable, Callable

import trio

_FIRST = 0.05  # seconds; twice as long each time
_LONGEST = 2.0

log = logging.getLogger("fx.jobs")


async def retry_until_done(work: Callable[[], Awaitable[object]]) -> None:
    """Do something that needs the database, again and again until it is done."""
    pause = _FIRST
    while True:
        try:
            await work()
            return
        except Exception as error:
            level = logging.WARNING if pause == _FIRST else logging.DEBUG  # warn once
            log.log(level, "jobs: the database fails, retrying: %s", error)
        await trio.sleep(random.uniform(0.5, 1) * pause)
        pause = min(2 * pause, _LONGEST)
