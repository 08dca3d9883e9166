"""The outbox of one subscriber, and the task that sends its messages.

The outbox makes `publish` independent of subscribers: it accepts a message at once or, if
the client does not read, overflows. The writer sends all messages since its last turn
together, so a burst costs one write instead of one per message; a single message is
written at once, bypassing the writer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import inf
from typing import Literal, TypeVar
from weakref import WeakSet

import trio
from starlette.websockets import WebSocketDisconnect, WebSocketDisconnected

from fxtrio.realtime.broker import PresenceListeners
from fxtrio.realtime.frames import Frame, Message, MissedFrame, encode_message
from fxtrio.realtime.presence import (
    ChannelEvents,
    Member,
    Missed,
    Notice,
    PresenceEvents,
    Resumed,
)
from fxtrio.realtime.transport import Transport
from fxtrio.send_budget import GRACE, process_unsent

Overflow = Literal["close", "drop_oldest"]
Watcher = TypeVar("Watcher", PresenceEvents, ChannelEvents)

TRY_AGAIN_LATER = 1013
"""Close code for a client that does not read, or connects during a broker outage (IANA)."""

TOO_SLOW = "too slow for this channel"
BROKER_AWAY = "the channels are temporarily unavailable"

LAG = 5.0
"""How far behind a client with a full outbox may be though it reads (seconds)."""

_MOMENT = 0.01
"""Longest single wait for room (seconds)."""

CLOSE_TIMEOUT = 5.0
"""Time for a client to read pending messages when its subscription ends (seconds).

