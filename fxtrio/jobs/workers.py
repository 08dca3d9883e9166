"""The processes that run jobs: each says that it lives, and buries those that do not.

On one machine the kernel knows who has ended, however long it was silent. Of other machines
each worker judges by the time of the database, and by what it has seen itself meanwhile: a
clock that jumps ends nobody.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from math import inf

import attrs
import trio

from fxtrio.jobs.job_clock import SET_BACK, JobClock
from fxtrio.jobs.store import JobStore
from fxtrio.process_identity import is_dead, is_here, new_identity

LEASE = 15.0
"""A worker of another machine that has not been seen for so long is dead (seconds)."""

BEAT = 1.0
"""Between two looks at the other workers (seconds)."""

_WATCHED = 3.0
"""How long a silence must have been seen by who buries (seconds)."""

log = logging.getLogger("fx.jobs")


@attrs.define(eq=False, kw_only=True)
class Workers:
    """What a process knows of itself and of the others that run jobs of a database."""

    store: JobStore
    clock: JobClock
    changed: Callable[[], None]
    """Called when jobs have been given back."""

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
        await self._bury()

    async def beat(self) -> bool:
        """Say that this process lives, and bury others; False when it was itself given up.

        What it runs is others' then, and it goes on under another name.
        """
        await self.look_at_clock()
        mine = await self.store.beat(self.me, self.clock.now())
        if not mine:
            self.me = new_identity()
            await self.store.beat(self.me, self.clock.now(), first=True)
        self._beat = trio.current_time()
        await self._bury()
        return mine

    async def look_at_clock(self) -> None:
        """Follow the clock of the database; what waits follows with it when it was set back."""
        if self.clock.fixed:
            return
        asked = trio.current_time()
        behind = self.clock.observe(await self.store.now(), asked)
        if behind > SET_BACK:
            self._misdated_until = asked + LEASE
            if await self.store.set_back(self.clock.now(), behind):
                log.warning(
                    "jobs: the clock was set back by %.0f s; delayed jobs follow it", behind
                )
                self.changed()
        late = asked < self._misdated_until
        if late and await self.store.redate(self.clock.now(), SET_BACK):
            self.changed()

    async def _bury(self) -> None:
        dead = [*self._find_dead(await self.store.workers())]
        if dead and await self.store.bury(dead, self.clock.now()):
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
            if dead or self.store.database.alone:  # then nobody else can be there
                yield worker
