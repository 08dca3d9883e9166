"""The logs of channels in one process, from which `subscribe` resumes. No I/O.

A log begins with the first reader of its channel, since other channels need none. It is
bounded in messages and in bytes, all logs together in bytes, since visitors may choose the names
of channels. It outlives its last use, as those of the stores do.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from itertools import islice

import attrs

from fxtrio.realtime.broker import Replay
from fxtrio.realtime.frames import Frame, Ident
from fxtrio.realtime.presence import Missed
from fxtrio.realtime.stores.backend import LOG_LIFE

LOG_BYTES = 1024**2
"""Messages of a log, the newest one excepted (bytes)."""

ALL_BYTES = 64 * LOG_BYTES
"""Messages of all logs of a broker (bytes)."""


@attrs.define(eq=False)
class _Log:
    """The latest messages of a channel; their places are consecutive."""

    number: int
    """Never used by another log, not even of an earlier process: microseconds since 1970."""

    used_at: float
    newest: int = 0
    size: int = 0
    frames: deque[Frame] = attrs.field(factory=deque)

    def append(self, frame: Frame, most: int) -> Ident:
        self.newest += 1
        self.frames.append(frame)
        self.size += frame.size
        while len(self.frames) > most or (self.size > LOG_BYTES and len(self.frames) > 1):
            self.size -= self.frames.popleft().size
        return self.number, self.newest

    def clear(self) -> None:
        """Forget the messages; readers that are behind learn how many."""
        self.frames.clear()
        self.size = 0

    def read(self, after: int, limit: int) -> Replay:
        if after > self.newest:
            return Replay(Missed(), [((self.number, self.newest), None)])
        oldest = self.newest - len(self.frames) + 1
        first = max(after + 1, oldest)
        found = islice(self.frames, first - oldest, first - oldest + limit)
        return Replay(
            Missed(first - after - 1) if first > after + 1 else None,
            [((self.number, place), frame) for place, frame in enumerate(found, first)],
        )


class MemoryLogs:
    """The logs of all channels that have one. ``now`` is the time of trio's clock.

    ``in_use`` says whether a channel has subscribers, and its log must live on.
    """

    def __init__(self, history: int, *, in_use: Callable[[str], bool]) -> None:
        self._history = history
        self._in_use = in_use
        self._logs: dict[str, _Log] = {}
        """By name; the log with the latest message is the last one."""

        self._size = 0
        self._last_number = 0
        self._sweep_at = 0.0

    def __len__(self) -> int:
        return len(self._logs)

    def begin(self, name: str, now: float) -> Ident | None:
        """Give a channel a log, unless it has one; return its end, or None without a history."""
        self._sweep(now)
        if not self._history:
            return None
        if name not in self._logs:
            self._last_number = max(time.time_ns() // 1000, self._last_number + 1)
            self._logs[name] = _Log(self._last_number, now)
        found = self._logs[name]
        return found.number, found.newest

    def use(self, name: str, now: float) -> None:
        """Let the log of a channel live on."""
        if name in self._logs:
            self._logs[name].used_at = now

    def append(self, name: str, frame: Frame, now: float) -> Ident | None:
        """Log a message; return its place, or None in a channel without a log."""
        self._sweep(now)
        found = self._logs.pop(name, None)
        if found is None:
            return None
        self._logs[name] = found
        self._size -= found.size
        ident = found.append(frame, self._history)
        self._size += found.size
        if self._size > ALL_BYTES:
            self._make_room()
        return ident

    def read(self, name: str, after: Ident, limit: int) -> Replay:
        """Return at most ``limit`` messages after a place."""
        found = self._logs.get(name)
        if found is None:
            return Replay(Missed(), [])
        number, place = after
        if number != found.number:
            return Replay(Missed(), [((found.number, found.newest), None)])
        return found.read(place, limit)

    def _sweep(self, now: float) -> None:
        """Forget the logs that nobody uses, now and then."""
        if now < self._sweep_at:
            return
        self._sweep_at = now + LOG_LIFE / 2
        for name, one in tuple(self._logs.items()):
            if self._in_use(name):
                one.used_at = now
            elif now - one.used_at > LOG_LIFE:
                self._size -= one.size
                del self._logs[name]

    def _make_room(self) -> None:
        """Empty the logs whose latest message is the oldest."""
        for one in self._logs.values():
            if self._size <= ALL_BYTES:
                return
            self._size -= one.size
            one.clear()
