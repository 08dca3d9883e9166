"""A database whose statements have a limit of time, for housekeeping.

A class of its own, so that the statements of requests need not ask for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trio

from fxtrio.db.database import Database
from fxtrio.db.engine import Engine, Result


def limited(database: Database, seconds: float) -> Database:
    """Return the same database, where no statement takes longer than ``seconds``.

    The wait for a connection counts, and `notify` is a statement. One that takes longer is
    cancelled, on the server as well, and raises trio.TooSlowError.
    """
    return _LimitedDatabase(database._engine, seconds)


class _LimitedDatabase(Database):
    def __init__(self, engine: Engine, seconds: float) -> None:
        super().__init__(engine)
        self._seconds = seconds

    async def notify(self, channel: str) -> None:
        with trio.fail_after(self._seconds):
            await super().notify(channel)

    async def _run(self, sql: str, args: Sequence[Any]) -> Result:
        with trio.fail_after(self._seconds):
            return await super()._run(sql, args)
