"""Whether the app is ready, for `/readyz`: a fixed status for each part, within a time limit.

Concurrent requests share one check of the parts, which is repeated after a second at the
earliest. The statuses are fixed words; no text of an error is exposed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from math import inf
from typing import TYPE_CHECKING, Literal

import msgspec
import trio

from fxtrio.app_handle import App
from fxtrio.context import processes
from fxtrio.realtime.open import broker_connections
from fxtrio.realtime.stores.store_broker import SharedBroker
from fxtrio.ssr.pool import SsrPool

if TYPE_CHECKING:
    from fxtrio.db import Database
    from fxtrio.jobs import JobRunner

LIMIT = 2.0
"""How long all parts together have (seconds)."""

FRESH = 1.0
"""How long a result is valid (seconds)."""

PartStatus = Literal["ok", "unreachable", "no answer", "refused", "stalled", "no worker"]
Check = Callable[[], Awaitable[PartStatus]]


class AppReadiness(msgspec.Struct, eq=False):
    """Checks the parts. Created by `open_readiness`; valid until its block ends."""

    checks: dict[str, Check]
    _needed: tuple[str, ...]
    """Those without which the app is not ready."""

    _nursery: trio.Nursery
    _found: dict[str, PartStatus] = msgspec.field(default_factory=dict)
    _since: float = -inf
    _looking: trio.Event | None = None

    async def look(self) -> tuple[bool, dict[str, PartStatus]]:
        """Return whether all required parts are ready, and the status of each part."""
        found = await self._statuses()
        return all(found[name] == "ok" for name in found if name in self._needed), found

    async def _statuses(self) -> dict[str, PartStatus]:
        """Return the status of each part; "no answer" for those that exceed `LIMIT`."""
        if trio.current_time() - self._since >= FRESH:
            if self._looking is None:
                self._looking = trio.Event()
                self._found = dict.fromkeys(self.checks, "no answer")
                self._nursery.start_soon(self._look, self._looking)
            with trio.move_on_after(LIMIT):
                await self._looking.wait()
        return dict(self._found)

    async def _look(self, done: trio.Event) -> None:
        """Check all parts. One that is slow to cancel delays only the next check."""
        try:
            async with trio.open_nursery() as nursery:
                for name, check in self.checks.items():
                    nursery.start_soon(self._ask, name, check)
        finally:
            self._since = trio.current_time()
            self._looking = None
            done.set()

    async def _ask(self, name: str, check: Check) -> None:
        with trio.move_on_after(LIMIT):
            self._found[name] = await check()


@asynccontextmanager
async def open_readiness(app: App, renderer: object) -> AsyncIterator[AppReadiness]:
    """Provide the readiness checks of ``app`` while the block lasts."""
    checks: dict[str, Check] = {}
    if app.database is not None:
        database = app.database if app.database.alone else app.database.reserve()
        checks["database"] = lambda: _of_database(database)
        checks["writes"] = lambda: _of_writes(database)
    jobs = app.jobs
    if jobs is not None and jobs.workers:
        opened = trio.current_time()
        checks["jobs"] = lambda: _of_jobs(jobs, opened)
    broker = app.broker
    if isinstance(broker, SharedBroker):
        checks["broker"] = lambda: _of_broker(broker)
    if isinstance(renderer, SsrPool):
        checks["renderer"] = lambda: _of_renderer(renderer)
    if app.database is not None:
        listens = int("jobs" in checks) + broker_connections(app.config)
        from fxtrio.db.postgresql.budget import warn_of_budget  # heavy, for those with a database

        await warn_of_budget(app.database, processes=processes.get(), beside=listens)
    async with trio.open_nursery() as nursery:
        yield AppReadiness(checks, app.config.observability.readiness, nursery)
        nursery.cancel_scope.cancel()


async def _of_database(database: Database) -> PartStatus:
    try:
        await database.value(database.probe)
    except Exception:  # whatever the engine says: it is in the log of those who need it
        return "unreachable"
    return "ok"


async def _of_writes(database: Database) -> PartStatus:
    try:
        return "ok" if await database.can_write() else "refused"
    except Exception:  # whatever the engine says: it is in the log of those who need it
        return "unreachable"


async def _of_jobs(jobs: JobRunner, opened: float) -> PartStatus:
    await trio.lowlevel.checkpoint()
    age = jobs.beat_age()
    from fxtrio.jobs.running.workers import LEASE  # heavy: a runner has imported it

    stalled = age is not None and min(age, trio.current_time() - opened) > LEASE
    return "stalled" if stalled else "ok"


async def _of_broker(broker: SharedBroker) -> PartStatus:
    await trio.lowlevel.checkpoint()
    return "ok" if broker.connected else "unreachable"


async def _of_renderer(pool: SsrPool) -> PartStatus:
    await trio.lowlevel.checkpoint()
    return "ok" if pool.statistics().pids else "no worker"
