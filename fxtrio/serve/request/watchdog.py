"""Running requests, and the one task that cancels them early.

A task and a timer per request would cost more than most requests do. So requests are
only registered here; a sweeper in the app's nursery starts a watcher for each long
request, which cancels the work when the client disconnects or the deadline passes.

A cancel scope per request costs a fifth of a short one, too. Where the server offers the scope of
its connection (`WholeResponse.interrupt`), work is cancelled by that, and everything up to the
server ends before the request is answered.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Protocol

import msgspec
import trio
from starlette.types import Receive

from fxtrio.asgi_extensions import WholeResponse
from fxtrio.errors import PlacedError

SWEEP = 0.05
"""Age at which a request gets a watcher (seconds): far above an ordinary request, far below
the time after which a person leaves a page. It is also the precision of deadlines."""


class DeadlinePassed(PlacedError):
    """Work exceeded its deadline; the response is 504."""

    remedy = "Raise its timeout or do less"

    def __init__(self, place: str, seconds: float) -> None:
        super().__init__(place, f"took longer than {seconds:g} s")


class Timed(Protocol):
    """A part of the work with a deadline of its own, such as a loader."""

    @property
    def place(self) -> str:
        """Its name, for messages."""
        ...

    @property
    def source(self) -> str:
        """The file that defines it."""
        ...

    @property
    def timeout(self) -> float:
        """How long it may take (seconds)."""
        ...


class Watched(msgspec.Struct, eq=False):
    """The work for one request, as a block: a disconnect or the deadline cancels it.

    Created by `Watchdog.watch`. After the block, `disconnected` says whether the client did;
    a block that was cancelled otherwise has passed its deadline.
    """

    _watchdog: Watchdog
    receive: Receive | None
    """The server's ``receive``, which only the block may read; None for a block that only
    its deadline cancels."""

    deadline: float
    """When the work must have ended (`trio.current_time`)."""

    since: float
    """When the work began."""

    _server: WholeResponse | None
    _scope: trio.CancelScope | None
    """None where ``_server`` cancels the work."""

    disconnected: bool = False
    """Whether the client left before the work was done."""

    culprit: Timed | None = None
    """The part whose deadline is the next one; None for the request's own."""

    interrupted: bool = False
    """Whether the server cancels everything around the block. It must not end before a
    checkpoint then, nor anything be answered: the server asks for that behind it."""

    _done: bool = False
    """Whether the work has ended; ``receive`` must not be read for it then."""

    _watcher: trio.CancelScope | None = None

    def __enter__(self) -> Watched:
        """Begin the work."""
        self._watchdog._under_way[self] = None
        if self._scope is not None:
            self._scope.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """End the block and stop reading ``receive``."""
        self._done = True
        self._watchdog._under_way.pop(self, None)
        if self._watcher is not None:
            self._watcher.cancel()
        return self._scope is not None and bool(self._scope.__exit__(kind, error, trace))

    def allow(self, seconds: float) -> None:
        """Set the deadline to ``seconds`` from now."""
        self._set(self._watchdog.now() + seconds)

    def tighten(self, part: Timed) -> float:
        """Apply the part's deadline, if it is the earlier one.

        Returns the previous deadline, for `relax` once the part is done.
        """
        before = self.deadline
        end = self._watchdog.now() + part.timeout
        if end < before:
            self.culprit = part
            if self._watcher is None:
                self.deadline = end
            else:
                self._set(end)
        return before

    def relax(self, deadline: float) -> None:
        """Go back to the deadline that was in force before."""
        if self.culprit is not None:
            self.culprit = None
            if self._watcher is None:
                self.deadline = deadline
            else:
                self._set(deadline)

    def _set(self, deadline: float) -> None:
        self.deadline = deadline
        if self._watcher is not None:
            self._watcher.deadline = deadline
            self._show_deadline()

    def _show_deadline(self) -> None:
        """Let trio know the deadline as well, by which the tree of tasks shows what is left."""
        if self._scope is not None:
            self._scope.deadline = self.deadline

    async def wait_reason(self) -> None:
        """Wait for the client to leave or the deadline to pass, then cancel the work."""
        if self._done:  # between being started and running
            return
        self._show_deadline()
        with trio.CancelScope(deadline=self.deadline) as self._watcher:
            if self.receive is None:
                await trio.sleep_forever()
            while (await self.receive())["type"] != "http.disconnect":
                pass
            self.disconnected = True
            self._cancel("the client has left")
        # The end of the block cancels the watcher as well, and then no deadline has passed.
        if self._watcher.cancelled_caught and trio.current_time() >= self.deadline:
            self._cancel("the deadline has passed")

    def _cancel(self, reason: str) -> None:
        if self._scope is not None:
            self._scope.cancel(reason)
        elif self._server is not None and not self._done:  # else the server has other work
            self.interrupted = True
            self._server.interrupt(reason)


class Watchdog:
    """The running requests, oldest first. Created by `open_watchdog`."""

    def __init__(self) -> None:
        self._under_way: dict[Watched, None] = {}
        self._wake = trio.Event()
        self._asleep = True  # whether the sweeper waits for it
        # Asked several times for a request: `trio.current_time` takes three more calls.
        self.now: Callable[[], float] = trio.lowlevel.current_clock().current_time
        """The time by the clock of the run (seconds)."""

    def __len__(self) -> int:
        return len(self._under_way)

    def watch(
        self, receive: Receive | None, limit: float, server: WholeResponse | None = None
    ) -> Watched:
        """Return the block for a request's work, which may take ``limit`` seconds.

        With ``receive``, which only the block may then read, a disconnect cancels it too. With
        ``server`` it has no cancel scope of its own: see `Watched.interrupted`.
        """
        now = self.now()
        if self._asleep:
            self._asleep = False
            self._wake.set()
        scope = trio.CancelScope() if server is None else None
        return Watched(self, receive, now + limit, now, server, scope)

    async def _sweep(self, nursery: trio.Nursery) -> None:
        """Give every request that takes long its watcher; runs until cancelled."""
        while True:
            if not self._under_way:
                self._wake = trio.Event()
                self._asleep = True
                await self._wake.wait()
            await trio.sleep(SWEEP)
            now = trio.current_time()
            for watched in list(self._under_way):
                if now - watched.since < SWEEP:
                    break  # all behind it have begun later
                # Watched requests are no longer in the list.
                del self._under_way[watched]
                nursery.start_soon(watched.wait_reason, name="serve.watch")


@asynccontextmanager
async def open_watchdog() -> AsyncIterator[Watchdog]:
    """Notice clients that leave for as long as the block lasts."""
    watchdog = Watchdog()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watchdog._sweep, nursery, name="serve.sweep")
        yield watchdog
        nursery.cancel_scope.cancel()
