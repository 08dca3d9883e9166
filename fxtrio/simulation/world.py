"""What a simulated test gets: clients, visitors that may leave, time, and chance."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, tzinfo
from random import Random
from typing import TYPE_CHECKING, Any, cast

import attrs
import trio
from starlette.types import Receive, Scope, Send

from fxtrio.app_handle import App
from fxtrio.context import entered
from fxtrio.simulation.engine.randomness import START, Calendar
from fxtrio.simulation.engine.scheduler import Scheduler
from fxtrio.simulation.faults import FaultPlan, some_steps
from fxtrio.simulation.servers.connection import Connection
from fxtrio.simulation.servers.processes import Servers
from fxtrio.testing.client import Client
from fxtrio.testing.socket import SocketClosed

if TYPE_CHECKING:
    from fxtrio.application import Application

_AWAY = frozenset({1001, 1006, 1012})
"""The codes with which a WebSocket ends when its process does."""

_LEAVE_WITHIN = 500
"""The step of a visitor's life at which it leaves, at most (count)."""


@attrs.frozen(eq=False)
class WorldClock:
    """The time in a simulation: it passes only when every task waits."""

    _calendar: Calendar

    def time(self) -> float:
        """Return the seconds since 1970, as `time.time` does."""
        return self._calendar.time

    def monotonic(self) -> float:
        """Return the seconds since the run began."""
        return trio.current_time()

    def now(self, zone: tzinfo = UTC) -> datetime:
        """Return the date and time, as `datetime.now` does."""
        return datetime.fromtimestamp(self._calendar.time, zone)

    @property
    def start(self) -> float:
        """When each run begins (seconds since 1970)."""
        return START


@attrs.frozen(eq=False)
class _Gateway:
    """Takes the place of the app in a `Client`: brings each request to one of the processes."""

    _world: World

    @property
    def site(self) -> Any:
        """The site, which says under which base URL the app is."""
        return self._world._servers.site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Carry a request to a process."""
        plan = self._world._plan
        name = plan.next_name("connection")

        def pause() -> float:
            return plan.pause(f"read of {name}", plan.faults.slow_reader, "a client read on after")

        connection = Connection(scope, int(name.split()[1]), receive, pause)
        process = await self._world._servers.choose()
        process.open(connection)
        await connection.exchange(send)


@attrs.define(eq=False)
class Visitors:
    """Visitors that act at the same time. Created by `World.visitors`."""

    _world: World
    _nursery: trio.Nursery

    def start_soon(self, visit: Callable[..., Awaitable[object]], *args: object) -> None:
        """Let a visitor do ``visit(*args)``. It may leave at any step, which cancels it there.

        A visitor whose process ends leaves, too, unless it handles ConnectionResetError, or
        for a WebSocket `SocketClosed`.
        """
        world = self._world
        name = world._plan.next_name("visitor")
        if name not in world._absent:
            self._nursery.start_soon(self._visit, name, visit, args, name=name)
        world._visitors.append(name)

    async def _visit(
        self, name: str, visit: Callable[..., Awaitable[object]], args: tuple[object, ...]
    ) -> None:
        world, plan = self._world, self._world._plan
        with trio.CancelScope() as scope:
            random = plan.draw(f"leave of {name}", plan.faults.leave)
            if random is not None:
                steps = some_steps(random, _LEAVE_WITHIN)

                def leave() -> None:
                    if not ended:
                        plan.note(f"leave of {name}", f"{name} left")
                        scope.cancel()

                world._scheduler.call_in(steps, leave)
            ended = False
            try:
                await visit(*args)
            except* ConnectionResetError:
                pass  # its process has ended, and so has its visit
            except* SocketClosed as closed:
                if any(error.code not in _AWAY for error in _errors(closed)):
                    raise
            finally:
                ended = True


def _errors(group: BaseExceptionGroup[SocketClosed]) -> list[SocketClosed]:
    """Return the errors of groups."""
    found: list[SocketClosed] = []
    for error in group.exceptions:
        found += _errors(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found


@attrs.define(eq=False, repr=False)
class World:
    """One run of a simulation. Passed to the test by `simulate`."""

    seed: int
    """What this run follows from."""

    random: Random
    """What a test draws from, so that it repeats with the seed."""

    clock: WorldClock
    _servers: Servers
    _plan: FaultPlan
    _scheduler: Scheduler
    _absent: frozenset[str] = frozenset()
    """Visitors that do not come, since a test was shortened."""

    _visitors: list[str] = attrs.field(factory=list)

    def __repr__(self) -> str:
        return f"<World of seed {self.seed}>"

    def client(self) -> Client:
        """Return a client with cookies of its own.

        Its calls raise ConnectionResetError when their process is killed, or shuts down.
        """
        return Client(cast("Application", _Gateway(self)))

    @asynccontextmanager
    async def visitors(self) -> AsyncIterator[Visitors]:
        """Let visitors come for the length of the block, and wait for all of them.

        Meanwhile processes may be killed and shut down. After the block they all run again.
        """
        async with self._servers.troubled():
            async with trio.open_nursery() as nursery:
                yield Visitors(self, nursery)

    @asynccontextmanager
    async def app(self) -> AsyncIterator[App]:
        """Let the block's code belong to a running process: `fx.db`, `enqueue`, `get_app`."""
        process = await self._servers.choose()
        with entered(process.handle):
            yield process.handle

    async def kill(self) -> None:
        """Kill a process between two steps, and start it again."""
        await self._servers.kill()

    async def shut_down(self) -> None:
        """Shut a process down in order, and start it again."""
        await self._servers.shut_down()
