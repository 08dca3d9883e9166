"""Describes the threads and tasks that still run at the shutdown's deadline, with their lines.

For the last line of the log. Called from a separate thread, since the event loop may hang.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from types import FrameType

import trio

from fxtrio.tracebacks import is_application

_MOST_NAMED = 10
"""Things that are named."""


def describe_running(root: trio.lowlevel.Task | None) -> str:
    """Return the running application code, separated by commas; "" if there is none.

    ``root`` is the task whose descendants are searched. No task is named if they change
    at that moment.
    """
    frames = sys._current_frames()
    found = []
    for thread in threading.enumerate():
        frame = frames.get(thread.ident or 0)
        name = "the event loop" if thread is threading.main_thread() else f"thread {thread.name!r}"
        place = _place(frame)
        if place:
            found.append(f"{name} at {place}")
        elif _is_busy(thread):
            found.append(name)
    with suppress(RuntimeError):  # a set has changed while it was read
        tasks = [] if root is None else list(_tasks(root))
        found += [f"task {name!r} at {place}" for name, place in tasks]
    more = len(found) - _MOST_NAMED
    return ", ".join(found[:_MOST_NAMED]) + (f", and {more} more" if more > 0 else "")


def _is_busy(thread: threading.Thread) -> bool:
    """Whether it is a thread of `trio.to_thread` with work, which trio names after that."""
    return " from " in thread.name


def _place(frame: FrameType | None) -> str:
    """Return where the application is, as ``file:line``; "" when it is not."""
    while frame is not None:
        if _is_reportable(frame):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _is_reportable(frame: FrameType) -> bool:
    """Whether it is the application's, and not the script that has begun everything."""
    main = frame.f_globals.get("__name__") == "__main__"
    return not main and is_application(frame.f_code.co_filename)


def _tasks(root: trio.lowlevel.Task) -> Iterator[tuple[str, str]]:
    """Yield names and places of the tasks below ``root``, but not of one above another of them."""
    tasks = [root]
    for task in tasks:  # which it grows by
        tasks += [child for nursery in task.child_nurseries for child in nursery.child_tasks]
    above: set[trio.lowlevel.Task | None] = set()
    for task in reversed(tasks):  # children come before their parents
        places = [
            f"{frame.f_code.co_filename}:{line}"
            for frame, line in islice(task.iter_await_frames(), 1000)
            if _is_reportable(frame)
        ]
        if places and task not in above:
            yield task.name, places[-1]
        if (places or task in above) and task.parent_nursery is not None:
            above.add(task.parent_nursery.parent_task)
