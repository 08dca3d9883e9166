"""All that is private of Trio: the order of its tasks, and the way to its worker threads.

There is no public way. What each part relies on is tested against the installed version by
`tests/simulation/test_trio_internals.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import trio._core._run
import trio._threads
from trio.lowlevel import Task

_run: Any = trio._core._run
_threads: Any = trio._threads

StartThread = Callable[[Callable[[], Any], Callable[[Any], object], str | None], None]
"""``start_thread_soon(work, deliver, name)``: runs both in a worker thread."""

SendMessage = Callable[[Any, Any], Any]
"""``_send_message_to_trio(token, message)``: what `trio.from_thread` calls."""

start_thread: StartThread = _threads.start_thread_soon
send_message: SendMessage = _threads._send_message_to_trio


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
    get_events = manager.get_events

    def get_needed(self: Any, timeout: float) -> Any:
        if not timeout and _is_unwatched(self):
            return ()
        return get_events(self, timeout)

    manager.get_events = get_needed
    try:
        yield
    finally:
        manager.get_events = get_events


def _is_unwatched(manager: Any) -> bool:
    """Whether only other threads could wake the event loop, and none has."""
    queue = _run.GLOBAL_RUN_CONTEXT.runner.entry_queue
    waiting = getattr(manager, "_registered", None)  # by descriptor; Windows has no such table
    if waiting is None or queue.queue or queue.idempotent_queue:
        return False
    return not waiting or (len(waiting) == 1 and queue.wakeup.wakeup_sock.fileno() in waiting)


def requeue(tasks: Iterable[Task]) -> None:
    """Let tasks that an `Ordering` took out of its batch run in a later one."""
    _run.GLOBAL_RUN_CONTEXT.runner.runq.extend(tasks)


def is_stuck() -> bool:
    """Whether no deadline is left for which a task may wait. Runnable tasks do not count."""
    runner = _run.GLOBAL_RUN_CONTEXT.runner
    return bool(runner.deadlines.next_deadline() == float("inf") and not runner.waiting_for_idle)


def function_of(work: Callable[[], Any]) -> object:
    """Return what a call of `trio.to_thread.run_sync` was given, of what it gives to a thread."""
    names = work.__code__.co_freevars
    if work.__closure__ is None or "sync_fn" not in names:
        return None
    return work.__closure__[names.index("sync_fn")].cell_contents


def report_of(deliver: Callable[[Any], object]) -> Callable[[Any], object]:
    """Return what a thread's result reaches its task by, once it is back in the event loop.

    ``deliver`` brings it there over a socket, for which the loop has to be woken.
    """
    made_by: Any = deliver
    names = made_by.__code__.co_freevars if hasattr(made_by, "__code__") else ()
    if "report_back_in_trio_thread_fn" not in names:
        return deliver
    cell = made_by.__closure__[names.index("report_back_in_trio_thread_fn")]
    report: Callable[[Any], object] = cell.cell_contents
    return report


@contextmanager
def outside_of_run() -> Iterator[None]:
    """Let the block look as if it ran in another thread than the event loop's."""
    here = vars(_run.GLOBAL_RUN_CONTEXT)
    before = dict(here)
    here.clear()
    try:
        yield
    finally:
        here.clear()
        here.update(before)


@contextmanager
def threads_by(start: StartThread, send: SendMessage) -> Iterator[None]:
    """Let ``start`` run worker threads, and ``send`` carry their calls of `trio.from_thread`."""
    _threads.start_thread_soon, _threads._send_message_to_trio = start, send
    try:
        yield
    finally:
        _threads.start_thread_soon, _threads._send_message_to_trio = start_thread, send_message
