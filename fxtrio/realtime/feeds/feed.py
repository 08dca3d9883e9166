"""Messages of one subscription that are read in a loop, not sent to a WebSocket.

The log of the channel is what waits for a slow reader: once its buffer is full, live messages
are ignored until the reader has emptied the buffer, and the feed continues from the log. So a
slow reader delays nobody and loses only what the log no longer has, reported as `Missed`.
Created by `subscribe`.
"""

from __future__ import annotations

import re
from collections import deque
from math import inf
from typing import Any, Generic, TypeVar

import attrs
import trio

from fxtrio.realtime.broker import LogBroker, PresenceListeners
from fxtrio.realtime.frames import Frame, Ident, Message, encode_message
from fxtrio.realtime.presence import Member, Missed, Notice
from fxtrio.send_budget import GRACE, process_unsent

PART = 100
"""Messages that are read from a log at a time (count)."""


Data = TypeVar("Data")


@attrs.frozen
class Event(Generic[Data]):
    """A message of a channel, or a value of a `@stream` with an id."""

    data: Data
    """The message as it was published: a dict or list, text, or bytes."""

    id: str | None
    """What resumes after it: ``subscribe(name, after=…)``. None in a channel without a log."""


def format_id(ident: Ident | None) -> str | None:
    """Return a place in a log as text."""
    return None if ident is None else f"{ident[0]}-{ident[1]}"


def parse_id(text: str) -> Ident | None:
    """Return the place that `format_id` wrote; None for any other text."""
    match = re.fullmatch(r"([0-9]{1,18})-([0-9]{1,18})", text)
    return None if match is None else (int(match[1]), int(match[2]))


