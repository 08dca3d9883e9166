"""Rate limits: client keys, verdicts, and response headers.

`limits` reads and applies the limits; the counts are in memory or in Redis.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from functools import lru_cache
from typing import Any, Protocol

import attrs
import trio
from limits import RateLimitItem, parse_many
from limits.storage import Storage
from limits.storage.base import SlidingWindowCounterSupport
from limits.strategies import SlidingWindowCounterRateLimiter
from starlette.types import Scope

from fxtrio.clients import network_of
from fxtrio.config import RateLimitConfig

Header = tuple[bytes, bytes]

Window = tuple[int, float, int, float]
"""Count of the previous window and how long it counts, that of this one and the same."""

_ROUNDING = 0.001
"""More than times are wrong by when they are added up (seconds)."""

_LONGEST_NAME = 200
"""Longest key of a user; a longer one is cut (characters)."""


@attrs.frozen
class Standing:
    """The state of a client's limit after its request was counted."""

    item: RateLimitItem
    passed: bool
    remaining: int
    """Requests that would pass now (count)."""

    wait: int
    """Until one more passes than would now (seconds)."""


class Counts(Protocol):
    """Where requests are counted."""

    async def hit(self, item: RateLimitItem, *client: str) -> Standing:
        """Count one request of a client, unless the limit is reached."""
        ...


class CountsInMemory:
    """The counts of this process."""

    def __init__(self, storage: MemoryCounts | None = None) -> None:
        self._storage = MemoryCounts() if storage is None else storage
        self._limiter = SlidingWindowCounterRateLimiter(_typed(self._storage))

    async def hit(self, item: RateLimitItem, *client: str) -> Standing:
        """Count one request. Never waits."""
        passed = self._limiter.hit(item, *client)
        expiry = item.get_expiry()
        return standing(
            item, passed, self._storage.get_sliding_window(item.key_for(*client), expiry)
        )


def _typed(storage: Storage) -> Any:
    return storage


def standing(item: RateLimitItem, passed: bool, window: Window) -> Standing:
    """Return the state of a client whose counts are ``window``."""
    previous, _, current, duration = window
    expiry, limit = item.get_expiry(), item.amount
    left = max(0.0, duration - expiry)  # this window is stored until the next one has ended
    used = int(previous * left / expiry) + current
    remaining = max(0, limit - used)
    if not used:
        return Standing(item, passed, remaining, 0)
    # The count of the window before falls until that window ends; then this one is it.
    wanted = used - 1 - current
    wait = left - (wanted + 1) * expiry / previous if previous and wanted >= 0 else left
    seconds = math.floor(wait + _ROUNDING) + 1
    return Standing(item, passed, remaining, max(1, seconds))


@lru_cache(maxsize=256)
def items_of(limit: str) -> tuple[RateLimitItem, ...]:
    """Return the limits in a text such as ``20/minute; 500/day``."""
    return tuple(parse_many(limit))


def counted(rate: RateLimitConfig, method: str) -> bool:
    """Whether a request with ``method`` is counted."""
    named = {name.upper() for name in rate.methods}
    return not named or method in named or (method == "HEAD" and "GET" in named)


def client_of(scope: Scope, *, by: str) -> str:
    """Return the name under which the requests of a client are counted.

    A user where there is one and ``by`` says so, else an address: of IPv6 the network of one
    customer (64 bits), which has more addresses than there are to count.
    """
    user = _user_of(scope) if by == "user" else None
    if user is not None:
        return f"user:{user[:_LONGEST_NAME]}"
    client = scope.get("client")
    return f"address:{network_of(client[0]) if client else ''}"


def _user_of(scope: Scope) -> str | None:
    """Return the id of the signed-in user, by the auth plugin or Starlette's middleware."""
    user = scope.get("state", {}).get("user")
    name = user.get("id") if isinstance(user, dict) else getattr(user, "id", None)
    if name is None and getattr(scope.get("user"), "is_authenticated", False):
        name = scope["user"].identity
    return None if name is None else str(name)


class RateLimits:
    """Counts the requests of an app, each for the route that it was matched to."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    async def count(
        self, scope: Scope, rates: tuple[RateLimitConfig, ...], pattern: str
    ) -> tuple[list[Header], int | None]:
        """Count a request by all limits until one rejects it.

        Returns the headers of its response, and how long it is rejected (seconds).
        """
        standings: list[Standing] = []
        for rate in rates:
            # The handshake of a WebSocket is a GET, and its scope does not say so.
            if not counted(rate, scope.get("method", "GET")):
                continue
            client = client_of(scope, by=rate.by)
            for item in items_of(rate.limit):
                names = rate.route, " ".join(rate.methods), pattern, client
                found = await self._counts.hit(item, *names)
                standings.append(found)
                if not found.passed:
                    return rate_headers(standings), found.wait
        return rate_headers(standings) if standings else [], None


def rate_headers(standings: list[Standing]) -> list[Header]:
    """Return the rate limit headers (draft-ietf-httpapi-ratelimit-headers-10)."""
    policies, states = [], []
    for found in standings:
        item = found.item
        name = f"{item.amount}/{item.get_expiry()}s"
        policies.append(f'"{name}";q={item.amount};w={item.get_expiry()}')
        states.append(f'"{name}";r={found.remaining};t={found.wait}')
    return [
        (b"ratelimit-policy", ", ".join(policies).encode()),
        (b"ratelimit", ", ".join(states).encode()),
    ]


CAPACITY = 50_000
"""Limit of counters; the least recently used one is evicted first (count)."""


@attrs.define
class _Window:
    since: float
    previous: int = 0
    current: int = 0


class MemoryCounts(Storage, SlidingWindowCounterSupport):
    """How often each client has come to one process, within a bound; by trio's clock.

    Two counts for each client and limit: of this window of time, and of the one before, which
    counts for the part of it that a window ending now would reach back into.
    """

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
