"""The broker for several processes and machines, over a shared store.

A process receives its own messages back from the store, like all others, so every
subscriber of a channel gets the same messages in the same order. After an outage a process
reads the missed messages from the channel's log; its subscribers get a `Missed` if the log no
longer has them. `publish` raises while the store is unreachable.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import msgspec
import trio

from fxtrio.errors import BrokerUnreachable
from fxtrio.realtime.broker import Replay, Subscriber
from fxtrio.realtime.frames import Frame, Ident, Message, encode_message
from fxtrio.realtime.presence import Member, Missed, Notice, Resumed
from fxtrio.realtime.stores.backend import START, Backend, reaching
from fxtrio.realtime.stores.store_presence import PROCESSES, StorePresence
from fxtrio.realtime.stores.subscription import Link, log
from fxtrio.realtime.stores.wire import (
    BrokerMessageUnreadable,
    EpochNews,
    pack,
    unpack,
)
from fxtrio.realtime.subscriptions import BrokerStatistics, Topics

BACKLOG, BACKLOG_BYTES = 1024, 1024 * 1024
"""Messages of a channel, and bytes of them, that may wait for its slower readers; then these are
not waited for."""

_SETTLING = 1.0
"""Longest pause between two parts of a log while slower readers catch up (seconds)."""

_MOMENT = 0.01


@asynccontextmanager
async def open_shared_broker(
    opened: AbstractAsyncContextManager[Backend],
) -> AsyncIterator[SharedBroker]:
    """Open a store, and run a broker on it while the block lasts.

    Raises BrokerUnreachable if the store is unreachable at first; later outages are waited for.
    """
    failure: BrokerUnreachable | None = None
    async with opened as backend, trio.open_nursery() as nursery:
        broker = SharedBroker(backend, nursery)
        try:
            await broker.start()
        except BrokerUnreachable as error:
            failure = error  # raised below, and not in groups
        else:
            yield broker
        nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure


class _Backlog(msgspec.Struct, eq=False):
    """Messages of a channel while the outboxes of some subscribers are full."""

    items: deque[Frame | Notice] = msgspec.field(default_factory=deque)
    size: int = 0

    @property
    def is_long(self) -> bool:
        return len(self.items) >= BACKLOG or self.size >= BACKLOG_BYTES

    def append(self, item: Frame | Notice) -> None:
        self.items.append(item)
        self.size += item.size if isinstance(item, Frame) else 0

    def popleft(self) -> Frame | Notice:
        item = self.items.popleft()
        self.size -= item.size if isinstance(item, Frame) else 0
        return item


class SharedBroker:
    """Reaches the subscribers of all processes. A `PresenceBroker`; see `open_shared_broker`."""

    takes_frames = True
    """Whether `publish` accepts encoded frames."""

    @property
    def connected(self) -> bool:
        """Whether the store is reached, as far as is known."""
        return self._link.connected

    def __init__(self, backend: Backend, nursery: trio.Nursery) -> None:
        self._backend = backend
        self._nursery = nursery
        self._topics = Topics()
        self._roster = StorePresence(backend, self._topics.notice, nursery)
        self._link = Link(
            backend,
            on_message=self._receive,
            on_missed=lambda name: self._notify(name, Missed()),
            on_resumed=lambda name: self._notify(name, Resumed()),
            on_connect=self._roster.begin_epoch,
            on_part=self._settle,
            always=[PROCESSES],
        )
        self._backlogs: dict[str, _Backlog] = {}
        self._gates: dict[str, trio.Lock] = {}
        self._published = 0

    def __repr__(self) -> str:
        return f"<SharedBroker {self.statistics()}>"

    async def start(self) -> None:
        """Connect, and stay connected. Raises BrokerUnreachable."""
        await self._nursery.start(self._link.run)
        self._nursery.start_soon(self._roster.run)

    async def subscribe(self, name: str, subscriber: Subscriber) -> None:
        """Deliver messages to ``name`` from now on to ``subscriber``.

        Raises BrokerUnreachable if the store is unreachable for some seconds.
        """
        async with self._gate(name):
            await self._link.subscribe(name)
            if name not in self._topics:
                await self._roster.open(name)
            self._topics.join(name, subscriber)
            await self._roster.add(name, subscriber.member)

    async def unsubscribe(self, name: str, subscriber: Subscriber) -> None:
        """Deliver no more to ``subscriber``; with the last one, the name is forgotten.

        If this is cancelled, since the store is slow, other processes learn of it a little later.
        """
        # Before anything waits: it gets no message from here on, however slow the store is.
        present = self._topics.leave(name, subscriber)
        if present:
            self._roster.take_out(name, subscriber.member)
        try:
            async with self._gate(name):
                if present:
                    await self._roster.remove(name, subscriber.member)
                await self._close_unused(name)
        except trio.Cancelled:
            self._roster.outdated = True
            if name not in self._topics:
                self._nursery.start_soon(self._close_later, name)
            raise

    async def publish(self, name: str, message: Message) -> None:
        """Deliver ``message`` to all subscribers of ``name``; waits for the store only.

        Raises MessageNotEncodable, and BrokerUnreachable while the store is away. The
        message may or may not have arrived then.
        """
        frame = encode_message(message)
        with reaching(self._backend, name, "publish"):
            await self._backend.publish(name, pack(frame))
        self._link.nudge()
        self._published += 1

    async def begin_log(self, name: str) -> Ident | None:
        """Return the end of a channel's log; None without a log. Raises BrokerUnreachable."""
        with reaching(self._backend, name, "start the history"):
            end = await self._backend.begin(name)
        return None if end == START else end

    async def read_log(self, name: str, after: Ident, limit: int) -> Replay:
        """Return at most ``limit`` messages after a place. Raises BrokerUnreachable."""
        with reaching(self._backend, name, "read the history"):
            part = await self._backend.read(name, after, limit)
        messages = [(one.ident, _frame(one.data)) for one in part.messages]
        return Replay(None if part.whole else Missed(), messages)

    def members(self, name: str) -> tuple[Member, ...]:
        """Return the members of a channel on all processes, as far as this one has heard.

        Empty for a channel without subscribers in this process.
        """
        return self._roster.members(name)

    def subscriptions(self) -> dict[str, int]:
        """Return how many subscribers each channel has in this process."""
        return self._topics.counts()

    def statistics(self) -> BrokerStatistics:
        """Return the present counts of this process."""
        return self._topics.statistics(self._published)

    async def _close_later(self, name: str) -> None:
        async with self._gate(name):
            await self._close_unused(name)

    async def _close_unused(self, name: str) -> None:
        """Forget a channel that has no subscribers. Called within its gate."""
        if name not in self._topics:
            self._roster.close(name)
            await self._link.unsubscribe(name)

    def _receive(self, name: str, ident: Ident | None, data: bytes) -> None:
        """Take a message from the store without waiting."""
        try:
            message = unpack(data)
        except BrokerMessageUnreadable as error:
            log.warning("%s", error)
            return
        if isinstance(message, EpochNews):
            self._roster.receive_epoch(message)
        elif not isinstance(message, Frame):
            self._roster.receive(name, message)
        else:
            message.ident = ident
            self._deliver(name, message)

    def _deliver(self, name: str, frame: Frame) -> None:
        """Offer a message to its subscribers, after the backlog of lagging ones."""
        if name in self._backlogs:
            self._backlogs[name].append(frame)
            return
        lagging = self._topics.offer(name, frame)
        if lagging:
            self._backlogs[name] = _Backlog()
            self._nursery.start_soon(self._catch_up, name, frame, lagging)

    def _notify(self, name: str, event: Notice) -> None:
        """Notify the subscribers of a channel, after the backlog of lagging ones."""
        if name in self._backlogs:
            self._backlogs[name].append(event)
        else:
            self._topics.notify(name, event)

    async def _settle(self, name: str) -> None:
        """Let the readers of a channel have their turn, and the slower ones a moment."""
        await trio.lowlevel.checkpoint()
        with trio.move_on_after(_SETTLING):
            while (  # noqa: ASYNC110  # it shrinks
                backlog := self._backlogs.get(name)
            ) is not None and backlog.is_long:
                await trio.sleep(_MOMENT)

    async def _catch_up(self, name: str, frame: Frame, lagging: list[Subscriber]) -> None:
        """Deliver the backlog of a channel to its lagging subscribers, until it is empty."""
        backlog = self._backlogs[name]
        try:
            while True:
                await self._topics.deliver_to_lagging(
                    name, frame, lagging, in_a_hurry=lambda: backlog.is_long
                )
                lagging = []
                while not lagging:
                    if not backlog.items:
                        return
                    lagging, frame = self._next(name, backlog.popleft(), frame)
        finally:
            del self._backlogs[name]

    def _next(
        self, name: str, item: Frame | Notice, frame: Frame
    ) -> tuple[list[Subscriber], Frame]:
        """Deliver one item of a backlog; return the subscribers that are full, and the frame."""
        if isinstance(item, Frame):
            return self._topics.offer(name, item), item
        self._topics.notify(name, item)
        return [], frame

    @asynccontextmanager
    async def _gate(self, name: str) -> AsyncIterator[None]:
        """Let one task at a time begin or end the subscription of a channel."""
        lock = self._gates.setdefault(name, trio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.locked():
                self._gates.pop(name, None)


def _frame(data: bytes) -> Frame | None:
    """Return the message of a log entry; None for a mark of a place, and for a foreign one."""
    if not data:
        return None
    try:
        message = unpack(data)
    except BrokerMessageUnreadable as error:
        log.warning("%s", error)
        return None
    return message if isinstance(message, Frame) else None
