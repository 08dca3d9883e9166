"""A store of messages in memory that several processes share, as they would share Redis.

What arrives late, and when a process is cut off, the seed decides. It keeps to the guarantees of
`Backend`: one order for all processes, logs that a process reads on after it was cut off.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count

import attrs
import trio

from fxtrio.config import RealtimeConfig
from fxtrio.realtime.frames import Ident
from fxtrio.realtime.stores.backend import (
    EPOCH_LIFE,
    START,
    Arrival,
    Backend,
    Logged,
    Part,
)
from fxtrio.realtime.stores.store_broker import SharedBroker, open_shared_broker
from fxtrio.realtime.stores.wire import RemoteMember, pack_member
from fxtrio.simulation.engine.scheduler import Scheduler
from fxtrio.simulation.faults import FaultPlan, some_steps

_CUT_WITHIN = 3000
"""The step of a connection's life at which it breaks, at most (count)."""


class StoreLost(ConnectionError):
    """The store cannot be reached."""


@attrs.define(eq=False)
class MessageStore:
    """What the processes of a run share."""

    _plan: FaultPlan
    _scheduler: Scheduler
    logs: dict[str, deque[Logged]] = attrs.field(factory=dict)
    members: dict[str, dict[str, bytes]] = attrs.field(factory=dict)
    epochs: dict[str, float] = attrs.field(factory=dict)
    links: list[StoreLink] = attrs.field(factory=list)
    _places: count[int] = attrs.field(factory=lambda: count(1))

    @asynccontextmanager
    async def open_broker(
        self, settings: RealtimeConfig, *, name: str = ""
    ) -> AsyncIterator[SharedBroker]:
        """Run a broker on it, in place of `fxtrio.realtime.open.open_broker`."""
        async with open_shared_broker(self._open(settings.history)) as broker:
            yield broker

    def post(self, name: str, ident: Ident | None, data: bytes | None) -> None:
        """Send data to all processes that are subscribed to a channel."""
        for link in self.links:
            link.take(name, ident, data)

    def log(self, name: str, data: bytes, history: int) -> Ident:
        """Append to the log of a channel."""
        ident = (next(self._places), 0)
        stored = self.logs.setdefault(name, deque())
        stored.append(Logged(ident, data))
        while len(stored) > history:
            stored.popleft()
        return ident

    def plan_cuts(self) -> None:
        """Let processes be cut off at any step from now on, as the seed decides."""
        for link in self.links:
            self.plan_cut(link)

    def plan_cut(self, link: StoreLink) -> None:
        """Let a connection break at any step, or not."""
        plan = self._plan
        name = plan.next_name("link")
        random = plan.draw(name, plan.faults.store)
        if random is None:
            return

        def cut() -> None:
            if link in self.links and not plan.calm:
                plan.note(name, "a process was cut off the store")
                link.cut()

        self._scheduler.call_in(some_steps(random, _CUT_WITHIN), cut)

    @asynccontextmanager
    async def _open(self, history: int) -> AsyncIterator[Backend]:
        yield SimulatedBackend(self, self._plan, self._scheduler, history)


@attrs.define(eq=False)
class StoreLink:
    """A connection of one process. A `StoreConnection`."""

    generation: str
    _plan: FaultPlan
    _names: set[str]
    _send: trio.MemorySendChannel[tuple[str, Ident | None, bytes | None]]
    _receive: trio.MemoryReceiveChannel[tuple[str, Ident | None, bytes | None]]
    broken: bool = False

    async def run(self, arrival: Arrival) -> None:
        """Pass on messages in order, some of them delayed. Raises StoreLost."""
        async for name, ident, data in self._receive:
            pause = self._plan.pause("message", self._plan.faults.store, "a message was late by")
            if pause:
                await trio.sleep(pause)
            arrival(name, ident, data)
        raise StoreLost("The store has closed the connection.")

    async def subscribe(self, name: str) -> None:
        """Receive the messages of a channel from now on."""
        await self._require()
        self._names.add(name)

    async def unsubscribe(self, name: str) -> None:
        """Get no more of it."""
        await self._require()
        self._names.discard(name)

    def take(self, name: str, ident: Ident | None, data: bytes | None) -> None:
        """Get data of a channel; forget it if it is none of this connection's."""
        if name in self._names and not self.broken:
            self._send.send_nowait((name, ident, data))

    def cut(self) -> None:
        """Break: messages under way are lost."""
        self.broken = True
        self._receive.close()
        self._send.close()

    async def _require(self) -> None:
        await trio.lowlevel.checkpoint()
        if self.broken:
            raise StoreLost("The connection to the store is broken.")


