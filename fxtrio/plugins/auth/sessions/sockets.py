"""WebSockets that a session has let in: they are closed when it is over.

One task (`watch`) of the plugin looks, while there are any, whether their sessions still
exist: other processes that share the database, and the command line, end some too.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import attrs
import trio
from starlette.types import Scope

from fxtrio.plugins.auth.errors import AuthStorageUnavailable
from fxtrio.plugins.auth.models import Session
from fxtrio.plugins.auth.storage.interface import AuthStorage
from fxtrio.realtime.close import Ending, find_ending

TICK = 0.5
"""Time between two looks (seconds)."""

RELOOK = 30.0
"""Interval after which all sessions are checked, in case one was ended by SQL (seconds)."""

OVER = 4401
"""The code that handlers too close with when nobody is signed in."""


@attrs.frozen
class _Held:
    user_id: str
    endings: dict[Ending, None]
    """In order of arrival, which a set does not have."""


class SessionSockets:
    """The open WebSockets of one process, by session. As many as there are connections."""

    def __init__(self, storage: AuthStorage, clock: Callable[[], float]) -> None:
        self._storage = storage
        self._clock = clock
        self._held: dict[bytes, _Held] = {}
        self._wake = trio.Event()
        self._version: int | None = None
        self._next_end = -math.inf
        self._looked = -math.inf

    def __len__(self) -> int:
        """Return how many sockets are open."""
        return sum(len(held.endings) for held in self._held.values())

    def hold(self, scope: Scope, session: Session) -> None:
        """Close the WebSocket of ``scope`` when ``session`` ends, if an app of ours serves it."""
        ending = find_ending(scope)
        if ending is None:
            return
        if not self._held:
            self._wake.set()
        held = self._held.setdefault(session.key, _Held(session.user_id, {}))
        if ending in held.endings:
            return
        held.endings[ending] = None
        ending.when_over(lambda: self._forget(session.key, ending))
        self._next_end = -math.inf  # it may have ended since it was found

    def look(self) -> None:
        """Let `watch` ask for all sessions at once, as something has ended some of them."""
        self._next_end = -math.inf
        self._wake.set()

    def end(
        self,
        *,
        key: bytes | None = None,
        user_id: str | None = None,
        keeps: bytes | None = None,
    ) -> None:
        """Close the sockets of one session, or of all sessions of a user but that of ``keeps``."""
        for other, held in tuple(self._held.items()):
            if other == key or (held.user_id == user_id and other != keeps):
                self._close(other)

    async def watch(self) -> None:
        """Close sockets whose sessions are over, within `TICK` or so. Ends when cancelled."""
        while True:
            await self._wake.wait()
            self._wake = trio.Event()
            while self._held:
                await self._look_once()
                with trio.move_on_after(TICK):
                    await self._wake.wait()
                self._wake = trio.Event()

    async def _look_once(self) -> None:
        try:
            version = await self._storage.version()
            is_fresh = trio.current_time() - self._looked < RELOOK
            if version == self._version and self._clock() < self._next_end and is_fresh:
                return
            keys = tuple(self._held)
            self._next_end = math.inf  # `look` may set it back while we ask
            live = await self._storage.live_sessions(keys, self._clock())
        except AuthStorageUnavailable:
            self._next_end = -math.inf  # the storage has told the log; we look again
            return
        self._version = version
        self._looked = trio.current_time()
        self._next_end = min(self._next_end, *live.values(), math.inf)
        for key in keys:
            if key not in live:
                self._close(key)

    def _close(self, key: bytes) -> None:
        held = self._held.pop(key, None)
        for ending in () if held is None else held.endings:
            ending.end(OVER, "the session has ended")

    def _forget(self, key: bytes, ending: Ending) -> None:
        held = self._held.get(key)
        if held is not None:
            held.endings.pop(ending, None)
            if not held.endings:
                del self._held[key]
