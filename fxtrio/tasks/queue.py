"""A bounded queue of jobs, and the workers that empty it.

`open_task_queue` is a block of the app's lifespan; `enqueue` hands a call to the
queue of the app the caller belongs to. A job is owned by the queue from then on:
it runs in a worker, with a copy of the context variables of whoever enqueued it,
and is finished, cancelled or dropped (and then named in the log) when the block ends.

Jobs wait in a memory channel of trio, which bounds them, wakes the workers and ends
them when it is closed. It belongs to the event loop's thread: other threads ask
there, and are told at once what came of it.

A coroutine that never has to wait costs no turn of the event loop: the worker
drives it where it stands. That, and not a task per job, is what makes jobs cheap.
"""

from __future__ import annotations

import inspect
import itertools
import logging
import threading
import time
import types
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from contextvars import Context, copy_context
from functools import partial
from typing import Any, ParamSpec

import attrs
import trio

from fxtrio.application_errors import is_cancelled
from fxtrio.context import counting, current_app, why_no_app
from fxtrio.errors import TaskQueueFull, TaskQueueNotRunning
from fxtrio.spans import current_span, span
from fxtrio.tasks.calls import drive, is_async, name_of, not_callable
from fxtrio.tasks.deferred_jobs import HeldJobs, holding
from fxtrio.tracebacks import trimmed

P = ParamSpec("P")
QueuedCall = tuple[Context, Callable[..., object], tuple[Any, ...], dict[str, Any]]
"""Context variables, callable, and what to call it with."""

_TURN = 0.001
"""Longest time a worker runs jobs that never wait before others get a turn (seconds)."""

_JOBS = 16
"""Jobs of such a turn where steps are counted: in tests, which must not depend on the machine."""

log = logging.getLogger("fx.tasks")


def enqueue(func: Callable[P, object], /, *args: P.args, **kwargs: P.kwargs) -> None:
    """Let the app's workers run ``func(*args, **kwargs)``, and return at once.

    Coroutine functions are awaited, plain callables run in a thread. The result of the job is
    ignored; its exceptions are logged on the logger ``fx.tasks``. Works in loaders, actions,
    WebSocket handlers, other jobs, middleware, and their threads (`fxtrio.context` says which
    app a thread belongs to).

    Raises TaskQueueFull at capacity, and TaskQueueNotRunning outside a running app.
    """
    app = current_app()
    if app is None:
        raise TaskQueueNotRunning(name_of(func), why_no_app())
    queue: TaskQueue = app.tasks
    held = holding.get()
    if held is None or not held.open:
        queue._put(func, args, kwargs)
    else:
        queue._hold(held, func, args, kwargs)


def _turn_clock() -> Callable[[], float]:
    """Return what tells a worker when its turn is over (seconds)."""
    if counting.get() or hasattr(trio.lowlevel.current_clock(), "jump"):
        return itertools.count(0, _TURN / _JOBS).__next__
    return time.perf_counter


@attrs.frozen(kw_only=True)
class TaskStatistics:
    """The waiting, running and ended jobs of a `TaskQueue` (counts of jobs, except ``workers``)."""

    capacity: int
    """How many may wait."""

    workers: int
    """How many run at a time."""

    waiting: int

    running: int
    """Given to a worker, and not ended."""

    completed: int
    """Returned without an error."""

    failed: int
    """Raised an error, which was logged."""

    cancelled: int
    """Ended or never begun because of the shutdown, or cancelled by themselves."""


@asynccontextmanager
async def open_task_queue(
    *, capacity: int, workers: int, drain_timeout: float
) -> AsyncIterator[TaskQueue]:
    """Run background jobs for as long as the block lasts.

    ``capacity`` counts jobs that wait for a worker. ``drain_timeout`` is in seconds
    and starts when the block ends: no new job is taken from then on, those waiting
    and running may finish, and what is left after it is cancelled and named in the
    log. A job in a thread that ignores this is left behind, so it cannot hold up
    the shutdown. A block that ends with an error cancels the jobs at once.
    """
    queue = TaskQueue(capacity=capacity, workers=workers)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(queue._run_workers)
        try:
            yield queue
        finally:
            queue._close(drain_timeout)