@attrs.define(eq=False)
class SimulatedBackend:
    """The store, as one process reaches it. A `Backend`."""

    _store: MessageStore
    _plan: FaultPlan
    _scheduler: Scheduler
    _history: int
    unreachable: tuple[type[Exception], ...] = (
        StoreLost,
        trio.ClosedResourceError,
        trio.BrokenResourceError,
    )

    @asynccontextmanager
    async def connect(self, names: Collection[str]) -> AsyncIterator[StoreLink]:
        """Open a connection, which may break at any step."""
        await self._travel()
        send, receive = trio.open_memory_channel[tuple[str, Ident | None, bytes | None]](10_000)
        link = StoreLink("only", self._plan, set(names), send, receive)
        self._store.links.append(link)
        self._store.plan_cut(link)
        try:
            yield link
        finally:
            self._store.links.remove(link)

    async def publish(self, name: str, data: bytes) -> None:
        """Log a message and send it to all processes, in one order for all."""
        await self._travel()
        ident = self._store.log(name, data, self._history) if self._history else None
        self._store.post(name, ident, data)
        await self._travel()

    async def notify(self, name: str, *data: bytes) -> None:
        """Send data without storing it in a log."""
        await self._travel()
        for one in data:
            self._store.post(name, None, one)

    async def begin(self, name: str) -> Ident:
        """See to it that a channel has a log, and return the place of its newest message."""
        await self._travel()
        if not self._history:
            return START
        log = self._store.logs.get(name)
        return log[-1].ident if log else self._store.log(name, b"", self._history)

    async def newest(self, names: Sequence[str]) -> list[Ident | None]:
        """Return the place of the newest message of each log; None without a log."""
        await self._travel()
        logs = [self._store.logs.get(name) for name in names]
        return [log[-1].ident if log else None for log in logs]

    async def read(self, name: str, after: Ident, limit: int) -> Part:
        """Return at most ``limit`` messages after a position, oldest first."""
        await self._travel()
        log = self._store.logs.get(name)
        if not log:
            return Part(False, [Logged(START, b"")])
        later = [one for one in log if one.ident > after][:limit]
        whole = any(one.ident == after for one in log)
        return Part(whole, later) if later or whole else Part(False, [Logged(log[-1].ident, b"")])

    async def keep(self, names: Sequence[str]) -> None:
        """Let logs and members live on: here they always do."""
        await self._travel()

    async def enter(self, epoch: str) -> list[str]:
        """Make a process known; return all processes that are."""
        await self._travel()
        self._store.epochs[epoch] = trio.current_time() + EPOCH_LIFE
        return list(self._store.epochs)

    async def renew(self, epoch: str) -> bool:
        """Say that a process lives; False when it has been silent for too long."""
        await self._travel()
        alive = self._store.epochs.get(epoch, 0.0) > trio.current_time()
        if alive:
            self._store.epochs[epoch] = trio.current_time() + EPOCH_LIFE
        return alive

    async def end(self, epoch: str) -> None:
        """Forget a process."""
        await self._travel()
        self._store.epochs.pop(epoch, None)

    async def find_ended(self, epochs: Collection[str]) -> set[str]:
        """Return the processes that have ended, or been silent for `EPOCH_LIFE`."""
        await self._travel()
        now = trio.current_time()
        return {epoch for epoch in epochs if self._store.epochs.get(epoch, 0.0) <= now}

    async def store(self, name: str, members: Sequence[RemoteMember]) -> None:
        """Keep members of a channel."""
        await self._travel()
        stored = self._store.members.setdefault(name, {})
        stored.update({who.member.id: pack_member(who) for who in members})

    async def erase(self, name: str, members: Mapping[str, bytes | None]) -> None:
        """Forget members by their id; with bytes, unless other ones are stored there by now."""
        await self._travel()
        stored = self._store.members.get(name, {})
        for key, packed in members.items():
            if packed is None or stored.get(key) == packed:
                stored.pop(key, None)

    async def load(self, name: str) -> list[bytes]:
        """Return the members of a channel, packed."""
        await self._travel()
        return list(self._store.members.get(name, {}).values())

    async def _travel(self) -> None:
        """Take a step or two, as an answer of a server does; sometimes much longer."""
        pause = self._plan.pause("call of the store", self._plan.faults.store / 4, "the store took")
        await trio.sleep(min(pause, 4.0))
