"""What WebSockets have received and their handlers have not taken: one budget, in bytes.

The counterpart of `fxtrio.send_budget`: messages of which the end has not come yet, and those that
wait for a handler. A little of each WebSocket is not counted, so that ordinary messages cost
nothing here. When the budget is full, nothing more is read of the others, and those that have
had most for long are closed.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import Final

import trio

from fxtrio.heap import process_heap
from fxtrio.log_limit import Repeats, lines_of_clients, more_like_it

CAPACITY: Final = 32 * 1024 * 1024
"""The budget, where no other is set (bytes)."""

FREE: Final = 16 * 1024
"""What each WebSocket may have besides (bytes)."""

ROUND: Final = 0.25
"""Between two looks at all of them (seconds)."""

ROUNDS: Final = 4
"""For how many looks a WebSocket may have more than that, however full the budget is. Between two
all others have a turn: a busy process must not take for slow whom it has not read meanwhile."""

SHARE: Final = 0.25
"""What the clients of one public address may have of a full budget, if they are more than one."""

REASON: Final = "too many messages wait"
"""Of the close frame with 1013."""

_ENOUGH = 0.9
"""Up to which part of the budget WebSockets are closed: not one for each read."""

_log = logging.getLogger("fx.server")


class Unreceived:
    """The budget of one process. Use `process_unreceived`."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        """In bytes."""

        self.used = 0
        self.closed = 0
        """WebSockets that were closed so far (count)."""

        self.round = 0
        """How often it was full at a `tick`."""

        self._holders: set[Backlog] = set()
        self._room = trio.lowlevel.ParkingLot()
        self._repeats: Repeats[str] = lines_of_clients()

    @property
    def is_full(self) -> bool:
        """Whether those that have more than `FREE` must wait."""
        return self.used > self.capacity

    def change(self, backlog: Backlog, size: int) -> None:
        """Count that ``size`` bytes wait of a WebSocket now."""
        if not backlog.size:
            backlog.since, backlog.round = trio.current_time(), self.round
            self._holders.add(backlog)
        elif not size:
            self._holders.discard(backlog)
        self.used += size - backlog.size
        backlog.size = size
        if self._room and not self.is_full:
            self._room.unpark_all()

    async def wait_room(self, backlog: Backlog) -> None:
        """Wait until more may be read of a WebSocket, or it is closed."""
        while self.is_full and backlog.size:
            with trio.move_on_after(ROUND):
                await self._room.park()

    def tick(self) -> None:
        """Close WebSockets until there is room: first those that have had most for long.

        To be called every `ROUND` by a task of its own.
        """
        if not self.is_full:
            return
        self.round += 1
        now = trio.current_time()
        closed, used = 0, self.used
        for backlog in self._old(now):
            if self.used <= self.capacity * _ENOUGH:
                break
            backlog.close()
            closed += 1
        if closed:
            process_heap.trim()
            self._tell(closed, used, now)

    def _old(self, now: float) -> list[Backlog]:
        """Return those that may be closed, in this order."""
        shares: Counter[str] = Counter()
        for backlog in self._holders:
            shares[backlog.address] += backlog.size

        def weight(backlog: Backlog) -> tuple[bool, float]:
            share = shares[backlog.address]
            greedy = bool(backlog.address) and backlog.size < share > self.capacity * SHARE
            return greedy, backlog.size * (now - backlog.since)

        old = [each for each in self._holders if self.round - each.round >= ROUNDS]
        return sorted(old, key=weight, reverse=True)

    def _tell(self, closed: int, used: int, now: float) -> None:
        self.closed += closed
        repeats = self._repeats.again("closed", now)
        if repeats is not None:
            _log.warning(
                "%d bytes of WebSocket messages waited for handlers, or were incomplete: %d "
                "WebSockets were closed with 1013. The limit is limits.messages%s",
                used,
                closed,
                more_like_it(repeats),
            )


process_unreceived = Unreceived()
"""The budget of this process. An app sets its capacity when it starts."""


class Backlog:
    """What waits of one WebSocket, in one place."""

    def __init__(
        self, address: str, close: Callable[[], None], *, budget: Unreceived = process_unreceived
    ) -> None:
        self.address = address
        """The network of its public address; "" when that may stand for many clients."""

        self._close = close
        """Ends the WebSocket, and releases what waits. Never waits."""

        self.budget = budget
        self.size = 0
        """Bytes that are counted: 0 up to `FREE`."""

        self.since = 0.0
        """When it was more than that."""

        self.round = 0
        """In which round of the budget that was."""

    def count(self, size: int) -> None:
        """Count that ``size`` bytes wait now, unless these are few."""
        if size <= FREE:
            size = 0
        if size != self.size:
            self.budget.change(self, size)

    def end(self) -> None:
        """Count nothing more: the WebSocket is over, and must not be held from here."""
        self.count(0)
        self._close = _nothing

    def close(self) -> None:
        """Give up on the WebSocket."""
        self.count(0)
        self._close()


def _nothing() -> None:
    """Do nothing."""
