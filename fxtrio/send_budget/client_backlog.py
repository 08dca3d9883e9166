"""What waits for one client, and how fast it takes that."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import trio

from fxtrio.send_budget.budget import GRACE, Unsent, process_unsent


class Unread:
    """The buffers that wait for one client. A `Holder` while there are any."""

    def __init__(
        self, address: str, cut: Callable[[], None], *, budget: Unsent = process_unsent
    ) -> None:
        self.address = address
        self._cut = cut
        """Ends what is sent to the client. Never waits."""

        self.budget = budget
        self.unsent = 0
        self.since = 0.0
        """When bytes began to wait, by the clock of the budget."""

        self.taken = 0
        """Bytes that the client has taken since then."""

        self._held: dict[int, list[bytes]] = {}
        """By `id`, once for each `hold`."""

    def hold(self, data: bytes) -> None:
        """Count a buffer that waits, whole, however little of it does."""
        self._begin()
        self._held.setdefault(id(data), []).append(data)
        self.unsent += len(data)
        self.budget.hold(data)

    def release(self, data: bytes) -> None:
        """Take back one `hold`; nothing after `clear`."""
        held = self._held.get(id(data))
        if held is None:
            return
        held.pop()
        if not held:
            del self._held[id(data)]
        self.unsent -= len(data)
        self.budget.release(data)
        self._end()

    def count(self, size: int) -> None:
        """Count ``size`` bytes more, which are nobody else's; less when it is negative."""
        if size > 0:
            self._begin()
            self.unsent += size
            self.budget.add(size)
        else:
            self.unsent += size
            self.budget.remove(-size)
            self._end()

    def clear(self) -> None:
        """Release all that is held; what was counted stays."""
        for held in list(self._held.values()):
            for data in tuple(held):
                self.release(data)

    def time_left(self, now: float) -> float:
        """Return how long the client will need at its pace; 0 within the `GRACE`."""
        waited = self.budget.clock.at(now) - self.since
        if waited < GRACE:
            return 0.0
        return self.unsent * waited / self.taken if self.taken else inf

    def cut_off(self) -> None:
        """Give up on the client."""
        self.clear()
        self._cut()

    def is_too_slow(self, now: float, grace: float, rate: float) -> bool:
        """Return whether it has taken less than ``rate`` bytes a second, and ``grace`` seconds."""
        waited = self.budget.clock.at(now) - self.since
        return self.unsent > 0 and waited > grace + self.taken / rate

    def _begin(self) -> None:
        if not self.unsent:
            self.since, self.taken = self.budget.clock.at(trio.current_time()), 0
            self.budget.enter(self)

    def _end(self) -> None:
        if not self.unsent:
            self.budget.leave(self)
