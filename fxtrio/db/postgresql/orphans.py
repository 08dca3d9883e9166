"""Ends transactions that the server keeps open for connections that were closed here.

A connection that went silent, or did not end its transaction in time, is closed, but the server
may not notice: its transaction would hold its locks until one of the server's timeouts. So the
server is asked on another connection to end it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import attrs
import psycopg
import trio

from fxtrio.db.engine import Result
from fxtrio.db.errors import DatabaseBusy

LIFE = 60.0
"""How long a session is looked for, which may work at a statement until then (seconds)."""

_LIMIT = 5.0  # for the server to answer, in seconds

_END = """
    select now.pid, state like 'idle in transaction%' and pg_terminate_backend(now.pid)
    from pg_stat_activity as now join unnest($1::int[], $2::float8[]) as gone (pid, began)
    on now.pid = gone.pid and extract(epoch from now.backend_start)::float8 = gone.began"""
"""Ends the transactions, and returns the sessions that existed; the last column is whether a
session's transaction was ended."""

log = logging.getLogger("fx.db")


@attrs.frozen
class ServerSession:
    """A session of the server; no later one has the same number and beginning."""

    pid: int
    began: float
    """Seconds since 1970, by the server's clock."""


class OrphanConnection(Protocol):
    """A connection, as far as it is needed here."""

    async def run(self, sql: str, args: Sequence[object] = ()) -> Result:
        """Run one statement."""
        ...

    def finish(self) -> None:
        """Close it."""
        ...


@attrs.define(eq=False)
class Orphans:
    """Sessions whose connections have been closed here in the middle of something."""

    _left: dict[ServerSession, float] = attrs.field(factory=dict)
    """Until when each is looked for, on trio's clock (seconds)."""

    def __len__(self) -> int:
        return len(self._left)

    def add(self, session: ServerSession) -> None:
        """Have a session looked for."""
        self._forget(lambda _: True)  # `end` may never be called
        self._left.setdefault(session, trio.current_time() + LIFE)

    async def end(self, open_one: Callable[[], Awaitable[OrphanConnection]]) -> None:
        """End their transactions, and drop ended sessions; failed ones are retried."""
        with trio.move_on_after(_LIMIT):
            try:
                asking = await open_one()
            except DatabaseBusy:
                return
            try:
                rows = (await asking.run(_END, self._arguments())).rows
            except psycopg.Error as error:
                log.debug("Cannot check for connections that were closed: %s", error)
                return
            finally:
                asking.finish()
            there = {pid for pid, ended in rows if not ended}
            for _ in range(len(rows) - len(there)):
                log.warning("database: ended the transaction of a lost connection")
            self._forget(lambda session: session.pid in there)

    def _forget(self, stays: Callable[[ServerSession], bool]) -> None:
        """Keep those that may stay and have time left."""
        now = trio.current_time()
        self._left = {
            session: until
            for session, until in self._left.items()
            if now < until and stays(session)
        }

    def _arguments(self) -> list[object]:
        sessions = [*self._left]
        return [[each.pid for each in sessions], [each.began for each in sessions]]
