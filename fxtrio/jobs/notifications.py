"""Notifications of possible jobs: within a process, and between those of an app."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import trio

if TYPE_CHECKING:
    from fxtrio.db import Database


CHANNEL = "fx_jobs"
_QUIET = 0.005  # between two calls to other processes, in seconds


@attrs.define(eq=False)
class JobNotifications:
    """Wakes this process, and others."""

    database: Database
    arrived: trio.Event = attrs.field(init=False, factory=trio.Event)
    """Set by the next notification; a waiting task replaces it before it checks."""

    _pending: trio.Event = attrs.field(init=False, factory=trio.Event)

    def wake(self) -> None:
        """Look for jobs now: something has changed."""
        self.arrived.set()

    def notify(self) -> None:
        """Wake this process and the others."""
        self.arrived.set()
        self._pending.set()

    async def announce(self) -> None:
        """Notify other processes until cancelled, once for all jobs since the last time."""
        while True:
            await self._pending.wait()
            self._pending = trio.Event()
            try:
                await self.database.notify(CHANNEL)
            except BaseException:
                self._pending.set()
                raise
            await trio.sleep(_QUIET)

    async def listen(self) -> None:
        """Wake this process when others notify it, until cancelled."""
        await self.database.listen(CHANNEL, self.wake)
