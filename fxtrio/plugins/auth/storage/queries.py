"""The storage's queries: with a timeout, and with the names of its tables."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import trio

from fxtrio.db import Database
from fxtrio.plugins.auth.errors import AuthStorageUnavailable
from fxtrio.plugins.auth.storage.interface import StorageStatistics
from fxtrio.plugins.auth.storage.tables import PREFIX, named

LIMIT = 5.0
"""How long the database has for one call (seconds)."""

SILENCE = 60.0
"""Shortest time between two lines in the log about a database that does not work (seconds)."""

log = logging.getLogger("fx.auth")

Answer = TypeVar("Answer")


class Queries:
    """The base of a storage's calls. `DatabaseStorage` in `sql_storage` inherits it."""

    def __init__(self, database: Database, prefix: str) -> None:
        self.database = database
        self._prefix = prefix
        self._skip = database.sql.skip_locked
        self._position = database.sql.position
        self._queries = 0
        self._logged_at = -SILENCE

    @property
    def shared(self) -> bool:
        """Whether it is in the app's database, and not in a file of its own."""
        return self._prefix == PREFIX

    def statistics(self) -> StorageStatistics:
        """Return the statistics so far."""
        return StorageStatistics(self._queries)

    def after_commit(self, call: Callable[[], object]) -> None:
        """Call ``call`` after the commit."""
        self.database.after_commit(call)

    async def _ending(self, sql: str, *args: Any) -> int:
        """Change sessions, and notify the watchers of `version`."""

        async def end() -> int:
            ended = await self._execute(sql, *args)
            await self._count_change()
            return ended

        return await self._in_one(end)

    async def _count_change(self) -> None:
        await self._execute("update fx_auth set changes = changes + 1")

    def _named(self, sql: str) -> str:
        return named(sql, self._prefix)

    async def _execute(self, sql: str, *args: Any) -> int:
        return await self.database.execute(self._named(sql), *args)

    async def _one(self, row: type[Answer], sql: str, *args: Any) -> Answer | None:
        return await self.database.one(row, self._named(sql), *args)

    async def _in_one(self, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """Do ``work`` in one transaction."""

        async def run() -> Answer:
            async with self.database.transaction():
                return await work()

        return await self._in_time(run)

    async def _in_time(self, work: Callable[..., Awaitable[Answer]], *args: Any) -> Answer:
        """Do ``work``. Raises AuthStorageUnavailable when the database cannot, or not in time."""
        self._queries += 1
        try:
            with trio.fail_after(LIMIT):
                return await work(*args)
        except trio.TooSlowError as error:
            unavailable = AuthStorageUnavailable(f"it has not answered for {LIMIT:g} s")
            cause: Exception = error
        except Exception as error:
            if not self.database.cannot_work(error):
                raise
            unavailable = AuthStorageUnavailable(" ".join(str(error).split()))
            cause = error
        self._log_unavailable(unavailable)
        raise unavailable from cause

    def _log_unavailable(self, error: AuthStorageUnavailable) -> None:
        now = time.monotonic()
        if now - self._logged_at >= SILENCE:
            self._logged_at = now
            log.error("%s", error)
