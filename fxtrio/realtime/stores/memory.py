"""The broker of one process."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from itertools import islice

import trio

from fxtrio.realtime.broker import Replay, Subscriber
from fxtrio.realtime.frames import Frame, Ident, Message, encode_message
from fxtrio.realtime.presence import Joined, Left, Member, Missed
from fxtrio.realtime.stores.backend import LOG_LIFE
from fxtrio.realtime.subscriptions import BrokerStatistics, Topics


class MemoryBroker:
    """Reaches the subscribers of its own process. A `PresenceBroker`; needs no task.

    ``history`` counts the messages in the log of a channel that `subscribe` of fx.realtime
    reads; other channels have no log.
    """

    takes_frames = True
    """Whether `publish` accepts encoded frames."""

    def __init__(self, *, history: int = 1000) -> None:
        self._topics = Topics()
        self._logs = MemoryLogs(history, in_use=self._topics.__contains__)
        self._published = 0

    def __repr__(self) -> str:
        return f"<MemoryBroker {self.statistics()}>"

    async def subscribe(self, name: str, subscriber: Subscriber) -> None:
        """Deliver messages to ``name`` from now on to ``subscriber``."""
        self._topics.join(name, subscriber)
        self._topics.notice(name, Joined(subscriber.member), subscriber.member)

    async def unsubscribe(self, name: str, subscriber: Subscriber) -> None:
        """Deliver no more to ``subscriber``; with the last one, the name is forgotten."""
        if self._topics.leave(name, subscriber):
            self._logs.use(name, trio.current_time())
            self._topics.notice(name, Left(subscriber.member), subscriber.member)

    async def publish(self, name: str, message: Message) -> None:
        """Deliver ``message`` to all subscribers of ``name``.

        Does not wait for any of them, but yields to other tasks now and then.
        Raises MessageNotEncodable for values other than JSON, text and bytes.
        """
        frame = encode_message(message)
        self._published += 1
        frame.ident = self._logs.append(name, frame, trio.current_time())
        await self._topics.deliver(name, frame)

    async def begin_log(self, name: str) -> Ident | None:
        """Give a channel a log, unless it has one; return its end, or None without a history."""
        return self._logs.begin(name, trio.current_time())

    async def read_log(self, name: str, after: Ident, limit: int) -> Replay:
        """Return at most ``limit`` messages after a place."""
        return self._logs.read(name, after, limit)

    def members(self, name: str) -> tuple[Member, ...]:
        """Return the members of a channel, in the order they joined."""
        return tuple(subscriber.member for subscriber in self._topics.subscribers(name))

    def subscriptions(self) -> dict[str, int]:
        """Return how many subscribers each channel has in this process."""
        return self._topics.counts()

    def statistics(self) -> BrokerStatistics:
        """Return the present counts."""
        return self._topics.statistics(self._published)


LOG_BYTES = 1024**2
"""Messages of a log, the newest one excepted (bytes)."""

ALL_BYTES = 64 * LOG_BYTES
"""Messages of all logs of a broker (bytes)."""


class _Log:
    """The latest messages of a channel; their places are consecutive."""

    def __init__(self, number: int, used_at: float) -> None:
        self.number = number
        """Never used by another log, not even of an earlier process: microseconds since 1970."""

        self.used_at = used_at
        self.newest = 0
        self.size = 0
        self.frames: deque[Frame] = deque()

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
    """The logs of all channels that have one, from which `subscribe` resumes. No I/O.

    A log begins with the first reader of its channel, since other channels need none. It is
    bounded in messages and in bytes, all logs together in bytes, since visitors may choose the
    names of channels. It outlives its last use, as those of the stores do. ``now`` is the time of
    trio's clock; ``in_use`` says whether a channel has subscribers, and its log must live on.
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
