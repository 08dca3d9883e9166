"""Delays the start of an application while too much of a client's responses is unread.

A response stays in memory while its client does not read it. So such a client gets few
responses at a time; for all others there is no wait, not even a checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import trio
from h2.connection import H2Connection
from h2.exceptions import ProtocolError

from fxtrio.send_budget import Unread

CONNECTION_HELD = 1024 * 1024
"""Bytes of responses that may be pending for one client before its next application waits."""

_SHARE = 128 * 1024
"""Bytes that any connection may buffer: more than one large response to a reading client."""

_NARROW = 16 * 1024
"""Bytes of window below which a response probably has to wait."""

_NARROW_AT_ONCE = 3
"""Concurrent applications for one client with so small a window."""


class Admission:
    """Decides for one connection. ``unread`` counts all data pending for its client.

    ``queued`` are the bytes in queues: only a part of a large response is queued at a time, so
    the rest, which its application still holds, does not delay other applications.
    """

    def __init__(self, connection: H2Connection, unread: Unread) -> None:
        self.queued = 0
        self._connection = connection
        self._unread = unread
        self._narrow = 0
        self._waiting: set[trio.Event] = set()

    def is_over_limit(self) -> bool:
        """Return whether the client may not even have a request wait."""
        return self._unread.budget.is_full and self._unread.unsent > _SHARE

    def change(self) -> None:
        """Look again: there is more room, or less in it, or a stream has ended."""
        for event in self._waiting:
            event.set()

    async def wait_turn(self, stream: int, left: Callable[[], bool]) -> bool:
        """Wait until an application may start; return False when ``left`` becomes true before.

        A complete request that need not wait is served even if its client has disconnected.
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
        """Count an application while it runs, if its client's window is small."""
        narrow = self._is_narrow(stream)
        self._narrow += narrow
        try:
            yield
        finally:
            self._narrow -= narrow
            if narrow:
                self.change()

    def _is_free(self, stream: int) -> bool:
        if self.queued > CONNECTION_HELD or self.is_over_limit():
            return False
        return self._narrow < _NARROW_AT_ONCE or not self._is_narrow(stream)

    def _is_narrow(self, stream: int) -> bool:
        try:
            return self._connection.local_flow_control_window(stream) < _NARROW
        except ProtocolError:  # the stream is closed
            return False