class TaskQueue:
    """Runs in-memory jobs. Created by `open_task_queue`; valid until its block ends."""

    def __init__(self, *, capacity: int, workers: int) -> None:
        for name, count in (("capacity", capacity), ("workers", workers)):
            if count < 1:
                raise ValueError(f"{name!r} must be >= 1: {count}")
        self.capacity = capacity
        self.workers = workers
        self._send, self._receive = trio.open_memory_channel[QueuedCall](capacity)
        self._thread = threading.get_ident()
        self._token = trio.lowlevel.current_trio_token()
        self._threads = trio.CapacityLimiter(workers)
        self._scope = trio.CancelScope()
        self._ended = trio.Event()
        self._open = True
        self.taken = 0
        """How many jobs it has taken so far."""

        self._completed = 0
        self._failed = 0
        self._cancelled = 0

    def __repr__(self) -> str:
        return f"<TaskQueue {self.statistics()}>"

    def enqueue(self, func: Callable[P, object], /, *args: P.args, **kwargs: P.kwargs) -> None:
        """Hand over ``func(*args, **kwargs)`` without waiting for a worker, from any thread.

        Other threads than the event loop's wait for its next turn, which takes the
        job or refuses it. A loop that is blocked until such a thread ends would wait
        for ever. Raises TaskQueueFull when ``capacity`` jobs already wait, TaskQueueNotRunning
        when the queue's block has ended, and TypeError for what cannot be called.
        """
        self._put(func, args, kwargs)

    def _put(
        self, func: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        if not callable(func) or hasattr(func, "__fx_job__"):
            raise TypeError(not_callable(func))
        self._pass(copy_context(), func, args, kwargs)

    def _hold(
        self,
        held: HeldJobs,
        func: Callable[..., object],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        """Take a job that comes when ``held`` is released, or never."""
        if not callable(func) or hasattr(func, "__fx_job__"):
            raise TypeError(not_callable(func))
        if len(held.jobs) + self.statistics().waiting >= self.capacity:
            raise TaskQueueFull(name_of(func), self.capacity)
        held.jobs.append(partial(self._pass, copy_context(), func, args, kwargs))

    def _pass(
        self,
        context: Context,
        func: Callable[..., object],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        job = (context, func, args, kwargs)
        if threading.get_ident() == self._thread:
            self._take(job)
            return
        try:
            trio.from_thread.run_sync(self._take, job, trio_token=self._token)
        except trio.RunFinishedError:
            raise TaskQueueNotRunning(name_of(func)) from None

    def _take(self, job: QueuedCall) -> None:
        """Let a job wait for a worker, or give it to one that is idle."""
        try:
            self._send.send_nowait(job)
        except trio.WouldBlock:
            raise TaskQueueFull(name_of(job[1]), self.capacity) from None
        except trio.ClosedResourceError:
            raise TaskQueueNotRunning(name_of(job[1])) from None
        self.taken += 1

    @property
    def waiting(self) -> int:
        """How many jobs wait for a worker."""
        return self._receive.statistics().current_buffer_used

    def statistics(self) -> TaskStatistics:
        """Return the present counts."""
        waiting = self.waiting
        ended = self._completed + self._failed + self._cancelled
        return TaskStatistics(
            capacity=self.capacity,
            workers=self.workers,
            waiting=waiting,
            running=self.taken - waiting - ended,
            completed=self._completed,
            failed=self._failed,
            cancelled=self._cancelled,
        )

    async def drain(self, timeout: float) -> None:
        """Take no more jobs, and wait until there are none, ``timeout`` seconds at most.

        For what must outlive the jobs but was opened after the queue: the end of the
        block drains too, when this was not called.
        """
        self._close(timeout)
        await self._ended.wait()

    def _close(self, timeout: float) -> None:
        self._open = False
        self._send.close()
        self._scope.deadline = min(self._scope.deadline, trio.current_time() + timeout)

    async def _run_workers(self) -> None:
        """Run the workers until the queue is closed and empty, or its time is over."""
        try:
            with self._scope:
                async with trio.open_nursery() as nursery:
                    for number in range(self.workers):
                        nursery.start_soon(self._keep_worker, name=f"fx.tasks.{number}")
        finally:
            self._send.close()
            self._drop_waiting()
            self._ended.set()

    def _drop_waiting(self) -> None:
        """Forget the jobs that no worker came to, and log how many of each."""
        names = Counter[str]()
        with suppress(trio.EndOfChannel):
            while True:
                names[name_of(self._receive.receive_nowait()[1])] += 1
        if not names:
            return
        self._cancelled += names.total()
        dropped = ", ".join(f"{name} ({count})" for name, count in names.items())
        log.warning("Dropped at shutdown before they could run: %s", dropped)

    async def _keep_worker(self) -> None:
        """Keep one worker until the queue is closed and empty.

        The worker has a nursery of its own, so a job that cancels the nursery it
        finds itself in, or leaves the worker's cancel scopes in disorder, costs
        that worker, and the next one takes its place.
        """
        while self._open or self._receive.statistics().current_buffer_used:
            try:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._work)
            except BaseException:  # a group, of what the job has left behind
                await trio.lowlevel.checkpoint_if_cancelled()
                log.exception("A job ended its worker task; a new one replaces it")

    # Ctrl+C goes to the main task: here it would look like the job's own error.
    @trio.lowlevel.enable_ki_protection
    async def _work(self) -> None:
        """Run jobs, oldest first, until the queue is closed and empty."""
        receive, now = self._receive, _turn_clock()
        turn_ends = now() + _TURN
        while True:
            try:
                job = receive.receive_nowait()
            except trio.WouldBlock:
                try:
                    job = await receive.receive()
                except trio.EndOfChannel:
                    return
                turn_ends = now() + _TURN
            except trio.EndOfChannel:
                return
            unfinished = self._begin(job)
            if unfinished is not None:
                await self._finish(job, *unfinished)
            if now() > turn_ends:
                await trio.lowlevel.checkpoint()
                turn_ends = now() + _TURN

    def _begin(self, job: QueuedCall) -> tuple[Coroutine[Any, Any, object], Any] | None:
        """Run a job until it ends or waits; return what waits, and the trap it waits in."""
        context, func, args, kwargs = job
        try:
            if context.get(current_span) is not None:
                coroutine = self._call_in_span(func, args, kwargs)
            elif type(func) is types.FunctionType and func.__code__.co_flags & inspect.CO_COROUTINE:
                coroutine = func(*args, **kwargs)
            else:
                coroutine = self._call(func, args, kwargs)
            return coroutine, context.run(coroutine.send, None)
        except StopIteration:
            self._completed += 1
        except BaseException as error:
            self._account(job, error)
        return None

    async def _finish(
        self, job: QueuedCall, coroutine: Coroutine[Any, Any, object], trap: Any
    ) -> None:
        """Run the rest of a job that waits."""
        try:
            await drive(job[0], coroutine, trap)
            self._completed += 1
        except BaseException as error:
            self._account(job, error)

    def _account(self, job: QueuedCall, error: BaseException) -> None:
        """Log how a job ended; raise a cancellation, to let it reach its scope.

        Where no scope around is cancelled, a `Cancelled` has no scope to reach: it is an error.
        """
        context, func, _, _ = job
        cancelled: BaseException | None = None
        failure: BaseException | None = error
        if not is_cancelled():
            pass
        elif isinstance(error, BaseExceptionGroup):
            cancelled, failure = error.split(trio.Cancelled)
        elif isinstance(error, trio.Cancelled):
            cancelled, failure = error, None
        if failure is not None:
            self._failed += 1
            context.run(log.error, "Job %s failed", name_of(func), exc_info=trimmed(failure))
        else:
            self._cancelled += 1
            reason = "it cancelled itself" if self._open else "the shutdown reached its time limit"
            context.run(log.warning, "Job %s was cancelled: %s", name_of(func), reason)
        if cancelled is not None:
            raise cancelled

    async def _call_in_span(
        self, func: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        with span("job", name_of(func)):
            await self._call(func, args, kwargs)

    async def _call(
        self, func: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Await an async function, and call any other in a thread."""
        if is_async(func):
            outcome = func(*args, **kwargs)
        else:
            # Abandoned when cancelled, which happens at the end of the drain only: a
            # thread cannot be stopped, and waiting for it would make the limit a lie.
            # In a list, since trio takes a bare coroutine from a thread for a mistake.
            [outcome] = await trio.to_thread.run_sync(
                lambda: [func(*args, **kwargs)], limiter=self._threads, abandon_on_cancel=True
            )
        if inspect.isawaitable(outcome):
            await outcome
