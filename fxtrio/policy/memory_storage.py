"""How often each client has come, within a bound. A storage of `limits`, in memory.

Two counts for each client and limit: of this window of time, and of the one before, which
counts for the part of it that a window ending now would reach back into.
"""

from __future__ import annotations

from collections import OrderedDict

import attrs
import trio
from limits.storage import Storage
from limits.storage.base import SlidingWindowCounterSupport

CAPACITY = 50_000
"""Limit of counters; the least recently used one is evicted first (count)."""


@attrs.define
class _Window:
    since: float
    previous: int = 0
    current: int = 0


class MemoryCounts(Storage, SlidingWindowCounterSupport):
    """The counts of one process, by trio's clock."""

    STORAGE_SCHEME = None

    def __init__(self, capacity: int = CAPACITY) -> None:
        super().__init__()
        self._capacity = capacity
        self._windows: OrderedDict[str, _Window] = OrderedDict()

    def __len__(self) -> int:
        return len(self._windows)

    def acquire_sliding_window_entry(
        self, key: str, limit: int, expiry: int, amount: int = 1
    ) -> bool:
        """Count ``amount`` more, unless ``limit`` would be passed; return whether that is so."""
        window = self._window(key, expiry)
        previous, left, current, _ = self._read(window, expiry)
        if int(previous * left / expiry) + current + amount > limit:
            return False
        window.current += amount
        return True

    def get_sliding_window(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        """Return both counts, each with the time until it is forgotten (seconds)."""
        return self._read(self._window(key, expiry), expiry)

    def clear_sliding_window(self, key: str, expiry: int) -> None:
        """Forget a client."""
        self._windows.pop(key, None)

    def _window(self, key: str, expiry: int) -> _Window:
        """Return the current window, and mark it as the most recently used."""
        now = trio.current_time()
        window = self._windows.pop(key, None)
        if window is None or now - window.since >= 2 * expiry:
            window = _Window(now)
        elif now - window.since >= expiry:
            window = _Window(window.since + expiry, previous=window.current)
        self._windows[key] = window
        if len(self._windows) > self._capacity:
            self._windows.popitem(last=False)
        return window

    def _read(self, window: _Window, expiry: int) -> tuple[int, float, int, float]:
        left = window.since + expiry - trio.current_time()
        return window.previous, left, window.current, left + expiry

    @property
    def base_exceptions(self) -> type[Exception]:
        """Return the errors that may be raised: none."""
        return Exception

    def check(self) -> bool:
        """Say that it is there."""
        return True

    def reset(self) -> int:
        """Forget everybody."""
        count = len(self._windows)
        self._windows.clear()
        return count

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Not supported, like those below: fixed windows allow twice the limit at their ends."""
        raise NotImplementedError

    def get(self, key: str) -> int:
        """Not supported."""
        raise NotImplementedError

    def get_expiry(self, key: str) -> float:
        """Not supported."""
        raise NotImplementedError

    def clear(self, key: str) -> None:
        """Forget a client."""
        self._windows.pop(key, None)
