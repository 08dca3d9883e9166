"""Ends connections to PostgreSQL whose response was lost, though the server finished its work.

A middlebox that still acknowledges packets hides a broken path from TCP. So the server is
asked, on a new connection, about each session that has been silent for long: if the session is
gone or idle, its response was lost.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

import psycopg
import trio

from fxtrio.db.engine import Result
from fxtrio.db.errors import DatabaseBusy
from fxtrio.db.postgresql.orphans import Orphans

QUIET = 5.0
"""Silence of a statement after which its session is checked (seconds)."""

_LOOK = 2.5  # between two looks, in seconds
_LIMIT = 5.0  # for the server's response to the check, in seconds
_ON_ITS_WAY = 1.0  # for a response that the server has just sent, in seconds

_STATES = "select pid, state from pg_stat_activity where pid = any($1)"
_AT_WORK = frozenset({"active", "fastpath function call", "disabled", None})
"""States of a session that may still respond, or whose state the server does not show."""

log = logging.getLogger("fx.db")


class Silent(Protocol):
    """A connection, as far as it is needed here."""

    pid: int
    """Of the process that serves it."""

    def owes(self, seconds: float) -> float | None:
        """Return when the statement was sent that has been silent for ``seconds``, or None."""
        ...

    async def run(self, sql: str, args: Sequence[object] = ()) -> Result:
        """Run one statement."""
        ...

    def finish(self) -> None:
        """Close it, and wake the tasks that wait on it."""
        ...


async def end_silent(
    connections: Callable[[], Sequence[Silent]],
    open_one: Callable[[], Awaitable[Silent]],
    lost: Callable[[], None],
    orphans: Orphans,
) -> None:
    """Check until cancelled. ``lost`` is called when a connection was ended.

    Their transactions are ended on the server, too.
    """
    while True:
        await trio.sleep(_LOOK)
        owing = {one: sent_at for one in connections() if (sent_at := one.owes(QUIET)) is not None}
        if owing:
            await _end(owing, open_one, lost)
        if orphans:
            await orphans.end(open_one)


async def _end(
    owing: Mapping[Silent, float],
    open_one: Callable[[], Awaitable[Silent]],
    lost: Callable[[], None],
) -> None:
    """End those whose responses were lost."""
    idle = await _idle([*owing], open_one)
    if idle:
        await trio.sleep(_ON_ITS_WAY)
    for one in idle:
        if one.owes(QUIET) == owing[one]:
            log.warning(
                "database: a connection was silent for %g s although the server had "
                "answered on it: it is closed, and its statement fails.",
                QUIET,
            )
            one.finish()
            lost()


async def _idle(
    connections: list[Silent], open_one: Callable[[], Awaitable[Silent]]
) -> list[Silent]:
    """Return those of which the server says that it works for them no more."""
    with trio.move_on_after(_LIMIT):
        try:
            asking = await open_one()
        except DatabaseBusy:  # it is away for all, which is seen elsewhere
            return []
        try:
            rows = (await asking.run(_STATES, [[one.pid for one in connections]])).rows
        except psycopg.Error as error:
            log.debug("Cannot check for silent connections: %s", error)
            return []
        finally:
            asking.finish()
        states = {row[0]: row[1] for row in rows}
        return [one for one in connections if states.get(one.pid, "gone") not in _AT_WORK]
    return []
