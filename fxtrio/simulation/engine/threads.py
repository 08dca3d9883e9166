"""Worker threads that run in turn with the event loop, so that nothing runs side by side.

A thread begins at a step that the seed chooses, or what it brings arrives at one. While it runs,
the event loop stands still; when it calls into the loop by `trio.from_thread`, it stands still
until it has its answer. Threads with code of the application are real ones, since that is what it
relies on (thread locals, no current task). What the framework itself does in threads runs within
the event loop's: a switch of threads waits for the machine.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import Any

import attrs
import outcome
import trio

from fxtrio.simulation.engine import trio_internals
from fxtrio.simulation.engine.rejections import begun_at, place_of

DEADLINE = 30.0
"""How long a thread may run before it counts as stuck (seconds of the real clock)."""

_WITHIN_LOOP = (
    "fxtrio.compression",
    "fxtrio.db",
    "fxtrio.markdown",
    "fxtrio.plugins.auth",
    "fxtrio.serve.openapi",
    "fxtrio.serve.request",
)
"""Modules whose calls in threads never call into the event loop."""

Delay = Callable[[], tuple[int, float, bool]]
"""Returns how many turns and seconds of the virtual clock a call takes, and when they pass.

True is for after the call, before its result arrives: others may have changed what it found.
"""


class ThreadStuck(Exception):
    """A worker thread does not return."""

    def __init__(self, name: str | None) -> None:
        super().__init__(
            f"The worker thread {name!r} has run for {DEADLINE:g} s. In a simulation nothing runs "
            "beside it: it must not wait for a task other than by 'trio.from_thread'."
        )


@attrs.define(eq=False)
class _Worker:
    """One call in a thread."""

    work: Callable[[], Any]
    deliver: Callable[[Any], object]
    name: str | None
    owner: Threads
    place: str
    """Where the application began it; "" for what runs within the event loop's thread."""

    _turns: tuple[threading.Semaphore, threading.Semaphore] | None = None
    """What the thread waits for, and what the event loop does; None before it has begun."""

    def begin(self) -> Callable[[], object] | None:
        """Run the call until it ends, or waits for the event loop. Called by the loop.

        Return what brings its result to its task; None where the thread itself does.
        """
        if self.place:
            self.resume()
            return None
        with trio_internals.outside_of_run():
            result = outcome.capture(self.work)
        return partial(trio_internals.report_of(self.deliver), result)

    def resume(self) -> None:
        """Run the thread until it ends, or waits for the event loop. Called by the loop."""
        if self._turns is not None:
            self._turns[0].release()
        else:
            self._turns = threading.Semaphore(0), threading.Semaphore(0)
            self.owner.starting_in = threading.get_ident()
            try:
                trio_internals.start_thread(self._work, self._deliver, self.name)
            finally:
                self.owner.starting_in = None
        if not self._turns[1].acquire(timeout=DEADLINE):
            raise ThreadStuck(self.name)

    def pause(self) -> None:
        """Let the event loop run until it resumes this thread. Called by the thread."""
        assert self._turns is not None
        self._turns[1].release()
        self._turns[0].acquire()

    def _work(self) -> Any:
        _current.worker, begun_at.place = self, self.place
        return self.work()

    def _deliver(self, result: Any) -> None:
        try:
            self.deliver(result)
        finally:
            _current.worker, begun_at.place = None, ""
            assert self._turns is not None
            self._turns[1].release()


@attrs.define(eq=False)
class _Reply:
    """Takes the place of the queue on which a thread waits for the event loop."""

    _worker: _Worker
    _values: list[Any] = attrs.field(factory=list)

    def put_nowait(self, value: Any) -> None:
        """Pass a result to the thread, and let it run. Called by the event loop."""
        self._values.append(value)
        self._worker.resume()

    def get(self) -> Any:
        """Wait for the result. Called by the thread."""
        self._worker.pause()
        return self._values.pop()


@attrs.define(eq=False)
class Threads:
    """Runs worker threads one at a time. See `trio_internals.threads_by`."""

    _delay: Delay
    begin_late: Callable[[trio.lowlevel.Task, int], None] = lambda task, turns: None
    """`Scheduler.begin_late`."""

    starting_in: int | None = None
    """The thread in which another one is being started here, and not by the application."""

    def is_starting(self) -> bool:
        """Whether the running code starts a thread: what that one does already is not meant."""
        return self.starting_in == threading.get_ident()

    def start(
        self, work: Callable[[], Any], deliver: Callable[[Any], object], name: str | None = None
    ) -> None:
        """Begin a call in a thread, in a while."""
        function = trio_internals.function_of(work)
        module = getattr(getattr(function, "func", function), "__module__", None) or ""
        within = module.startswith(_WITHIN_LOOP)
        worker = _Worker(work, deliver, name, self, "" if within else place_of(sys._getframe()))
        turns, seconds, late = self._delay()
        late = late and within  # a thread of its own brings its result itself
        run = partial(_run_late if late else _run, worker, turns, seconds)
        # The context says to which process the thread belongs.
        task = trio.lowlevel.spawn_system_task(run, name="thread", context=copy_context())
        if not late:
            self.begin_late(task, turns)

    def send(self, token: Any, message: Any) -> Any:
        """Carry a call of `trio.from_thread` to the event loop."""
        worker: _Worker | None = getattr(_current, "worker", None)
        if worker is not None:
            object.__setattr__(message, "queue", _Reply(worker))
        return trio_internals.send_message(token, message)


_current = threading.local()


async def _run(worker: _Worker, turns: int, seconds: float) -> None:
    """Run a call that begins late: its task itself does so ``turns`` later."""
    if seconds:
        # A system task is cancelled at the end of the run; a thread ends also then.
        with trio.CancelScope(shield=True):
            await trio.sleep(seconds)
    report = worker.begin()
    if report is not None:
        report()


async def _run_late(worker: _Worker, turns: int, seconds: float) -> None:
    """Run a call whose result arrives late."""
    report = worker.begin()
    assert report is not None
    if turns or seconds:
        with trio.CancelScope(shield=True):
            worker.owner.begin_late(trio.lowlevel.current_task(), turns)
            await trio.sleep(seconds)
    report()