A partly sent frame cannot be taken back: unless it is completed, the client would not
understand the close frame.
"""

_DISCONNECTED = (WebSocketDisconnect, WebSocketDisconnected, OSError)


class Outbox:
    """The `Subscriber` behind a `channel` block; `run` is its writer.

    Most clients take each message at once, and need no writer: `start_by` says how to start one,
    when a message has to wait, or somebody has to unsubscribe.

    ``capacity`` counts messages that wait for the writer, and ``most`` their bytes; one more
    than fits is taken. ``on_overflow`` is called once, when a client did not read and the policy
    is ``close``, or the budget of the process is full.
    """

    def __init__(
        self,
        member: Member,
        transport: Transport,
        capacity: int,
        overflow: Overflow,
        on_overflow: Callable[[], None],
        most: int = 1024**2,
        address: str = "",
        wants_missed: bool = False,
    ) -> None:
        self.member = member
        self.transport = transport
        self.capacity = capacity
        self.overflow = overflow
        self.on_overflow = on_overflow
        self.most = most
        self.address = address
        """As in `fxtrio.send_budget.Holder`."""

        self.wants_missed = wants_missed
        """Whether its client understands the notice of lost messages (`MissedFrame`)."""

        self.dropped = 0
        """Messages that ``drop_oldest`` has dropped."""

        self.overflowed = False
        """Whether the subscription ended because its client did not read."""

        self.unsent = 0
        """Bytes that wait for the writer."""

        self._frames: deque[Frame] = deque()
        # An iterator that was dropped gets no events, and costs nothing.
        self._watchers: WeakSet[PresenceEvents | ChannelEvents] | tuple[()] = ()
        self._listeners: tuple[PresenceListeners, ...] = ()
        """Where it is entered while it has watchers."""
        self._scope: trio.CancelScope | None = None
        """That of the writer."""
        self._deadline = inf
        """When the writer must have ended."""
        self._start: Callable[[], object] | None = None
        """Starts the writer, as long as there was no need for one."""
        self._writer: trio.lowlevel.Task | None = None
        """The writer, while it waits for messages."""
        self._taken_at = trio.current_time()
        """When the writer last took messages."""
        self._served_at = -inf
        """The same, by the clock of the budget."""
        self._woken = False
        """Whether the writer has messages, and no turn of the loop yet to take them."""
        self._stalled = False
        """Whether the writer has taken nothing since the last overflow."""
        self._room: trio.lowlevel.ParkingLot | None = None
        self._unfinished = False
        """Whether the transport has left something for the writer to finish."""
        self._ending = False
        self._parting = ""
        """Why the client is closed with 1013, if it is."""

    def start_by(self, start: Callable[[], object]) -> None:
        """Call ``start`` when the writer, `run`, is needed. It never waits."""
        self._start = start

    def deliver(self, message: Message | Frame) -> None:
        """Take a message; overflow at once when there is no room."""
        frame = encode_message(message)
        if not self.offer(frame):
            self._overflow(frame)

    def offer(self, frame: Frame, *, urgent: bool = False) -> bool:
        """Take a frame, or return False if there is no room but may be after some turns.

        An ``urgent`` frame is written at once when nothing is in front of it.
        """
        if self._ending:
            return True
        if len(self._frames) >= self.capacity or self.unsent >= self.most:
            # A publisher waits for this client only once: until the writer has taken something, it
            # would wait again with each message, and all other subscribers with it.
            if not self._stalled:
                return False
            self._overflow(frame)
        elif not self.idle:  # the writer is sending, and takes this along when it is done
            self._add(frame)
        elif not (urgent and self._write_now(frame)):
            self._add(frame)
            self._wake()
        return True

    @property
    def waiting(self) -> int:
        """How many messages wait for the writer."""
        return len(self._frames)

    @property
    def idle(self) -> bool:
        """Whether all that it took is sent."""
        return self._writer is not None or self._start is not None

    async def make_room(self, patience: float) -> bool:
        """Wait a moment for room; False when the client took nothing for ``patience`` seconds."""
        if self._ending or (len(self._frames) < self.capacity and self.unsent < self.most):
            return True
        # The second limit is for a client that takes a little each time: it has never taken nothing
        # for long, and would hold up the channel for ever.
        limit = min(self._taken_at + patience, self._frames[0].published_at + LAG)
        now = trio.current_time()
        if now >= limit:
            return False
        if self._room is None:
            self._room = trio.lowlevel.ParkingLot()
        with trio.move_on_at(min(limit, now + _MOMENT)):
            await self._room.park()
        return True

    def notice(self, event: Notice) -> None:
        """Pass news on to the readers of `watch`, and to a client that has lost messages."""
        if isinstance(event, Resumed):
            return
        if isinstance(event, Missed) and self.wants_missed and not self._ending:
            self._send_missed(event)
        watchers = tuple(self._watchers)
        for watcher in watchers:
            watcher.offer(event)
        if not watchers:
            # Nothing says when the last iterator was dropped: it is found out here, so that the
            # next members to come and go do not visit this one.
            for listeners in self._listeners:
                listeners.pop(self, None)

    def register(self, listeners: PresenceListeners) -> None:
        """Be among ``listeners`` from now on, whenever there are readers of `watch`."""
        self._listeners += (listeners,)
        if self._watchers:
            listeners[self] = None

    def unregister(self, listeners: PresenceListeners) -> None:
        """Leave ``listeners`` for good."""
        self._listeners = tuple(one for one in self._listeners if one is not listeners)
        listeners.pop(self, None)

    def watch(self, events: Watcher) -> Watcher:
        """Pass events to ``events`` from now on, while it is referenced."""
        if not isinstance(self._watchers, WeakSet):
            self._watchers = WeakSet()
        self._watchers.add(events)
        for listeners in self._listeners:
            listeners[self] = None
        if self._ending:
            events.end()
        return events

    def finish(self, *, unsubscribed: bool = False) -> None:
        """Take no more, and let the writer end when everything is sent.

        ``unsubscribed``: the caller sees to that, and no writer must be started for it.
        """
        if not self._ending:
            self._ending = True
            self._deadline = trio.current_time() + CLOSE_TIMEOUT
            if self._scope is not None:
                self._scope.deadline = self._deadline
            for watcher in tuple(self._watchers):
                watcher.end()
            if self._room is not None:
                self._room.unpark_all()
            if unsubscribed:
                self._start = None  # which refers to this
            self._wake()

    def close(self, *, unsubscribed: bool = False) -> None:
        """Accept no more messages, drop pending ones, and let the writer finish its frame.

        ``unsubscribed`` as in `finish`.
        """
        while self._frames:
            self._pop(self._frames.popleft())
        self.finish(unsubscribed=unsubscribed)

    def reject(self, reason: str) -> None:
        """Close, and send the client off with 1013."""
        self._parting = reason
        self.close()

    def time_left(self, now: float) -> float:
        """Return how long the client will need: for ever once it has taken nothing for a while."""
        if not self._frames or self._woken or now - self._frames[0].published_at < GRACE:
            return 0.0
        return inf if process_unsent.clock.at(now) - self._served_at >= GRACE else 0.0

    def cut_off(self) -> None:
        """Give up on a client that does not read, because the process has no room left."""
        self._give_up()

    async def run(self) -> None:
        """Send messages until the outbox is finished or the client disconnects."""
        process_unsent.enter(self)
        # Shielded, since a cancellation would cut a frame in two.
        self._scope = trio.CancelScope(shield=True, deadline=self._deadline)
        try:
            with self._scope:
                await self._run()
        finally:
            process_unsent.leave(self)
            self.close()

    async def _run(self) -> None:
        try:
            while self._frames or self._unfinished or not self._ending:
                if self._frames or self._unfinished:
                    self._unfinished = False
                    await self.transport.send(self._take(self.transport.batch))
                else:
                    await self._park()
            if self._parting:
                await self.transport.close(TRY_AGAIN_LATER, self._parting)
        except _DISCONNECTED:
            pass  # the handler notices it on its own

    def _write_now(self, frame: Frame) -> bool:
        """Send a frame past the idle writer; return whether the transport took it."""
        try:
            done = self.transport.write(frame)
        except _DISCONNECTED:
            self.close()
            return True  # taken, in a way: nobody is there for whom it could wait
        if done is False:
            self._unfinished = True
            self._wake()
        return done is not None

    def _take(self, batch: int) -> list[Frame]:
        self._stalled = self._woken = False
        self._taken_at = now = trio.current_time()
        self._served_at = process_unsent.clock.at(now)
        if self._room:
            self._room.unpark_all()
        frames, size = self._frames, 0
        taken: list[Frame] = []
        # At least one, however large: a message above the size of a batch has to go out as well.
        while frames and (not taken or size + frames[0].size <= batch):
            frame = frames.popleft()
            self._pop(frame)
            taken.append(frame)
            size += frame.size
        return taken

    def _add(self, frame: Frame) -> None:
        """Have a frame wait, in front of nothing."""
        self._frames.append(frame)
        self._count(frame)

    def _count(self, frame: Frame) -> None:
        self.unsent += frame.size
        # The outboxes of a channel hold the same bytes: the process has them once.
        frame.holders += 1
        if frame.holders == 1:
            process_unsent.add(frame.size)

    def _pop(self, frame: Frame) -> None:
        """Count out a frame that waits no more."""
        self.unsent -= frame.size
        frame.holders -= 1
        if not frame.holders:
            process_unsent.remove(frame.size)

    def _overflow(self, frame: Frame) -> None:
        self._stalled = True
        if self.overflow == "drop_oldest":
            self._drop_oldest()
            while self.unsent >= self.most:  # `MissedFrame`s are not counted: they are short
                self._drop_oldest()
            self._add(frame)
        else:
            self._give_up()

    def _give_up(self) -> None:
        self.overflowed = True
        self.reject(TOO_SLOW)
        self.on_overflow()

    def _drop_oldest(self) -> None:
        """Make room for one message; the place where messages are missing stays marked."""
        missed = Missed(0)
        while self._frames:
            oldest = self._frames.popleft()
            self._pop(oldest)
            if isinstance(oldest, MissedFrame):
                missed += oldest.missed
            else:
                missed += Missed(1)
                self.dropped += 1
                break
        if self._frames and isinstance(following := self._frames[0], MissedFrame):
            self._pop(self._frames.popleft())
            missed += following.missed
        if self.wants_missed:
            notice_frame = MissedFrame(missed, trio.current_time())
            self._frames.appendleft(notice_frame)
            self._count(notice_frame)
        for watcher in tuple(self._watchers):
            watcher.offer(Missed(1))

    def _send_missed(self, missed: Missed) -> None:
        """Let the client know between the message before and the one after."""
        if self._frames and isinstance(last := self._frames[-1], MissedFrame):
            self._pop(self._frames.pop())
            missed = last.missed + missed
        # Never two in a row, so there is at most one more of these than of messages.
        self._add(MissedFrame(missed, trio.current_time()))
        self._wake()

    def _wake(self) -> None:
        if self._start is not None:
            start, self._start = self._start, None
            self._woken = True
            start()
        elif self._writer is not None:
            # Taken away at once: a task that is rescheduled twice ends the run.
            writer, self._writer = self._writer, None
            self._woken = True
            trio.lowlevel.reschedule(writer)

    async def _park(self) -> None:
        """Wait for `_wake`."""

        def abort(_: object) -> trio.lowlevel.Abort:
            self._writer = None
            return trio.lowlevel.Abort.SUCCEEDED

        self._writer = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(abort)
