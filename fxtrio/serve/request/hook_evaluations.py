"""Evaluates the route hooks of many routes for one request, at a bounded cost.

Called by `/openapi.json` and `/llms.txt`: without a bound, any request to these would call a
hook for each operation or page of the app.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any

import msgspec
import trio
from starlette.types import Scope

from fxtrio.errors import Busy

AT_ONCE = 4
"""Evaluations of all visitors that run at the same time (count)."""

WAITING = 256
"""Requests that may wait for an evaluation; further ones get 503 (count)."""

LIFE = 1.0
"""How long a result is used for further requests of the same visitor (seconds)."""

_CACHED_RESULTS = 256  # of the most recent visitors


class ListingBusy(Busy):
    """More visitors ask for a listing than can wait for one."""


class Evaluation(msgspec.Struct, frozen=True):
    """The routes that the hooks open to one visitor."""

    opened: frozenset[Any]
    reusable: bool
    """False where a hook has set cookies or headers: it wants to see each request."""


class _Visitor(msgspec.Struct):
    """Runs one evaluation at a time, for as long as a request waits for it."""

    lock: trio.Lock = msgspec.field(default_factory=trio.Lock)
    waiting: int = 0


class Evaluations:
    """Evaluates once at a time for each visitor, and a few at a time for all of them."""

    def __init__(self) -> None:
        self._results: OrderedDict[bytes, tuple[float, frozenset[Any]]] = OrderedDict()
        self._visitors: dict[bytes, _Visitor] = {}
        self._limit = trio.CapacityLimiter(AT_ONCE)
        self._waiting = 0

    async def ask(
        self, listing: str, scope: Scope, evaluate: Callable[[], Awaitable[Evaluation]]
    ) -> frozenset[Any]:
        """Return the entries of a ``listing`` that are open to the visitor of ``scope``.

        A cancelled caller hands the evaluation over to the next waiting one. Raises
        ListingBusy, and what ``evaluate`` raises.
        """
        visitor = visitor_of(listing, scope)
        async with self._turn(visitor):
            known = self._results.get(visitor)
            if known is not None and trio.current_time() < known[0]:
                return known[1]
            async with self._limit:
                found = await evaluate()
            self._results.pop(visitor, None)
            if found.reusable:
                self._results[visitor] = trio.current_time() + LIFE, found.opened
                if len(self._results) > _CACHED_RESULTS:
                    self._results.popitem(last=False)
            return found.opened

    @asynccontextmanager
    async def _turn(self, name: bytes) -> AsyncIterator[None]:
        if self._waiting >= WAITING:
            raise ListingBusy
        visitor = self._visitors.setdefault(name, _Visitor())
        visitor.waiting += 1
        self._waiting += 1
        try:
            async with visitor.lock:
                yield
        finally:
            self._waiting -= 1
            visitor.waiting -= 1
            if not visitor.waiting:
                del self._visitors[name]


def visitor_of(listing: str, scope: Scope) -> bytes:
    """Return a visitor's key: two visitors share one only if no hook can distinguish them.

    A hook may read any header, the address, a certificate, and the user that middleware
    found, so all of these are part of the key, not the session alone.
    """
    state = scope.get("state", {})
    users = [getattr(who, "id", who) for who in (state.get("user"), scope.get("user"))]
    client = scope.get("client") or ("",)
    seen = (
        listing,
        sorted(scope["headers"]),
        client[0],
        *(scope.get(key) for key in _PLACE),
        [repr(user) for user in users],
        repr((scope.get("extensions") or {}).get("tls")),
    )
    return sha256(repr(seen).encode("utf-8", "surrogatepass")).digest()


_PLACE = ("scheme", "server", "root_path", "method", "query_string")
