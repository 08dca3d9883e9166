"""The streams of a process that are open: how many there may be, and their end at a shutdown."""

from __future__ import annotations

from collections.abc import Collection
from math import inf

import trio

from fxtrio.errors import Busy, PlacedError


class StreamsFull(PlacedError, Busy):
    """`limits.streams` are open; becomes the answer with status 503 and `Retry-After`."""

    retry_after = 5
    remedy = "Raise it, or serve more processes"

    def __init__(self, capacity: int) -> None:
        super().__init__("limits.streams", f"{capacity} streams are open")
        self.capacity = capacity


class OpenStream:
    """One of them, as a block. Its task waits inside of `until`, which the shutdown cuts short."""

    # Most streams wait for hours: without generators around them each takes less memory.
    __slots__ = ("_open", "_waiting", "closes_at", "source")

    def __init__(self, closes_at: float, source: str, open_streams: set[OpenStream]) -> None:
        self.source = source
        """The file of a `@stream`; "" for an action."""

        self.closes_at = closes_at
        """When the stream has to end (`trio.current_time`); infinity before the shutdown."""

        self._open = open_streams
        self._waiting: trio.CancelScope | None = None

    def __enter__(self) -> OpenStream:
        self._open.add(self)
        return self

    def __exit__(self, *raised: object) -> None:
        self._open.discard(self)

    def until(self, deadline: float) -> trio.CancelScope:
        """Return a block that is cancelled at ``deadline``, or when the stream has to end."""
        self._waiting = trio.CancelScope(deadline=min(deadline, self.closes_at))
        return self._waiting

    @property
    def is_closing(self) -> bool:
        """Whether the stream has to end now."""
        return trio.current_time() >= self.closes_at

    def close_at(self, moment: float) -> None:
        """Let the stream end at ``moment``."""
        self.closes_at = moment
        if self._waiting is not None:
            self._waiting.deadline = min(self._waiting.deadline, moment)


class OpenStreams:
    """All of one app. One more than ``capacity`` is rejected."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._open: set[OpenStream] = set()
        self._closes_at = inf
        self._reads_close_at = inf
        """The same of `@stream`s."""

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, source: str = "") -> OpenStream:
        """Return a stream that is counted for the length of its block. Raises StreamsFull.

        ``source`` is the file of a `@stream`, which its client continues elsewhere: it ends at once
        at a shutdown.
        """
        if len(self._open) >= self.capacity:
            raise StreamsFull(self.capacity)
        closes_at = self._reads_close_at if source else self._closes_at
        return OpenStream(closes_at, source, self._open)

    def close(self, *, grace: float) -> None:
        """Let `@stream`s end at once, and actions after ``grace`` seconds.

        The same applies to those that begin afterwards.
        """
        now = trio.current_time()
        self._reads_close_at = min(self._reads_close_at, now)
        self._closes_at = min(self._closes_at, now + grace)
        for stream in self._open:
            stream.close_at(self._reads_close_at if stream.source else self._closes_at)

    def restart(self, sources: Collection[str]) -> None:
        """End the `@stream`s of these files, which run on with new code."""
        for stream in self._open:
            if stream.source in sources:
                stream.close_at(trio.current_time())
