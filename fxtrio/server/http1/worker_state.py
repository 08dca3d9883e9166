"""What the connections of one worker share: the clock, the limits, the shutdown.

One task per worker (`Hub.run`) looks at every connection a few times a second.
That replaces a timer per request: moving a trio deadline twice per request costs
more than the rest of the bookkeeping together. WebSockets that only wait for their
client are not looked at until their next ping: thousands of them may be open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import trio

from fxtrio.clients import public_network_of
from fxtrio.receive_budget import process_unreceived
from fxtrio.server.header_fields import Header
from fxtrio.server.http1.known_heads import KnownHeads
from fxtrio.server.http1.limits import ServerLimits
from fxtrio.server.http1.readiness import Readiness
from fxtrio.timer_wheel import TimerWheel

NEVER = float("inf")

_LAST_TICK = 0.05  # while the worker stops

_LAST_CHANCE = 0.5

_LOOKED_AT_ONCE = 25
"""Connections looked at before others have their turn: some 30 microseconds."""

_LONGEST_REST = 60.0
"""Seconds after which a connection is looked at again, though it needs nothing."""

Address = tuple[str, int]

ShareOf = Callable[[Address | None, Iterable[Header]], str]
"""Whose share of a budget a client uses: by the address of a connection, if it has one, and the
headers of a request. "" for nobody's."""


def share_of_peer(client: Address | None, headers: Iterable[Header]) -> str:
    """Return the network of a public address, whatever headers say."""
    return "" if client is None else public_network_of(client[0])


class Attended(Protocol):
    """What the hub, or a connection in its place, looks after."""

    def expire(self) -> None:
        """The deadline has passed. Never waits."""
        ...

    def leave(self) -> None:
        """The worker stops: end as soon as the request in hand is answered. Never waits."""
        ...

    def tick(self, now: float) -> float:
        """Do work that is not urgent. Never waits. Return until when there is none."""
        ...


class WatchedConnection(Attended, Protocol):
    """A connection as the hub sees it."""

    deadline: float
    """When `expire` is called, on the hub's clock. `tick` returns no later time."""


class RequestLimit:
    """Counts the requests of a worker that stops after ``most`` of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._served = 0
        self.reached = trio.Event()

    async def count(self) -> None:
        """Count one. It never waits."""
        self._served += 1
        if self._served > self._most:
            self.reached.set()


class Hub:
    """Created once per worker, entered by every connection.

    ``now`` is trio's clock as of the last tick. ``common`` holds the header lines
    that every response ends with; ``headers`` makes them, with the time in them.
    """

    def __init__(
        self,
        limits: ServerLimits,
        *,
        headers: Callable[[], Iterable[Header]],
        graceful: float,
        share_of: ShareOf = share_of_peer,
    ) -> None:
        """``share_of`` returns whose share of a budget a client uses; "" for nobody's."""
        self.limits = limits
        self.share_of = share_of
        self.now = 0.0
        self.common = b""
        self.closing = False
        self._watched: set[WatchedConnection] = set()
        """The connections that are looked at with each tick."""
        self._resting = TimerWheel[WatchedConnection](limits.precision)
        """The others."""
        self.readiness = Readiness()
        self.heads = KnownHeads()
        self.last_chance = min(_LAST_CHANCE, graceful / 20)
        """Seconds that a connection without a request has for one when the worker stops: a
        client that sends one at this moment gets its answer, which says that it is the last."""
        self._headers = headers
        self.closed = trio.Event()
        """Set once the worker stops."""
        self._refresh()

    async def run(self) -> None:
        """Watch over the connections. Ends when cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.readiness.run)
            while True:
                if self.closing:
                    await trio.sleep(_LAST_TICK)
                else:
                    with trio.move_on_after(self.limits.precision):
                        await self.closed.wait()
                self._refresh()
                await self._look()
                process_unreceived.tick()

    async def _look(self) -> None:
        """Look at connections, a few at a time: thousands take milliseconds."""
        self._watched.update(self._resting.take_due(self.now))
        for number, connection in enumerate(tuple(self._watched), start=1):
            if connection in self._watched:
                if connection.deadline < self.now:
                    connection.deadline = NEVER
                    connection.expire()
                until = connection.tick(self.now)
                if until > self.now:
                    self._watched.discard(connection)
                    self._resting.add(connection, min(until, self.now + _LONGEST_REST))
            if not number % _LOOKED_AT_ONCE:
                await trio.lowlevel.checkpoint()

    def enter(self, connection: WatchedConnection) -> None:
        """Count a connection in. It must `exit` whatever happens."""
        self._watched.add(connection)

    def exit(self, connection: WatchedConnection) -> None:
        """Count a connection out."""
        self._watched.discard(connection)
        self._resting.discard(connection)

    def wake(self, connection: WatchedConnection) -> None:
        """Look at a connection with each tick again, whatever its last one has returned."""
        if self._resting.discard(connection):
            self._watched.add(connection)

    def close(self) -> None:
        """Tell every connection to end after the request in hand."""
        if not self.closing:
            self.closing = True
            self.closed.set()
            self._refresh()  # `leave` counts from `now`, which may be as old as the last tick
            for connection in (*self._watched, *self._resting):
                connection.leave()

    def _refresh(self) -> None:
        self.now = trio.current_time()
        self.common = b"".join(b"%b: %b\r\n" % line for line in self._headers())
