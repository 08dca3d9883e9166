"""Renders, which the pool passes from worker to worker until they are finished.

A render belongs to the pool until its last reply or its failure; the task that waits
for it belongs to the caller, and may be cancelled at any time. Used by
`fxtrio.ssr.render_worker` (delivers replies) and `fxtrio.ssr.pool` (assigns renders, and fails
them).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

import outcome
import trio
from trio.lowlevel import Abort, RaiseCancelT, Task, reschedule

from fxtrio.ssr.errors import RenderError
from fxtrio.ssr.frames import STREAM_WINDOW, Rendered, check_payload


class StreamWorker(Protocol):
    """The worker of a stream, as the stream calls it; ``id`` is its number there."""

    def credit(self, id: int, size: int) -> None:
        """Let the worker send ``size`` more bytes."""

    def abort(self, id: int) -> None:
        """Let the worker stop: nobody reads any more."""

    async def settle(self, id: int, flags: int, payload: bytes) -> None:
        """Send a RESOLVE."""


class DocumentRender:
    """One page that is rendered as a whole."""

    def __init__(
        self, page: int, payload: bytes, task: Task, forget: Callable[[AnyRender], None]
    ) -> None:
        self.page = page
        self.payload = payload

        self.task: Task | None = task
        """The task to wake; None once it has been woken or has left."""

        self.forget = forget
        """Called when the task is cancelled before there is a result."""

        self.cost = 0.0
        """Estimated work, counted in the load of its worker (microseconds)."""

        self.placed = False
        """Whether a worker has it."""

        self.strikes = 0
        """How many workers have died of it, as far as is known."""

    def finish(self, rendered: Rendered) -> None:
        """Wake the task with a result."""
        if self.task is not None:
            reschedule(self.task, outcome.Value(rendered))
            self.task = None

    def fail(self, error: RenderError) -> None:
        """Wake the task with an error."""
        if self.task is not None:
            reschedule(self.task, outcome.Error(error))
            self.task = None

    @property
    def abandoned(self) -> bool:
        """Whether its task no longer waits."""
        return self.task is None

    def abort(self, raise_cancel: RaiseCancelT) -> Abort:
        """Let the task go that was cancelled while it waited (an abort function of trio)."""
        self.task = None
        self.forget(self)
        return Abort.SUCCEEDED


class StreamRender:
    """One page that is read in parts. Bounded by the window of the wire."""

    def __init__(self, page: int, payload: bytes) -> None:
        self.page = page
        self.payload = payload
        self.cost = 0.0
        self.placed = False
        self.worker: StreamWorker | None = None
        """Its current worker; None while it waits for one, and after its end."""

        self.id = 0
        """Its number at that worker."""

        self.opened = False
        """Whether the first part arrived; from then on it cannot restart in another worker."""

        self.abandoned = False
        """Whether its reader has left."""

        self.strikes = 0
        """How many workers have died of it, as far as is known."""

        self.settled: list[tuple[int, bytes]] = []
        """Flags and payload of each RESOLVE, stored for a second attempt until it is opened."""

        self._parts: deque[Rendered] = deque()
        self._error: RenderError | None = None
        self._ended = False
        self._reader: Task | None = None
        self._uncredited = 0

    def add(self, part: Rendered) -> None:
        """Keep a part for the reader."""
        if not self.opened:
            self.opened = True
            self.settled.clear()
        if not self.abandoned:
            self._parts.append(part)
            self._wake()

    def end(self) -> None:
        """Let the reader's loop end after the parts it has not taken yet."""
        self._ended = True
        self.worker = None
        self._wake()

    def fail(self, error: RenderError) -> None:
        """Let the reader meet ``error`` after the parts it has not taken yet."""
        self._error = error
        self.end()

    def leave(self) -> None:
        """Let the worker stop: nobody reads any more."""
        self.abandoned = True
        self._parts.clear()
        if self.worker is not None:
            self.worker.abort(self.id)

    async def settle(self, flags: int, payload: bytes) -> None:
        """Send a RESOLVE to whatever worker has or will have the render.

        Raises FrameSizeInvalid when the payload is too large.
        """
        check_payload(payload)
        if not self.opened:
            self.settled.append((flags, payload))
        if self.worker is not None:
            await self.worker.settle(self.id, flags, payload)

    async def take(self) -> Rendered | None:
        """Return the next part, None at the end. One task at a time may wait here."""
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._parts or self._ended:
            await trio.lowlevel.cancel_shielded_checkpoint()
        else:
            if self._reader is not None:
                raise trio.BusyResourceError("another task is reading this stream")
            self._reader = trio.lowlevel.current_task()
            await trio.lowlevel.wait_task_rescheduled(self._leave)
        if self._parts:
            part = self._parts.popleft()
            self._credit(len(part.html))
            return part
        if self._error is not None:
            raise self._error
        return None

    def _leave(self, raise_cancel: RaiseCancelT) -> Abort:
        self._reader = None
        return Abort.SUCCEEDED

    def _wake(self) -> None:
        if self._reader is not None:
            reschedule(self._reader)
            self._reader = None

    def _credit(self, size: int) -> None:
        """Let the worker send on once half of the window has been taken."""
        self._uncredited += size
        if self._uncredited * 2 >= STREAM_WINDOW and self.worker is not None:
            self.worker.credit(self.id, self._uncredited)
            self._uncredited = 0


AnyRender = DocumentRender | StreamRender
