"""When an application may start: not while too much of what others made is left unread.

The answer to a client that gives no room for it stays in memory. So such a client gets
few answers at a time; all others do not even wait for a turn of the scheduler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import trio
from h2.connection import H2Connection
from h2.exceptions import ProtocolError

from fxtrio.send_budget import Unread

CONNECTION_HELD = 1024 * 1024
"""Bytes of answers that may wait for one client before its next application does."""

_SHARE = 128 * 1024
"""Bytes that any connection may keep: more than one large answer that is read as it should be."""

_NARROW = 16 * 1024
"""Bytes of room below which an answer probably has to wait."""

_NARROW_AT_ONCE = 3
"""Applications that answer, at the same time, into so little room of one client."""


class Admission:
    """Decides for one connection. ``unread`` counts all that waits for its client.

    ``queued`` are the bytes that wait in queues: what an application has still in hand, since
    only a part of a large answer is queued at a time, keeps no other from being made.
    """

    def __init__(self, connection: H2Connection, unread: Unread) -> None:
        self.queued = 0
        self._connection = connection
        self._unread = unread
        self._narrow = 0
        self._waiting: set[trio.Event] = set()

    def is_refused(self) -> bool:
        """Return whether the client may not even have a request wait."""
        return self._unread.budget.is_full and self._unread.unsent > _SHARE

    def change(self) -> None:
        """Look again: there is more room, or less in it, or a stream has ended."""
        for event in self._waiting:
            event.set()

    async def wait_turn(self, stream: int, left: Callable[[], bool]) -> bool:
        """Wait until an application may start; return False when ``left`` comes true before.

        A request that need not wait is answered though its client has left: it came whole.
        """
        while not self._is_free(stream):
            if left():
                return False
            changed = trio.Event()
            self._waiting.add(changed)
            try:
                await changed.wait()
            finally:
                self._waiting.discard(changed)
        return True

    @contextmanager
    def started(self, stream: int) -> Iterator[None]:
        """Count an application while it runs, where there is little room for its answer."""
        narrow = self._is_narrow(stream)
        self._narrow += narrow
        try:
            yield
        finally:
            self._narrow -= narrow
            if narrow:
                self.change()

    def _is_free(self, stream: int) -> bool:
        if self.queued > CONNECTION_HELD or self.is_refused():
            return False
        return self._narrow < _NARROW_AT_ONCE or not self._is_narrow(stream)

    def _is_narrow(self, stream: int) -> bool:
        try:
            return self._connection.local_flow_control_window(stream) < _NARROW
        except ProtocolError:  # the stream is closed
            return False
