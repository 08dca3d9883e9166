"""Worker threads that run in turn with the event loop, so that nothing runs side by side.

A thread begins at a step that the seed chooses, or what it brings arrives at one. While it runs,
the event loop stands still; when it calls into the loop by `trio.from_thread`, it stands still
until it has its answer. Threads with code of the application are real ones, since that is what it
relies on (thread locals, no current task). What the framework itself does in threads runs within
the task that waits for it: a switch of threads waits for the machine, and one of tasks for a turn.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from typing import Any

import attrs
import outcome
import trio

from fxtrio.errors import PlacedError
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


class ThreadStuck(PlacedError):
    """A worker thread does not return."""

    def __init__(self, name: str | None) -> None:
        super().__init__(
            "",
            f"The worker thread {name!r} has run for {DEADLINE:g} s. In a simulation nothing runs "
            "beside it",
            "It must not wait for a task other than by 'trio.from_thread'",
        )


@attrs.define(eq=False)
class _Worker:
    """One call in a thread."""

    work: Callable[[], Any]
    deliver: Callable[[Any], object]
    name: str | None
    owner: Threads
    place: str
    """Where the application began it."""

    _turns: tuple[threading.Semaphore, threading.Semaphore] | None = None
    """What the thread waits for, and what the event loop does; None before it has begun."""

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
    """Runs worker threads one at a time, for the block of `in_turn`."""

    _delay: Delay
    delay_start: Callable[[trio.lowlevel.Task, int], None] = lambda task, turns: None
    """`Scheduler.delay_start`."""

    starting_in: int | None = None
    """The thread in which another one is being started here, and not by the application."""

    def is_starting(self) -> bool:
        """Whether the running code starts a thread: what that one does already is not meant."""
        return self.starting_in == threading.get_ident()

    @contextmanager
    def in_turn(self) -> Iterator[None]:
        """Let this run what the block gives to `trio.to_thread`."""
        module: Any = trio.to_thread
        before = module.run_sync
        module.run_sync = self._run_sync
        try:
            with trio_internals.threads_by(self.start, self.send):
                yield
        finally:
            module.run_sync = before

    async def _run_sync(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Stand in for `trio.to_thread.run_sync`."""
        module = getattr(getattr(function, "func", function), "__module__", None) or ""
        if options.get("abandon_on_cancel") or not module.startswith(_WITHIN_LOOP):
            return await trio_internals.run_in_thread(function, *args, **options)
        return await self._run_within(partial(function, *args), options.get("limiter"))

    async def _run_within(
        self, work: Callable[[], Any], limiter: trio.CapacityLimiter | None
    ) -> Any:
        """Run a call of the framework in the current task, with the waits that a thread brings."""
        await trio.lowlevel.checkpoint_if_cancelled()
        limiter = limiter or trio.to_thread.current_default_thread_limiter()
        borrower = object()
        await limiter.acquire_on_behalf_of(borrower)
        try:
            turns, seconds, at_start = self._delay()
            if not at_start and (turns or seconds):
                await self._pass(turns, seconds)
            result = outcome.capture(copy_context().run, trio_internals.call_as_thread, work)
            await (self._pass(turns, seconds) if at_start else self._pass(0, 0.0))
            return result.unwrap()
        finally:
            limiter.release_on_behalf_of(borrower)

    async def _pass(self, turns: int, seconds: float) -> None:
        """Let so many turns more than one pass, and a time; a thread is waited for also then."""
        if turns:
            self.delay_start(trio.lowlevel.current_task(), turns)
        if seconds:
            with trio.CancelScope(shield=True):
                await trio.sleep(seconds)
        else:
            await trio.lowlevel.cancel_shielded_checkpoint()

    def start(
        self, work: Callable[[], Any], deliver: Callable[[Any], object], name: str | None = None
    ) -> None:
        """Begin a call in a thread, in a while."""
        worker = _Worker(work, deliver, name, self, place_of(sys._getframe()))
        turns, seconds, _ = self._delay()  # it brings its result itself, when it has it
        run = partial(_run, worker, seconds)
        # The context says to which process the thread belongs.
        task = trio.lowlevel.spawn_system_task(run, name="thread", context=copy_context())
        self.delay_start(task, turns)

    def send(self, token: Any, message: Any) -> Any:
        """Carry a call of `trio.from_thread` to the event loop."""
        worker: _Worker | None = getattr(_current, "worker", None)
        if worker is not None:
            object.__setattr__(message, "queue", _Reply(worker))
        return trio_internals.send_message(token, message)


_current = threading.local()


async def _run(worker: _Worker, seconds: float) -> None:
    """Run a delayed call."""
    if seconds:
        # A system task is cancelled at the end of the run; a thread ends also then.
        with trio.CancelScope(shield=True):
            await trio.sleep(seconds)
    worker.resume()
