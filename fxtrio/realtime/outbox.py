"""Messages on their way to one subscriber, and the task that sends them.

The outbox is what makes `publish` never wait: it takes a message at once or, when the
client does not read, overflows. The writer sends what has gathered since its last
turn in one go, so a burst costs one write and not one per message.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Literal

import attrs
import trio
from starlette.websockets import WebSocketDisconnect, WebSocketDisconnected

from fxtrio.realtime.frames import Frame, Message, encode_message
from fxtrio.realtime.presence import Member, PresenceEvent, PresenceEvents

Overflow = Literal["close", "drop_oldest"]

PATIENCE = 5.0
"""Time a client has to take what it was sent when its subscription ends (seconds).

A frame that was begun cannot be taken back: without its end, no close frame would be
understood.
"""


@attrs.define(eq=False, on_setattr=attrs.setters.NO_OP)
class Outbox:
    """The `Subscriber` behind a `channel` block; `run` is its writer.

    ``capacity`` counts messages that wait for the writer. ``on_overflow`` is called
    once, when the policy is ``close`` and a client did not read.
    """

    member: Member
    capacity: int
    overflow: Overflow
    on_overflow: Callable[[], None]

    dropped: int = attrs.field(init=False, default=0)
    """Messages that ``drop_oldest`` has dropped."""

    overflowed: bool = attrs.field(init=False, default=False)
    """Whether the subscription ended because its client did not read."""

    progress: int = attrs.field(init=False, default=0)
    """How many times the writer has taken messages; stands still while the client stalls."""

    _frames: deque[Frame] = attrs.field(init=False, factory=deque)
    _watchers: list[PresenceEvents] = attrs.field(init=False, factory=list)
    # Shielded, since a cancellation would cut a frame in two; has a deadline once it ends.
    _scope: trio.CancelScope = attrs.field(
        init=False, factory=lambda: trio.CancelScope(shield=True)
    )
    _writer: trio.lowlevel.Task | None = attrs.field(init=False, default=None)
    """The writer, while it waits for messages."""
    _stalled_at: int = attrs.field(init=False, default=-1)
    """`progress` at the last overflow."""
    _ending: bool = attrs.field(init=False, default=False)

    def deliver(self, message: Message | Frame) -> None:
        """Take a message; overflow at once when there is no room."""
        frame = encode_message(message)
        if not self.offer(frame):
            self._overflow(frame)

    def offer(self, frame: Frame) -> bool:
        """Take a frame, or return False if there is no room but may be after some turns."""
        if self._ending:
            return True
        frames = self._frames
        if len(frames) >= self.capacity:
            if self.progress != self._stalled_at:
                return False
            self._overflow(frame)
        else:
            frames.append(frame)
            if self._writer is not None:
                self._wake()
        return True

    def notice(self, event: PresenceEvent) -> None:
        """Pass news of another member on to the readers of `watch`."""
        for watcher in self._watchers:
            watcher.offer(event)

    def watch(self, roster: Callable[[], tuple[Member, ...]]) -> PresenceEvents:
        """Return an iterator of news from now on."""
        events = PresenceEvents(roster)
        self._watchers.append(events)
        return events

    def finish(self) -> None:
        """Take no more, and let the writer end when everything is sent."""
        if not self._ending:
            self._ending = True
            self._scope.deadline = trio.current_time() + PATIENCE
            for watcher in self._watchers:
                watcher.end()
            self._wake()

    def close(self) -> None:
        """Take no more, forget what waits, and let the writer end what it has begun."""
        self._frames.clear()
        self.finish()

    async def run(
        self,
        send: Callable[[list[Frame]], Awaitable[None]],
        *,
        batch: int,
        refuse: Callable[[], Awaitable[None]],
    ) -> None:
        """Send what the outbox takes, until it ends or the client is gone.

        ``send`` gets frames of ``batch`` bytes in all, or one more than that holds.
        ``refuse`` is called in the end when the outbox had overflowed.
        """
        with self._scope:
            try:
                while self._frames or not self._ending:
                    if self._frames:
                        await send(self._take(batch))
                    else:
                        await self._park()
                if self.overflowed:
                    await refuse()
            except (WebSocketDisconnect, WebSocketDisconnected, OSError):
                pass  # the client is gone, which the handler learns by itself
        self.close()

    def _take(self, batch: int) -> list[Frame]:
        self.progress += 1
        frames, taken, size = self._frames, [], 0
        while frames and size < batch:
            frame = frames.popleft()
            taken.append(frame)
            size += len(frame.payload)
        return taken

    def _overflow(self, frame: Frame) -> None:
        self._stalled_at = self.progress
        if self.overflow == "drop_oldest":
            self._frames.popleft()
            self._frames.append(frame)
            self.dropped += 1
        else:
            self.overflowed = True
            self.close()
            self.on_overflow()

    def _wake(self) -> None:
        if self._writer is not None:
            writer, self._writer = self._writer, None
            trio.lowlevel.reschedule(writer)

    async def _park(self) -> None:
        """Wait for `_wake`."""

        def abort(_: object) -> trio.lowlevel.Abort:
            self._writer = None
            return trio.lowlevel.Abort.SUCCEEDED

        self._writer = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(abort)
