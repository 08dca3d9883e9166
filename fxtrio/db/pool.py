"""A pool with a limit for connections, and a limit for waiting tasks."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import trio

from fxtrio.db.engine import DatabaseConnection, PoolStatistics
from fxtrio.db.errors import DatabaseBusy, DatabaseClosed

Kind = TypeVar("Kind", bound=DatabaseConnection)


class Pool(Generic[Kind]):
    """Lends connections, the most recently used first; waiting tasks are served in order.

    ``open_one`` opens a connection when none is idle. ``is_alive`` checks an idle one without
    waiting; ``probe`` may wait, and returns False for one that was lost silently: then all idle
    ones are closed. If ``waiters`` tasks wait, a further one is rejected.
    """

    def __init__(
        self,
        open_one: Callable[[], Awaitable[Kind]],
        *,
        size: int,
        waiters: int,
        is_alive: Callable[[Kind], bool] = lambda connection: True,
        probe: Callable[[Kind], Awaitable[bool]] | None = None,
    ) -> None:
        self._open_one = open_one
        self._is_alive = is_alive
        self._probe = probe
        self._size = size
        self._waiters = waiters
        self._lent = 0
        self._queue = trio.lowlevel.ParkingLot()
        self._first = trio.lowlevel.ParkingLot()
        self._idle: deque[Kind] = deque()
        self._closed = False
        self._waited = self._rejected = 0
        self._waited_seconds = 0.0

    def statistics(self) -> PoolStatistics:
        """Return the present counts."""
        return PoolStatistics(
            size=self._size,
            lent=self._lent,
            idle=len(self._idle),
            waiting=len(self._queue),
            waited=self._waited,
            waited_seconds=self._waited_seconds,
            refused=self._rejected,
        )

    async def acquire(self, *, first: bool = False) -> Kind:
        """Return a connection for exclusive use until `release`.

        ``first`` takes precedence over waiting tasks, and is never rejected: for the few
        internal tasks of an app.
        Raises DatabaseBusy when too many tasks wait, DatabaseClosed after `close`, and the
        errors of opening a connection.
        """
        if self._closed:
            raise DatabaseClosed
        if self._lent < self._size:
            self._lent += 1
        else:
            await (self._first.park() if first else self._wait())
        try:
            while self._idle:
                connection = self._idle.pop()
                if self._is_alive(connection) and await self._is_there(connection):
                    return connection
                connection.finish()
            return await self._open_one()
        except BaseException:
            self._pass_on()
            raise

    async def _is_there(self, connection: Kind) -> bool:
        if self._probe is None:
            return True
        try:
            there = await self._probe(connection)
        except BaseException:
            connection.finish()
            raise
        if not there:
            self.forget_idle()
        return there

    def forget_idle(self) -> None:
        """Close those that are idle."""
        while self._idle:
            self._idle.pop().finish()

    async def _wait(self) -> None:
        """Wait for a connection; its count is transferred, not released."""
        if len(self._queue) >= self._waiters:
            self._rejected += 1
            raise DatabaseBusy(
                f"{len(self._queue)} wait for one of {self._size} connections already "
                "('database.pool', 'database.waiters')"
            )
        began = trio.current_time()
        try:
            await self._queue.park()
        finally:
            self._waited += 1
            self._waited_seconds += trio.current_time() - began

    def _pass_on(self) -> None:
        if not (self._first.unpark() or self._queue.unpark()):
            self._lent -= 1

    def release(self, connection: Kind) -> None:
        """Take a connection back; one that is not idle is closed."""
        if connection.state == "idle" and not self._closed:
            self._idle.append(connection)
            if not self._is_alive(self._idle[0]):  # which may never be lent again
                self._idle.popleft().finish()
        else:
            connection.finish()
        self._pass_on()

    def close(self) -> None:
        """Close those that are idle, the others when they come back, and lend no more."""
        self._closed = True
        self.forget_idle()
