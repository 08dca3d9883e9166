"""A short-lived cache of sessions: a page and its requests cost one query.

An ended session is noticed at once in the same process, and within `LIFE` in other
processes and on other machines.
"""

from __future__ import annotations

import attrs
import trio

from fxtrio.plugins.auth.models import Session, User
from fxtrio.plugins.auth.storage.interface import AuthStorage

LIFE = 0.5
"""How long a cached session is used without a query (seconds)."""

CAPACITY = 10_000
"""Sessions that are cached; with more, all are evicted (count)."""

Found = tuple[Session, User]


@attrs.define(eq=False)
class SessionCache:
    """The sessions of one process, by key."""

    storage: AuthStorage
    _found: dict[bytes, tuple[float, Found]] = attrs.field(init=False, factory=dict)
    _forgotten: int = attrs.field(init=False, default=0)

    async def find(self, key: bytes, now: float) -> Found | None:
        """Return a session that is not over at ``now``, with its user.

        Raises AuthStorageUnavailable.
        """
        began = trio.current_time()
        known = self._found.get(key)
        if known is not None:
            looked, found = known
            if began - looked < LIFE and found[0].expires_at > now:
                return found
        forgotten = self._forgotten
        looked_up = await self.storage.find_session(key, now)
        if looked_up is not None and forgotten == self._forgotten:  # else it may have ended
            if len(self._found) >= CAPACITY:
                self._found.clear()
            # `LIFE` counts from before the query, since its result may be as old as that.
            self._found[key] = (began, looked_up)
        return looked_up

    def forget(self) -> None:
        """Drop all entries: a session has ended or changed."""
        self._found.clear()
        self._forgotten += 1
