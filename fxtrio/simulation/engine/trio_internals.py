"""What is private of Trio: the order of its tasks, and the way to its worker threads.

Its deadlines are in `timers`.

There is no public way. What each part relies on is tested against the installed version by
`tests/simulation/test_trio_internals.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from math import inf
from operator import attrgetter
from typing import Any, NoReturn, Protocol

import trio._core._run
import trio._threads
from trio.lowlevel import Task
from trio.testing import MockClock

_run: Any = trio._core._run
_threads: Any = trio._threads

StartThread = Callable[[Callable[[], Any], Callable[[Any], object], str | None], None]
"""``start_thread_soon(work, deliver, name)``: runs both in a worker thread."""

SendMessage = Callable[[Any, Any], Any]
"""``_send_message_to_trio(token, message)``: what `trio.from_thread` calls."""

KNOWN_RELEASES = ((0, 32), (0, 33), (0, 34), (0, 35))
"""Releases of Trio in whose place `timers` is known to do what `trio.sleep` does.

With any other, simulations have Trio's own: the same runs, at a higher cost.
"""

start_thread: StartThread = _threads.start_thread_soon
run_in_thread: Callable[..., Any] = _threads.to_thread_run_sync
send_message: SendMessage = _threads._send_message_to_trio


def is_known(version: str) -> bool:
    """Return whether a version of Trio is of `KNOWN_RELEASES`."""
    major, minor = version.split(".")[:2]
    return (int(major), int(minor)) in KNOWN_RELEASES


class Ordering(Protocol):
    """Orders the tasks that can run."""

    def shuffle(self, batch: list[Task]) -> None:
        """Put a batch into the order in which it is popped from its end.

        What is taken out of it does not run now, and has to be made runnable again.
        """
        ...


@contextmanager
def ordered_by(ordering: Ordering) -> Iterator[None]:
    """Let ``ordering`` decide in which order tasks run, in each run that the block begins."""
    before = _run._ALLOW_DETERMINISTIC_SCHEDULING, _run._r
    # With this flag, Trio sorts a batch by age and has `_r` shuffle it (for Hypothesis).
    _run._ALLOW_DETERMINISTIC_SCHEDULING, _run._r = True, ordering
    try:
        yield
    finally:
        _run._ALLOW_DETERMINISTIC_SCHEDULING, _run._r = before


@contextmanager
def polled_when_needed() -> Iterator[None]:
    """Let runs in the block ask the kernel for events only when one may have come.

    A turn of the event loop is short enough here that the question is a twentieth of it.
    """
    manager: Any = _run.TheIOManager
    get_events, context = manager.get_events, _run.GLOBAL_RUN_CONTEXT
    wakeups: dict[Any, int] = {}  # descriptors by which threads call into a run

    def get_needed(self: Any, timeout: float) -> Any:
        if not timeout:
            queue = context.runner.entry_queue
            waiting = getattr(self, "_registered", None)  # by descriptor; Windows has no such table
            if waiting is not None and not (queue.queue or queue.idempotent_queue):
                wakeup = wakeups.get(self)
                if wakeup is None:
                    wakeup = wakeups[self] = queue.wakeup.wakeup_sock.fileno()
                if not waiting or (len(waiting) == 1 and wakeup in waiting):
                    return ()
        return get_events(self, timeout)

    manager.get_events = get_needed
    try:
        yield
    finally:
        manager.get_events = get_events


def virtual_clock() -> MockClock:
    """Return a clock that jumps to the next deadline as soon as every task waits.

    A run asks for the time three times a turn, and no time passes beside the jumps. What asks for
    all statistics of a run to learn the next deadline is as long as a turn.
    """
    clock = MockClock(autojump_threshold=0)
    now = partial(attrgetter("_virtual_base"), clock)

    def jump() -> None:
        seconds = _run.GLOBAL_RUN_CONTEXT.runner.deadlines.next_deadline() - now()
        if 0 < seconds < inf:
            clock.jump(seconds)

    vars(clock).update(current_time=now, _autojump=jump)
    return clock


def requeue(tasks: Iterable[Task]) -> None:
    """Let tasks that an `Ordering` took out of its batch run in a later one."""
    _run.GLOBAL_RUN_CONTEXT.runner.runq.extend(tasks)


def is_stuck() -> bool:
    """Whether no deadline is left for which a task may wait. Runnable tasks do not count."""
    runner = _run.GLOBAL_RUN_CONTEXT.runner
    return bool(runner.deadlines.next_deadline() == inf and not runner.waiting_for_idle)


def call_as_thread(call: Callable[[], Any]) -> Any:
    """Call a function as if in a thread that the current task waits for.

    There `trio.from_thread.check_cancelled` goes by whether the task is cancelled by now.
    """
    here, parent = vars(_run.GLOBAL_RUN_CONTEXT), _threads.PARENT_TASK_DATA
    before = dict(here)
    is_cancelled = before["task"]._cancel_status.effectively_cancelled
    here.clear()
    parent.cancel_register = [raise_cancelled if is_cancelled else None]
    try:
        return call()
    finally:
        del parent.cancel_register
        here.update(before)


def raise_cancelled() -> NoReturn:
    """Raise what Trio raises where a task is cancelled."""
    error: Any = trio.Cancelled
    raise error._create()


@contextmanager
def threads_by(start: StartThread, send: SendMessage) -> Iterator[None]:
    """Let ``start`` run worker threads, and ``send`` carry their calls of `trio.from_thread`."""
    _threads.start_thread_soon, _threads._send_message_to_trio = start, send
    try:
        yield
    finally:
        _threads.start_thread_soon, _threads._send_message_to_trio = start_thread, send_message
