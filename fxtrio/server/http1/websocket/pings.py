"""Finds clients that have vanished without a word: pings, and pongs that must follow. No I/O."""

from __future__ import annotations

from fxtrio.server.http1.limits import ServerLimits
from fxtrio.server.http1.websocket.protocol import WsProtocol
from fxtrio.server.http1.worker_state import NEVER


class Pings:
    """The pings of one WebSocket. `check` is called with each tick of the hub."""

    def __init__(self, limits: ServerLimits) -> None:
        self._interval = limits.websocket_ping
        self._patience = limits.websocket_pong
        self._precision = limits.precision
        self._ping_at = self._pong_by = NEVER
        self._pongs = 0  # those that had arrived when the last ping was sent

    def check(self, protocol: WsProtocol, now: float, *, backlog: bool) -> bytes | None:
        """Return a ping to send, b"" for none, and None when the pong is overdue.

        While a ``backlog`` waits to be written no ping is sent: it would arrive behind it, and
        its pong would be late for want of bandwidth.
        """
        if self._interval is None:
            return b""
        if self._ping_at == NEVER and self._pong_by == NEVER:
            self._ping_at = now + self._interval
        elif now >= self._ping_at and not backlog:
            self._ping_at, self._pong_by = NEVER, now + self._patience
            self._pongs = protocol.pongs
            return protocol.ping()
        elif self._pong_by != NEVER:
            if protocol.pongs != self._pongs:
                self._ping_at, self._pong_by = now + self._interval, NEVER
            elif protocol.is_full:
                # Nothing is read, so the pong may be behind what the application has yet to take.
                self._pong_by += self._precision
            elif now > self._pong_by:
                self._pong_by = NEVER
                return None
        return b""
