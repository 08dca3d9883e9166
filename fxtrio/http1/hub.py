"""What the connections of one worker share: the clock, the limits, the shutdown, the log.

One task per worker (`Hub.run`) looks at every connection a few times a second.
That replaces a timer per request: moving a trio deadline twice per request costs
more than the rest of the bookkeeping together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import trio
from hypercorn.config import Config
from hypercorn.logging import Logger

from fxtrio.http1.limits import ServerLimits
from fxtrio.http1.readiness import Readiness

if TYPE_CHECKING:
    from hypercorn.trio.worker_context import WorkerContext

TICK = 0.25
"""Seconds between two looks; a limit in time is kept to within two of them."""

NEVER = float("inf")

_LAST_TICK = 0.05  # while the worker stops

_LAST_CHANCE = 0.5

_LOOKED_AT_ONCE = 25
"""Connections looked at before others have their turn: some 30 microseconds."""

Note = Callable[[Any, int | None, int, float], object]
"""Takes the scope, the status, the bytes of the body, and the seconds of one request."""


class Watched(Protocol):
    """A connection as the hub sees it."""

    deadline: float
    """When `expire` is called, on the hub's clock."""

    def expire(self) -> None:
        """The deadline has passed. Never waits."""
        ...

    def leave(self) -> None:
        """The worker stops: end as soon as the request in hand is answered. Never waits."""
        ...

    def tick(self, now: float) -> None:
        """Look after what is not urgent. Never waits."""
        ...


class Hub:
    """Made once per worker, entered by every connection.

    ``now`` is trio's clock as of the last tick. ``common`` holds the header lines
    that every response ends with.
    """

    def __init__(self, config: Config, limits: ServerLimits) -> None:
        self.config = config
        self.limits = limits
        self.now = 0.0
        self.common = b""
        self.closing = False
        self.connections: set[Watched] = set()
        self.readiness = Readiness()
        self.last_chance = min(_LAST_CHANCE, config.graceful_timeout / 20)
        """Seconds that a connection without a request has for one when the worker stops: a
        client that sends one at this moment gets its answer, which says that it is the last."""
        self.logs_access = _logs_access(config)
        # Our own log takes a request without a summary made for Hypercorn's, and without waiting.
        lines = getattr(config.log, "lines", None)
        self.keep: Note | None = lines.note if lines and config.statsd_host is None else None
        self._left = trio.Event()
        self._told = trio.Event()
        self._refresh()

    async def run(self) -> None:
        """Watch over the connections. Ends when cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.readiness.run)
            while True:
                if self.closing:
                    await trio.sleep(_LAST_TICK)
                else:
                    with trio.move_on_after(TICK):
                        await self._told.wait()
                self._refresh()
                await self._look()

    async def _look(self) -> None:
        """Look at every connection, a few at a time: thousands take milliseconds."""
        for number, connection in enumerate(tuple(self.connections), start=1):
            if connection in self.connections:
                if connection.deadline < self.now:
                    connection.deadline = NEVER
                    connection.expire()
                connection.tick(self.now)
            if not number % _LOOKED_AT_ONCE:
                await trio.lowlevel.checkpoint()

    def enter(self, connection: Watched) -> None:
        """Count a connection in. It must `leave` whatever happens."""
        self.connections.add(connection)

    def exit(self, connection: Watched) -> None:
        """Count a connection out."""
        self.connections.discard(connection)
        if not self.connections:
            self._left.set()
            self._left = trio.Event()

    async def note(self, scope: Any, status: int | None, sent: int, seconds: float) -> None:
        """Put one request into the access log. ``status`` is None when it had no answer."""
        if self.keep is not None:
            self.keep(scope, status, sent, seconds)
            return
        summary: Any = None
        if status is not None:
            summary = {"status": status, "headers": [(b"content-length", b"%d" % sent)]}
        await self.config.log.access(scope, summary, seconds)

    def close(self) -> None:
        """Tell every connection to end after the request in hand."""
        if not self.closing:
            self.closing = True
            self._told.set()
            self._refresh()
            for connection in tuple(self.connections):
                connection.leave()

    async def wait_empty(self) -> None:
        """Wait until no connection is open."""
        while self.connections:
            await self._left.wait()

    def _refresh(self) -> None:
        self.now = trio.current_time()
        self.common = b"".join(b"%b: %b\r\n" % line for line in self.config.response_headers("h11"))


def _logs_access(config: Config) -> bool:
    log = config.log
    if hasattr(log, "lines"):  # our own logger, which may have no access log to write
        return log.lines is not None or config.statsd_host is not None
    return log.access_logger is not None or type(log).access is not Logger.access


def hub_of(context: WorkerContext, config: Config) -> Hub:
    """Return the hub of a Hypercorn worker; made, and run, with its first connection.

    A worker of ours brings its hub along and runs it in its own nursery. In a
    stock worker there is no such nursery: the hub runs as a system task and ends
    with the worker.
    """
    hub: Hub | None = getattr(context, "fx_hub", None)
    if hub is None:
        hub = Hub(config, getattr(config, "limits", None) or ServerLimits())
        context.fx_hub = hub  # type: ignore[attr-defined]  # one hub per worker context
        trio.lowlevel.spawn_system_task(_run_in_stock_worker, hub, context)
    return hub


async def _run_in_stock_worker(hub: Hub, context: WorkerContext) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hub.run)
        await context.terminated.wait()
        hub.close()
