"""Tells whether a pooler stands before PostgreSQL that lends connections for one transaction.

There a session is nobody's: prepared statements, LISTEN and settings of one client are met
by another one. Asked once, when the database is opened.
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


class Asked(Protocol):
    """A connection, as far as it is needed here."""

    async def run(self, sql: str) -> Result:
        """Run one statement."""
        ...

    def finish(self) -> None:
        """Close it."""
        ...


async def lends_transactions(
    first: Asked, told_pid: int, open_one: Callable[[], Awaitable[Asked]]
) -> bool:
    """Tell whether sessions are shared. ``told_pid`` is what ``first`` was told at its start.

    Without a pooler that is the process which serves it, and nothing more is asked. With one,
    a second connection looks for the same process while the first is there: in a session of
    one's own it cannot be met, nor can one's own change.
    """
    pid = await _ask(first)
    if pid == told_pid:
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


async def _ask(connection: Asked) -> int:
    found: int = (await connection.run(_PID)).rows[0][0]
    return found