class Feed:
    """A `Subscriber` whose messages `take` returns; a `Holder` of the process's budget.

    ``capacity`` counts the messages that wait for the reader, and ``most`` their bytes.
    """

    def __init__(
        self, name: str, member: Member, capacity: int, most: int, log: LogBroker | None
    ) -> None:
        self.name = name
        self.member = member
        self.capacity = capacity
        self.most = most
        self.log = log
        """The broker, if it has a log of the channel."""

        self.address = ""
        self.unsent = 0
        """Bytes that wait for the reader."""

        self.reached: str | None = None
        """The id of the latest event that was taken, or of the place where the feed began."""

        self._last: Ident | None = None
        """The place up to which messages were taken from the log, or taken by the reader."""
        self._live: deque[tuple[Frame, Ident | None] | Missed] = deque()
        self._replayed: deque[Event[Any] | Missed] = deque()
        self._replaying = False
        """Whether the log is to be read before the live messages."""
        self._cut = False
        """Whether messages behind the live ones were ignored, since they are in the log."""
        self._lost = False
        """Whether messages are lost there."""
        self._reported = False
        """Whether that was reported, and is not to be reported again by the log."""
        self._ended = False
        self._served_at = -inf
        """When the reader last took something, by the clock of the budget."""
        self._news = trio.lowlevel.ParkingLot()
        self._turn = trio.Lock()

    def begin(self, end: Ident | None) -> None:
        """Begin at the end of the log. What has arrived by now came after the subscription."""
        if end is None:
            self.log = None
        elif not self._live:
            self._last, self.reached = end, format_id(end)

    def resume(self, after: str, end: Ident | None) -> None:
        """Begin after the event with this id, or at the ``end`` of the log if it is none."""
        place = parse_id(after)
        if end is None or place is None:
            self._replayed.append(Missed())
            self.begin(end)
        else:
            self._last, self._replaying, self.reached = place, True, after

    # --- what the broker calls

    def deliver(self, message: Message | Frame) -> None:
        """Take a message."""
        self.offer(encode_message(message))

    def offer(self, frame: Frame, *, urgent: bool = False) -> bool:
        """Take a message, or leave it to the log; without one, it is lost and counted."""
        if self._ended or self._cut:
            return True
        if len(self._live) < self.capacity and self.unsent < self.most:
            self._live.append((frame, frame.ident))
            self.unsent += frame.size
            frame.holders += 1
            if frame.holders == 1:
                process_unsent.add(frame.size)
            self._news.unpark_all()
        elif self.log is None or frame.ident is None:
            self._lose(Missed(1))
        else:
            self._cut = True
        return True

    @property
    def idle(self) -> bool:
        """Whether nothing waits for the reader."""
        return not self._live

    async def make_room(self, patience: float) -> bool:
        """Return at once: there is always room."""
        await trio.lowlevel.checkpoint()
        return True

    def notice(self, event: Notice) -> None:
        """Note that messages were lost; the log tells which ones it has after that place."""
        if not isinstance(event, Missed) or self._ended:
            return
        if self.log is None or self._newest() is None:
            self._lose(event)
        else:
            self._cut = self._lost = True
            self._news.unpark_all()

    def register(self, listeners: PresenceListeners) -> None:
        """Enter none of the ``listeners``: nothing reads news of members here."""

    def unregister(self, listeners: PresenceListeners) -> None:
        """Do nothing, like `register`."""

    # --- what the budget calls

    def time_left(self, now: float) -> float:
        """Return how long the reader will need: for ever once it has taken nothing for a while."""
        waited = process_unsent.clock.at(now) - self._served_at
        return inf if self._live and waited >= GRACE else 0.0

    def cut_off(self) -> None:
        """Release what waits, except for the first message, and leave it to the log."""
        while len(self._live) > 1:
            item = self._live.pop()
            if isinstance(item, Missed):
                self._lost = self._cut = True
                continue
            frame, ident = item
            self._release(frame)
            if self.log is None or ident is None:
                self._lost = True
            self._cut = True

    # --- what the reader calls

    async def take(self) -> Event[Any] | Missed:
        """Wait for the next event. Raises BrokerUnreachable, and StopAsyncIteration at the end."""
        async with self._turn:
            while not self._ended:
                self._served_at = process_unsent.clock.at(trio.current_time())
                if self._replaying and not self._replayed:
                    await self._replay()
                elif (item := self._next()) is not None:
                    self.reached = item.id if isinstance(item, Event) else self.reached
                    return item
                elif not (self._live or self._replaying or self._cut):
                    await self._news.park()
            raise StopAsyncIteration

    def close(self) -> None:
        """Take no more, and end the reader's loop."""
        self._ended = True
        while self._live:
            item = self._live.popleft()
            if not isinstance(item, Missed):
                self._release(item[0])
        self._replayed.clear()
        self._news.unpark_all()

    def _next(self) -> Event[Any] | Missed | None:
        """Return the next event, if there is one."""
        if self._replayed:
            return self._replayed.popleft()
        if self._live:
            return self._pop()
        if not self._cut:
            return None
        # What was ignored is in the log by now, and what comes from now on is not ignored.
        self._cut = False
        self._replaying = self.log is not None and self._last is not None
        if self._replaying and not self._lost:
            return None
        self._lost, self._reported = False, self._replaying
        return Missed()

    def _pop(self) -> Event[Any] | Missed | None:
        """Take a live message; None if the log has already delivered it."""
        item = self._live.popleft()
        if isinstance(item, Missed):
            return item
        frame, ident = item
        self._release(frame)
        if ident is not None:
            if self._last is not None and ident <= self._last:
                return None
            self._last = ident
        # An id that no log knows would only be answered with Missed.
        return Event(frame.data, None if self.log is None else format_id(ident))

    async def _replay(self) -> None:
        """Read the next part of the log."""
        assert self.log is not None
        assert self._last is not None
        part = await self.log.read_log(self.name, self._last, PART)
        if part.missed is not None and not self._reported:
            self._replayed.append(part.missed)
        self._reported = False
        for ident, frame in part.messages:
            self._last = ident
            if frame is not None:
                self._replayed.append(Event(frame.data, format_id(ident)))
        self._replaying = len(part.messages) >= PART

    def _newest(self) -> Ident | None:
        """Return the place of the newest message that was taken from the broker."""
        for item in reversed(self._live):
            if not isinstance(item, Missed) and item[1] is not None:
                return item[1]
        return self._last

    def _lose(self, missed: Missed) -> None:
        """Mark the place where messages are missing."""
        if self._live and isinstance(last := self._live[-1], Missed):
            self._live[-1] = last + missed
        else:
            self._live.append(missed)
        self._news.unpark_all()

    def _release(self, frame: Frame) -> None:
        self.unsent -= frame.size
        frame.holders -= 1
        if not frame.holders:
            process_unsent.remove(frame.size)
