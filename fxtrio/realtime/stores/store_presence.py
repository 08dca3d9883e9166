"""Presence across processes: members are stored in a store and cached here.

Each member is stored with the epoch of its process. When a process dies, the kernel
notifies another one on its machine, which notifies all; if none is left, the epoch expires
because it is no longer renewed. Changes of members are sent on the channel itself.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import trio

from fxtrio.errors import BrokerUnreachable
from fxtrio.process_identity import epoch_of, is_dead, is_here, new_identity, split_epoch, wait_dead
from fxtrio.realtime.presence import Joined, Left, Member, PresenceEvent
from fxtrio.realtime.stores.backend import Backend, reaching
from fxtrio.realtime.stores.wire import (
    BrokerMessageUnreadable,
    EpochNews,
    News,
    RemoteMember,
    pack,
    pack_member,
    unpack_member,
)

HEARTBEAT = 2.5
"""Between two renewals of an epoch, and two looks for epochs that ended (seconds)."""

KEEPING = 6
"""Heartbeats between two renewals of logs and members (count)."""

PROCESSES = "\0processes"
"""The channel of news of epochs."""

Notice = Callable[[str, PresenceEvent, Member], None]
"""Callback with a channel, an event, and the member that it is about."""

log = logging.getLogger("fx.realtime")


class StorePresence:
    """The members of the channels that this process has subscribers on.

    ``nursery`` has a task for each other process on this machine.
    """

    def __init__(self, backend: Backend, notice: Notice, nursery: trio.Nursery) -> None:
        self._backend = backend
        self._away: tuple[type[Exception], ...] = (*backend.unreachable, BrokerUnreachable)
        self._notice = notice
        self._nursery = nursery
        self._identity = new_identity()
        self._number = 0
        self._epoch = ""
        self._channels: dict[str, dict[str, RemoteMember]] = {}
        self._own: dict[str, dict[str, Member]] = {}
        self._left: dict[str, set[str]] = {}  # while a channel is being loaded
        self._neighbours: dict[str, trio.CancelScope] = {}
        self.outdated = False
        """Whether the store may have members of this process that left: a new epoch ends them."""

    def members(self, name: str) -> tuple[Member, ...]:
        """Return the members of a channel, those that were here first first."""
        return tuple(known.member for known in self._channels.get(name, {}).values())

    async def begin_epoch(self) -> None:
        """Store all members again, and load the changes that were missed.

        Raises BrokerUnreachable.
        """
        self.outdated = False
        try:
            with reaching(self._backend, "realtime", "store the presence"):
                await self._begin_epoch()
        except BaseException:
            self.outdated = True
            raise

    async def _begin_epoch(self) -> None:
        former = self._epoch
        self._number += 1
        self._epoch = epoch_of(self._identity, self._number)
        neighbours = await self._backend.enter(self._epoch)
        for name, own in tuple(self._own.items()):
            await self._store(name, *own.values())
            await self._load(name)
        mine = {epoch for epoch in (former, *neighbours) if self._is_own(epoch)}
        for epoch in mine - {self._epoch}:  # also those whose end could not be announced
            await self._end(epoch)
        for epoch in neighbours:
            self._attend(epoch)
        await self._backend.notify(PROCESSES, pack(EpochNews(True, self._epoch)))

    async def open(self, name: str) -> None:
        """Learn the members of a channel whose news already come in. Raises BrokerUnreachable."""
        self._own.setdefault(name, {})
        self._channels.setdefault(name, {})
        with reaching(self._backend, name, "return the presence"):
            await self._load(name)
            others = {who.epoch for who in self._channels.get(name, {}).values()} - {self._epoch}
            for epoch in await self._backend.find_ended(others) if others else ():
                await self._remove_epoch(epoch)

    async def add(self, name: str, member: Member) -> None:
        """Add a member of this process. Raises BrokerUnreachable."""
        self._own.setdefault(name, {})[member.id] = member
        self._put(name, RemoteMember(self._epoch, member))
        with reaching(self._backend, name, "store the presence"):
            await self._store(name, member)

    def take_out(self, name: str, member: Member) -> None:
        """Take a member of this process out here; `remove` tells the store and the others."""
        self._own.get(name, {}).pop(member.id, None)
        self._drop(name, member.id)

    async def remove(self, name: str, member: Member) -> None:
        """Erase a member of this process; the store forgets it with its epoch at the latest."""
        try:
            await self._backend.erase(name, {member.id: None})
            await self._backend.notify(name, pack(News(False, RemoteMember(self._epoch, member))))
        except self._backend.unreachable:
            self.outdated = True
            log.debug("The connection broke before %r could leave %r", member.id, name)

    def close(self, name: str) -> None:
        """Forget a channel that this process has no subscribers on."""
        self._own.pop(name, None)
        self._channels.pop(name, None)

    def receive(self, name: str, news: News) -> None:
        """Take news of another process; those of this one are known."""
        if news.who.epoch == self._epoch or name not in self._channels:
            return
        if news.joined:
            self._put(name, news.who)
        else:
            self._left.get(name, set()).add(news.who.member.id)
            self._drop(name, news.who.member.id)

    def receive_epoch(self, news: EpochNews) -> None:
        """Handle the start or end of another process."""
        if self._is_own(news.epoch):
            return
        if news.begun:
            self._attend(news.epoch)
        else:
            self._forget(news.epoch)

    async def run(self) -> None:
        """Renew the epoch, and find out which others have ended. Ends when cancelled."""
        beats = 0
        while True:
            await trio.sleep(HEARTBEAT)
            beats += 1
            try:
                if self.outdated or not await self._backend.renew(self._epoch):
                    # Others may have buried it; and those that it has not heard of for as
                    # long may be as alive as this one, when it is the store that stood still.
                    await self.begin_epoch()
                    continue
                if beats % KEEPING == 0:
                    await self._backend.keep(tuple(self._own))
                await self._sweep()
            except self._away as error:
                log.debug("No heartbeat while the broker is unreachable: %s", repr(error))

    async def _store(self, name: str, *members: Member) -> None:
        who = [RemoteMember(self._epoch, member) for member in members]
        if who:
            await self._backend.store(name, who)
            await self._backend.notify(name, *(pack(News(True, one)) for one in who))

    async def _load(self, name: str) -> None:
        left = self._left.setdefault(name, set())
        try:
            present = {}
            for data in await self._backend.load(name):
                try:
                    who = unpack_member(data)
                except BrokerMessageUnreadable as error:
                    log.warning("%s", error)
                else:
                    present[who.member.id] = who
            for member_id in left:
                present.pop(member_id, None)
            for member_id in [*self._channels.get(name, ())]:
                if member_id not in present and member_id not in self._own.get(name, {}):
                    self._drop(name, member_id)
            ended: dict[str, bytes | None] = {}
            for member_id, who in present.items():
                if not self._is_own(who.epoch):
                    self._put(name, who)
                elif member_id not in self._own.get(name, {}):  # the store did not learn of it
                    ended[member_id] = None
            if ended:
                await self._backend.erase(name, ended)
        finally:
            self._left.pop(name, None)

    async def _sweep(self) -> None:
        epochs = {who.epoch for known in self._channels.values() for who in known.values()}
        epochs.discard(self._epoch)
        for epoch in await self._backend.find_ended(epochs) if epochs else ():
            await self._remove_epoch(epoch)

    async def _remove_epoch(self, epoch: str) -> None:
        """Take out the members of an epoch, here and in the store."""
        for name, dead in self._forget(epoch).items():
            await self._backend.erase(name, dead)

    def _forget(self, epoch: str) -> dict[str, dict[str, bytes | None]]:
        """Take out the members of an epoch here; return them by channel, packed by their id."""
        neighbour = self._neighbours.pop(epoch, None)
        if neighbour is not None:
            neighbour.cancel()
        dead: dict[str, dict[str, bytes | None]] = {}
        for name, known in tuple(self._channels.items()):
            for member_id, who in tuple(known.items()):
                if who.epoch == epoch and member_id not in self._own.get(name, {}):
                    self._drop(name, member_id)
                    dead.setdefault(name, {})[member_id] = pack_member(who)
        return dead

    # --- other processes on this machine

    def _attend(self, epoch: str) -> None:
        """Wait for the end of a process, once: its newest epoch represents earlier ones.

        The end of an earlier one may never have been announced, as during an outage.
        """
        if not is_here(epoch) or self._is_own(epoch) or epoch in self._neighbours:
            return
        who, number = split_epoch(epoch)
        for other in [*self._neighbours]:
            identity, known = split_epoch(other)
            if identity == who and known > number:
                return
            if identity == who:
                self._forget(other)
        self._neighbours[epoch] = trio.CancelScope()
        self._nursery.start_soon(self._wait_for_end, epoch, self._neighbours[epoch])

    def _is_own(self, epoch: str) -> bool:
        return split_epoch(epoch)[0] == self._identity

    async def _wait_for_end(self, epoch: str, scope: trio.CancelScope) -> None:
        """Announce the end of a process on this machine, unless another process did."""
        with scope:
            await wait_dead(epoch)
        if scope.cancelled_caught or not is_dead(epoch):
            return
        try:
            await self._end(epoch)
        except self._backend.unreachable:
            log.debug("The broker is unreachable: the end of %s cannot be announced", epoch)

    async def _end(self, epoch: str) -> None:
        await self._remove_epoch(epoch)
        await self._backend.end(epoch)
        await self._backend.notify(PROCESSES, pack(EpochNews(False, epoch)))

    def _put(self, name: str, who: RemoteMember) -> None:
        known = self._channels.setdefault(name, {})
        is_new = who.member.id not in known
        known[who.member.id] = who
        if is_new:
            self._notice(name, Joined(who.member), who.member)

    def _drop(self, name: str, member_id: str) -> None:
        who = self._channels.get(name, {}).pop(member_id, None)
        if who is not None:
            self._notice(name, Left(who.member), who.member)
