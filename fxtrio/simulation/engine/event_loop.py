"""Trio's event loop for simulations: the same turns, without what a simulation has no use for.

Trio's own is `trio._core._run.unrolled_run`. In a simulation most turns are one short step, and it
spends more than that on instruments, on the question to the kernel, and on deadlines that have not
passed. A run with instruments, such as a traced one, has Trio's own: both lead to the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

import trio._core._run
from outcome import Error, Value
from trio._core._traps import (
    CancelShieldedCheckpoint,
    PermanentlyDetachCoroutineObject,
    WaitTaskRescheduled,
)
from trio.lowlevel import Task

_run: Any = trio._core._run
_trios_loop: Any = _run.unrolled_run
_age = attrgetter("_counter")


@contextmanager
def short_turns() -> Iterator[None]:
    """Let runs in the block have this loop. They need an order: `trio_internals.ordered_by`."""
    _run.unrolled_run = _chosen_loop
    try:
        yield
    finally:
        _run.unrolled_run = _trios_loop


def _chosen_loop(runner: Any, main: Any, args: tuple[Any, ...]) -> Generator[float, Any, None]:
    has_instruments = len(runner.instruments) > 1  # beside "_all", the names of their methods
    loop = _trios_loop if has_instruments else _run_all
    return loop(runner, main, args)


@trio.lowlevel.enable_ki_protection
def _run_all(runner: Any, main: Any, args: tuple[Any, ...]) -> Generator[float, Any, None]:
    """Run all tasks. Yields to have the kernel asked for events, as Trio's loop does."""
    __tracebackhide__ = True
    try:
        runner.entry_queue.wakeup.wakeup_on_signals()
        runner.clock.start_clock()
        runner.init_task = runner.spawn_impl(
            runner.init, (main, args), None, "<init>", system_task=True
        )
        yield from _turns(runner, _run._r.shuffle)
    except trio.TrioInternalError:
        raise
    except BaseException as error:
        raise trio.TrioInternalError("internal error in the event loop of simulations") from error
    finally:
        runner.close()
        _run.GLOBAL_RUN_CONTEXT.__dict__.clear()
        if runner.ki_pending:
            interrupt = KeyboardInterrupt()
            if isinstance(runner.main_task_outcome, Error):
                interrupt.__context__ = runner.main_task_outcome.error
            runner.main_task_outcome = Error(interrupt)


def _turns(runner: Any, shuffle: Callable[[list[Task]], None]) -> Generator[float, Any, None]:
    tasks, queue, context = runner.tasks, runner.runq, _run.GLOBAL_RUN_CONTEXT
    now, deadlines = runner.clock.current_time, runner.deadlines
    events_may_come = _event_check(runner)
    while tasks:
        events = None
        if events_may_come():
            events = yield 0
            runner.io_manager.process_events(events)
        if deadlines._heap and deadlines._heap[0][0] <= now():
            deadlines.expire(now())
        if not queue and not events:
            _end_idleness(runner)
        batch = list(queue)
        queue.clear()
        if len(batch) > 1:
            batch.sort(key=_age)
        shuffle(batch)
        while batch:
            task = context.task = batch.pop()
            _make_step(runner, task)
            del context.task


def _event_check(runner: Any) -> Callable[[], object]:
    """Return a function that says whether an event of the kernel, or a call of a thread, may be."""
    waiting = getattr(runner.io_manager, "_registered", None)  # by descriptor
    if waiting is None:  # Windows has no such table
        return lambda: True
    calls, wakeup = runner.entry_queue, runner.entry_queue.wakeup.wakeup_sock.fileno()

    def events_may_come() -> object:
        if calls.queue or calls.idempotent_queue:
            return True
        return waiting and (len(waiting) > 1 or wakeup not in waiting)

    return events_may_come


def _end_idleness(runner: Any) -> None:
    """Wake those that wait until every task does, else let time pass."""
    idle = runner.waiting_for_idle
    if not idle:
        runner.clock._autojump()
        return
    cushion = idle.keys()[0][0]
    while idle and idle.keys()[0][0] == cushion:
        runner.reschedule(idle.popitem(0)[1])


def _make_step(runner: Any, task: Any) -> None:
    """Let a task run until it waits or ends."""
    send, value = task._next_send_fn, task._next_send
    task._next_send_fn = task._next_send = None
    try:
        message = task.context.run(send, value)
    except StopIteration as stop:
        outcome: Any = Value(stop.value)
    except BaseException as error:
        trace = error.__traceback__
        for _ in range(1 + _run.CONTEXT_RUN_TB_FRAMES):  # those of this function
            trace = trace and trace.tb_next
        outcome = Error(error.with_traceback(trace))
        del trace
    else:
        task._schedule_points += 1
        if message is CancelShieldedCheckpoint:
            runner.reschedule(task)
        elif type(message) is WaitTaskRescheduled:
            _let_wait(runner, task, message.abort_func)
        else:
            _take_other(runner, task, message)
        return
    runner.task_exited(task, outcome)


def _let_wait(runner: Any, task: Any, abort: Callable[[Any], Any]) -> None:
    task._cancel_points += 1
    task._abort_func = abort
    if runner.ki_pending and task is runner.main_task:
        task._attempt_delivery_of_pending_ki()
    if task._cancel_status.effectively_cancelled:
        task._attempt_delivery_of_any_pending_cancel()


def _take_other(runner: Any, task: Any, message: Any) -> None:
    """Take a message that tasks seldom send: they have left the loop, or are of another library."""
    if type(message) is PermanentlyDetachCoroutineObject:
        runner.task_exited(task, message.final_outcome)
        return
    error = TypeError(
        f"trio.run received unrecognized yield message {message!r}. Are you trying to use a "
        "library written for some other framework like asyncio?"
    )
    runner.reschedule(task, error)
    task._next_send_fn = task.coro.throw
