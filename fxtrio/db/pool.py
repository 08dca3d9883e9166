"""At most so many connections, and at most so many who wait for one."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import attrs
import trio

from fxtrio.db.engine import DatabaseConnection
from fxtrio.db.faults import DatabaseBusy, DatabaseClosed

Kind = TypeVar("Kind", bound=DatabaseConnection)


@attrs.frozen(kw_only=True)
class PoolStatistics:
    """What a pool holds (counts)."""

    size: int
    lent: int
    idle: int
    waiting: int


class Pool(Generic[Kind]):
    """Lends connections, the one that was used last first. Who waits longest is next.

    ``open_one`` makes a connection when there is none to lend, ``is_alive`` tells whether
    an idle one can still be used. With ``waiters`` waiting, one more is refused.
    """

    def __init__(
        self,
        open_one: Callable[[], Awaitable[Kind]],
        *,
        size: int,
        waiters: int,
        is_alive: Callable[[Kind], bool] = lambda connection: True,
    ) -> None:
        self._open_one = open_one
        self._is_alive = is_alive
        self._size = size
        self._waiters = waiters
        self._waiting = 0
        self._idle: deque[Kind] = deque()
        self._free = trio.Semaphore(size, max_value=size)
        self._closed = False

    def statistics(self) -> PoolStatistics:
        """Return the present counts."""
        lent = self._size - self._free.value
        return PoolStatistics(
            size=self._size, lent=lent, idle=len(self._idle), waiting=self._waiting
        )

    async def acquire(self) -> Kind:
        """Return a connection that is nobody else's until `release`.

        Raises DatabaseBusy when too many wait already, DatabaseClosed after `close`, and
        whatever opening one raises.
        """
        if self._closed:
            raise DatabaseClosed
        try:
            self._free.acquire_nowait()
        except trio.WouldBlock:
            await self._wait()
        try:
            while self._idle:
                connection = self._idle.pop()
                if self._is_alive(connection):
                    return connection
                connection.finish()
            return await self._open_one()
        except BaseException:
            self._free.release()
            raise

    async def _wait(self) -> None:
        if self._waiting >= self._waiters:
            raise DatabaseBusy(
                f"{self._waiting} wait for one of {self._size} connections already "
                "('database.pool', 'database.waiters')"
            )
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1

    def release(self, connection: Kind) -> None:
        """Take a connection back; one that is not idle is closed."""
        if connection.state == "idle" and not self._closed:
            self._idle.append(connection)
        else:
            connection.finish()
        self._free.release()

    def close(self) -> None:
        """Close those that are idle, the others when they come back, and lend no more."""
        self._closed = True
        while self._idle:
            self._idle.pop().finish()
