"""What waits to be sent, of all connections of a process: one budget, in bytes.

HTTP/1.1, HTTP/2 and the outboxes of channels count what a socket did not take at once, so that
an ordinary response costs nothing here. When the budget is full, clients that read too slowly
are cut off, those that would keep their bytes longest first. Large responses wait for room, and
only if they have to for long, who reads, but has most of it, is cut off. Small responses pass
(`fxtrio.send_budget.turns`).
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from math import inf
from typing import Final

import trio

from fxtrio.errors import Busy, PlacedError
from fxtrio.heap import process_heap
from fxtrio.log_limit import Repeats, lines_of_clients, more_like_it
from fxtrio.send_budget.client import Holder
from fxtrio.send_budget.loop_clock import LoopClock
from fxtrio.send_budget.turns import PROBES, LargePaths, Turns, give_up_place

CAPACITY: Final = 32 * 1024 * 1024
"""The budget, where no other is set (bytes)."""

GRACE: Final = 1.0
"""For how long bytes have waited before their client can be slow (seconds)."""

PATIENCE: Final = 10.0
"""How long a client may need, at its own pace, for all that waits for it (seconds). One that
needs longer is slow while the budget is full."""

SHARE: Final = 0.25
"""What the clients of one public address may have of a full budget, if they are more than one;
and any client at all, once others have waited for room for half of `WAIT`."""

CLIENT_SHARE: Final = 0.5
"""What responses that are being made for the clients of one public address may have of it."""

PLACES: Final = 16
"""Responses that pass at a time while the budget is full, as long as they may become large."""

WAIT: Final = 10.0
"""How long a new response may wait for room (seconds)."""

_ENOUGH = 0.9
"""Up to which part of the budget clients are cut off: not one for each response."""

_LOOK = 0.1
"""Between two looks at all clients while the budget is full (seconds)."""

_AT_ONCE = 4
"""New responses that go on when some bytes are sent: nobody knows how large they become."""

_log = logging.getLogger("fx.server")


class UnsentFull(PlacedError, Busy):
    """A large page was not rendered, because too many bytes wait for clients that do not read."""

    remedy = "Try again in a moment, or raise limits.unsent"

    def __init__(self, place: str) -> None:
        super().__init__(place, "it was not rendered, because clients leave too much unread")


class Unsent:
    """The budget of one process. Use `process_unsent`."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        """In bytes."""

        self.used = 0
        """Bytes that wait. A buffer that many clients share counts once: it is in memory once."""

        self.cut = 0
        """Clients that were cut off so far (count)."""

        self.clock = LoopClock()
        """By which clients are judged."""

        self._reserved: Counter[str] = Counter()
        """Bytes of responses that are being made, by the address of their clients."""

        self._holders: set[Holder] = set()
        self._buffers: Counter[int] = Counter()
        """How often each buffer is held, by its `id`: whoever holds it has a reference."""

        self._looked_at = -inf
        self._crowded = False
        """Whether clients were cut off, and their memory may not be the system's again."""

        self._waiting: dict[trio.Event, float] = {}
        """Since when. The newest is the last, and goes on first: of a crowd of slow clients each
        would have to wait for all before it, and so would everybody who comes after them."""

        self.large_paths = LargePaths()
        self._small = Turns(PLACES, keeps=True)
        """Who passes though the budget is full."""
        self._freed = trio.Event()
        """Set, and replaced, when a response that was being made is done."""

        self._large = Turns(_AT_ONCE, keeps=False)
        """Who goes on when there is room."""

        self._repeats: Repeats[str] = lines_of_clients()

    @property
    def is_full(self) -> bool:
        """Whether new responses must wait."""
        return self.used > self.capacity

    def enter(self, holder: Holder) -> None:
        """Let a client be cut off when there is no room. It must `leave`."""
        self._holders.add(holder)

    def leave(self, holder: Holder) -> None:
        """Forget a client."""
        self._holders.discard(holder)
        if self._crowded and self.used < self.capacity / 2:
            self._crowded = not process_heap.trim()

    def add(self, size: int) -> None:
        """Count ``size`` bytes more, and make room if they are too many."""
        self.used += size
        self.clock.watch(self._in_use)
        if self.used > self.capacity:
            self.make_room()

    def remove(self, size: int) -> None:
        """Count ``size`` bytes less."""
        self.used -= size
        if self.used <= self.capacity and (
            self._waiting or self._large.waiting or self._small.waiting
        ):
            self._wake()

    def hold(self, data: bytes) -> None:
        """Count a buffer, unless somebody else has it as well."""
        key = id(data)
        self._buffers[key] += 1
        if self._buffers[key] == 1:
            self.add(len(data))

    def release(self, data: bytes) -> None:
        """Take back one `hold`."""
        key = id(data)
        self._buffers[key] -= 1
        if not self._buffers[key]:
            del self._buffers[key]
            self.remove(len(data))

    @contextmanager
    def reserving(self, size: int, address: str = "") -> Iterator[None]:
        """Count ``size`` bytes for the length of the block: of a response that is being rendered.

        ``address`` is that of its client, as in `Holder`.
        """
        self._reserve(size, address)
        try:
            yield
        finally:
            self.unreserve(size, address)

    async def wait_reserved(self, size: int, address: str = "") -> bool:
        """Wait for room, and count ``size`` bytes; False when there is no room after `WAIT`.

        All that is made at a time for one public address has a part of the room, unless it is
        one response. What is counted must be given back (`unreserve`).
        """
        deadline = trio.current_time() + WAIT
        while self.must_wait(size, address):
            if self.is_full:  # those who went on beside may have taken the room
                if not await self.wait_room(deadline):
                    return False
            elif not await self._wait_share(deadline):
                return False
        self._reserve(size, address)
        return True

    def must_wait(self, size: int, address: str) -> bool:
        """Return whether a response of ``size`` bytes must not be created yet."""
        others = self._reserved[address] if address else 0
        return self.is_full or bool(others and others + size > self.capacity * CLIENT_SHARE)

    def unreserve(self, size: int, address: str) -> None:
        """Take back what was counted by `wait_reserved`."""
        self._reserved[address] -= size
        if not self._reserved[address]:
            del self._reserved[address]
        freed, self._freed = self._freed, trio.Event()
        freed.set()
        self.remove(size)

    def _reserve(self, size: int, address: str) -> None:
        self._reserved[address] += size
        self.add(size)

    async def _wait_share(self, deadline: float) -> bool:
        """Wait until a response that was being created is done; False at the deadline."""
        give_up_place()
        with trio.move_on_at(deadline) as waiting:
            await self._freed.wait()
        return not waiting.cancelled_caught

    async def wait_room(self, deadline: float = inf) -> bool:
        """Wait until a large response may be created; False when there is no room after `WAIT`."""
        give_up_place()
        began = trio.current_time()
        deadline = min(deadline, began + WAIT)
        woken = trio.Event()
        self._waiting[woken] = began
        try:
            while not woken.is_set():
                self.make_room()
                if not self.is_full:
                    self._wake()
                now = trio.current_time()
                if now >= deadline:
                    break
                # Not for bytes that are sent alone: that a client has become slow is no event.
                with trio.move_on_at(min(deadline, now + GRACE / 4)):
                    await woken.wait()
        finally:
            self._waiting.pop(woken, None)
        return woken.is_set()

    @asynccontextmanager
    async def turn(self, holder: Holder, path: bytes) -> AsyncIterator[bool]:
        """Wait until a response to ``holder`` may be created while the budget is full.

        False when it may not after `WAIT`. What is known to be large below ``path`` waits for
        room; all others have their turn, `PLACES` at a time. Probes need none.
        """
        if path in PROBES:
            yield True
            return
        large = path in self.large_paths
        turns = self._large if large else self._small
        now = trio.current_time()
        deadline = now + WAIT
        self.make_room()
        with turns.place(holder, now) as place:
            while True:
                if large:
                    admitted = not self.is_full and turns.take(place, now)
                else:
                    admitted = not self.is_full or turns.take(place, now)
                if admitted or now >= deadline:
                    break
                await turns.wait(place, min(deadline, now + GRACE / 4))
                self.make_room()
                now = trio.current_time()
            yield admitted

    def _in_use(self) -> bool:
        return self.used > 0

    def _wake(self) -> None:
        for _ in range(min(_AT_ONCE, len(self._waiting))):
            self._waiting.popitem()[0].set()
        self._large.wake()
        self._small.wake()

    def make_room(self) -> None:
        """Cut off slow clients until there is room: the slowest first, most bytes first.

        And those that have a place among the few that pass, and turned out to be large and slow.
        """
        now = trio.current_time()
        # Below 0 it was another run of trio that looked, which the budget outlives: clocks differ.
        if self.is_full and not 0 <= now - self._looked_at < _LOOK:
            self._looked_at = now
            cut, used = 0, self.used
            for holder in self._slow(now):
                if self.used <= self.capacity * _ENOUGH:
                    break
                holder.cut_off()
                cut += 1
            for hog in self._small.hogs(now):
                hog.cut_off()
                cut += 1
            if cut:
                self._crowded = True
                process_heap.trim()
                self._tell(cut, used, now)

    def _slow(self, now: float) -> list[Holder]:
        """Return the clients that may be cut off, in this order."""
        oldest = next(iter(self._waiting.values()), now)
        oldest = min(oldest, next((place.since for place in self._large.waiting), now))
        is_long = now - oldest > WAIT / 2
        most = self.capacity * SHARE
        shares: Counter[str] = Counter()
        for holder in self._holders:
            shares[holder.address] += holder.unsent
        found = []
        for holder in self._holders:
            size, left, address = holder.unsent, holder.time_left(now), holder.address
            # A client that has all of its address's bytes may have more: somebody reads that much.
            greedy = bool(address) and size < shares[address] > most
            if size and left and (left > PATIENCE or greedy or (is_long and size > most)):
                found.append((greedy, left, size, holder))
        found.sort(key=lambda one: one[:3], reverse=True)
        return [holder for *_, holder in found]

    def _tell(self, cut: int, used: int, now: float) -> None:
        self.cut += cut
        untold = self._repeats.again("cut", now)
        if untold is not None:
            _log.warning(
                "%d bytes waited for clients that read too slowly: %d of them were disconnected. "
                "The limit is limits.unsent%s",
                used,
                cut,
                more_like_it(untold),
            )


process_unsent = Unsent()
"""The budget of this process. An app sets its capacity when it starts."""
