"""Detects a pooler that lends PostgreSQL connections for one transaction at a time.

There a session is shared: prepared statements, LISTEN and settings of one client affect
another one. Checked once, when the database is opened.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

import trio

from fxtrio.db.engine import Result

_ROUNDS = 8
"""Looks at two connections; where others use the pooler at the same time one may miss it."""

_LIMIT = 3.0
"""For all looks (seconds). A pooler with room for one session lets the second one wait."""

_PID = "select pg_backend_pid()"


class PoolerConnection(Protocol):
    """A connection, as far as it is needed here."""

    async def run(self, sql: str) -> Result:
        """Run one statement."""
        ...

    def finish(self) -> None:
        """Close it."""
        ...


async def lends_transactions(
    first: PoolerConnection, reported_pid: int, open_one: Callable[[], Awaitable[PoolerConnection]]
) -> bool:
    """Whether sessions are shared. ``reported_pid`` is the process id at the start of ``first``.

    Without a pooler that is the id of its backend, and no further query is needed. With one,
    a second connection looks for the same backend while the first is open: an exclusive
    session's backend can neither be shared nor change.
    """
    pid = await _ask(first)
    if pid == reported_pid:
        return False
    with trio.move_on_after(_LIMIT):
        second = await open_one()
        try:
            for _ in range(_ROUNDS):
                await second.run("begin")
                try:
                    if await _ask(second) == pid or await _ask(first) != pid:
                        return True
                finally:
                    with trio.CancelScope(shield=True), trio.move_on_after(1):
                        await second.run("rollback")
        finally:
            second.finish()
    return False


async def _ask(connection: PoolerConnection) -> int:
    found: int = (await connection.run(_PID)).rows[0][0]
    return found
