"""Judges a client by the frames it sends: those that cost work and ask for nothing are rationed.

Bytes in, no I/O, no clock of its own. It sees them before h2 does, so that a flood of
frames is not even parsed.
"""

from __future__ import annotations

from h2.errors import ErrorCodes

from fxtrio.server.http2.preface import ProtocolViolation

_PREFACE = 24  # bytes
_HEAD = 9

_DATA, _HEADERS, _RESET, _SETTINGS, _CONTINUATION = 0, 1, 3, 4, 9
_END_STREAM = 1
_TINY = 64  # bytes of a DATA frame whose handling costs far more than its sending

_SAVINGS = 2000.0
_INCOME = 1000.0  # a second: h2 handles about 25,000 frames in that time
_RESET_COST = 10  # it has begun, and stopped, a request
_SETTING = 6  # bytes of one setting


class Overdrawn(ProtocolViolation):
    """The client sends more than its requests need."""

    code = ErrorCodes.ENHANCE_YOUR_CALM


class FrameRateLimit:
    """Counts the frames of one connection, from its preface on.

    ``head`` limits the bytes of one request's header block.
    """

    def __init__(self, head: int) -> None:
        self._limit = head
        self._skip = _PREFACE
        self._head = bytearray()
        self._block = 0
        self._left = _SAVINGS
        self._now: float | None = None

    def earn(self, amount: float) -> None:
        """Allow for frames that a response makes necessary."""
        self._left += amount

    def feed(self, data: bytes, now: float) -> None:
        """Count bytes that arrived at ``now`` (seconds). Raises Overdrawn."""
        if self._now is not None:
            self._left += (now - self._now) * _INCOME
        self._left = min(self._left, _SAVINGS)
        self._now = now
        at, end = 0, len(data)
        while at < end:
            if self._skip:
                step = min(self._skip, end - at)
                self._skip -= step
                at += step
                continue
            step = min(_HEAD - len(self._head), end - at)
            self._head += data[at : at + step]
            at += step
            if len(self._head) == _HEAD:
                self._skip = int.from_bytes(self._head[:3])
                self._left -= self._cost(self._skip, self._head[3], self._head[4])
                self._head.clear()
        if self._left < 0:
            raise Overdrawn("more frames than its requests need")

    def _cost(self, size: int, kind: int, flags: int) -> int:
        if kind == _DATA:
            return 1 if size < _TINY and not flags & _END_STREAM else 0
        if kind in (_HEADERS, _CONTINUATION):
            self._block = size if kind == _HEADERS else self._block + size
            if self._block > self._limit:
                raise Overdrawn("the head is too long")
            return 0 if kind == _HEADERS else 1
        if kind == _RESET:
            return _RESET_COST
        if kind == _SETTINGS:
            return 1 + size // _SETTING
        return 1
