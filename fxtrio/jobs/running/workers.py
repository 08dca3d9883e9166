"""The processes that run jobs: each sends heartbeats, and releases the jobs of dead ones.

On the same machine the kernel knows whether a process has ended. Workers of other machines
are judged by their heartbeats in the database's time, and by how long this worker has seen
them silent: a clock that jumps declares no worker dead.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from math import inf

import attrs
import trio

from fxtrio.jobs.running.job_clock import SET_BACK, JobClock
from fxtrio.jobs.store import JobStore
from fxtrio.process_identity import is_dead, is_here, new_identity

LEASE = 15.0
"""Silence after which a worker of another machine is dead (seconds)."""

BEAT = 2.0
"""Between two heartbeats, and two looks at those of others (seconds)."""

LOOK = 1.0
"""Between two looks whether another process of the same machine has ended (seconds)."""

_WATCHED = 3.0
"""How long a worker must itself have observed the silence (seconds)."""

log = logging.getLogger("fx.jobs")


@attrs.define(eq=False, kw_only=True)
class Workers:
    """The state of this worker, and of the others that run jobs of a database."""

    store: JobStore
    clock: JobClock
    changed: Callable[[], None]
    """Called when jobs have been released."""

    me: str = attrs.field(init=False, factory=new_identity)
    _seen: dict[str, tuple[float, float]] = attrs.field(init=False, factory=dict)
    """When each was seen by the database's clock, and since when that is so by trio's."""

    _beat: float = attrs.field(init=False, default=-inf)
    _misdated_until: float = attrs.field(init=False, default=-inf)
    """How long jobs may come that a clock has dated which was ahead, on trio's clock (seconds)."""

    @property
    def beat_age(self) -> float:
        """How long ago the database has heard of this process (seconds)."""
        return trio.current_time() - self._beat

    async def begin(self) -> None:
        """Join the others."""
        await self.look_at_clock()
        await self.store.beat(self.me, self.clock.now(), first=True)
        self._beat = trio.current_time()
        seen, _ = await self.store.look(self.me)
        await self.release_dead(seen)

    async def beat(self) -> bool:
        """Send a heartbeat; False if others have declared this worker dead.

        Its running jobs were then reassigned, and it continues under another name.
        """
        await self.look_at_clock()
        mine = await self.store.beat(self.me, self.clock.now())
        if not mine:
            self.me = new_identity()
            await self.store.beat(self.me, self.clock.now(), first=True)
        self._beat = trio.current_time()
        return mine

    def misses_one(self) -> bool:
        """Whether a known worker of this machine has ended: the kernel tells, not the database."""
        return any(is_dead(worker) for worker in self._seen if worker != self.me)

    async def look_at_clock(self) -> None:
        """Follow the clock of the database; shift waiting jobs if it was set back."""
        if self.clock.fixed:
            return
        requested_at = trio.current_time()
        behind = self.clock.observe(await self.store.now(), requested_at)
        if behind > SET_BACK:
            self._misdated_until = requested_at + LEASE
            if await self.store.set_back(self.clock.now(), behind):
                log.warning(
                    "jobs: the clock was set back by %.0f s; delayed jobs start by the new time",
                    behind,
                )
                self.changed()
        misdated = requested_at < self._misdated_until
        if misdated and await self.store.redate(self.clock.now(), SET_BACK):
            self.changed()

    async def release_dead(self, seen: dict[str, float]) -> None:
        """Release the jobs of dead workers; ``seen`` is when each was seen last."""
        dead = [*self._find_dead(seen)]
        if dead and await self.store.release_dead(dead, self.clock.now()):
            self.changed()

    def _find_dead(self, seen: dict[str, float]) -> Iterable[str]:
        now, here = self.clock.now(), trio.current_time()
        known, self._seen = self._seen, {}
        for worker, at in seen.items():
            was, since = known.get(worker, (at, here))
            self._seen[worker] = (at, since if was == at else here)
            silent = here - self._seen[worker][1]
            if worker == self.me:
                continue
            expired = at < now - LEASE and silent >= _WATCHED
            dead = is_dead(worker) if is_here(worker) else expired
            if dead or self.store.database.alone:  # then no other worker can exist
                yield worker
