"""Calls that hold the event loop: each is named once, with its place and what to do instead.

A thread looks at the task step that runs, and sleeps while the loop waits. Only the app of
`fx dev` has it.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from types import FrameType

import attrs
import trio

from fxtrio.errors import display_path
from fxtrio.serve import dispatch
from fxtrio.tracebacks import is_application

LONGEST = 0.1
"""A step that takes longer is reported (seconds)."""

_LOOK = 0.03
"""How often the thread looks while the loop runs (seconds)."""

log = logging.getLogger("fx.dev")


@attrs.define(eq=False)
class _Steps(trio.abc.Instrument):
    """When the step that runs has begun."""

    begun: float | None = None
    """`perf_counter`; None between two steps."""

    running: threading.Event = attrs.field(factory=threading.Event)
    """Set while the loop does not wait for anything."""

    def after_io_wait(self, timeout: float) -> None:
        self.running.set()

    def before_io_wait(self, timeout: float) -> None:
        self.running.clear()

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.begun = perf_counter()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self.begun = None


@contextmanager
def watch_stalls() -> Iterator[None]:
    """Name what holds the event loop of the calling thread, for as long as the block lasts."""
    steps, stop = _Steps(), threading.Event()
    arguments = steps, stop, threading.get_ident()
    thread = threading.Thread(target=_watch, args=arguments, name="fx-stalls", daemon=True)
    steps.running.set()
    trio.lowlevel.add_instrument(steps)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        steps.running.set()
        trio.lowlevel.remove_instrument(steps)


def _watch(steps: _Steps, stop: threading.Event, loop: int) -> None:
    reported: set[str] = set()
    while steps.running.wait() and not stop.wait(_LOOK):
        begun = steps.begun
        if begun is None or perf_counter() - begun <= LONGEST:
            continue
        place = _place(sys._current_frames().get(loop))
        if place and place not in reported and steps.begun == begun:
            reported.add(place)
            log.warning(
                "%s blocked the event loop for more than %d ms, which delays all other visitors. "
                "Use an async function, or call it in a thread: "
                "'await trio.to_thread.run_sync(function, argument)'.",
                place,
                LONGEST * 1000,
            )


def _place(frame: FrameType | None) -> str:
    """Return file, line and function of the application's innermost frame; "" without one.

    A module that is being imported is none: that happens once, when a file was saved. Nor is
    middleware around the dispatcher, which calls the functions of the application itself.
    """
    while frame is not None and frame.f_code.co_filename != dispatch.__file__:
        code = frame.f_code
        if is_application(code.co_filename):
            if code.co_name == "<module>":
                return ""
            return f"{display_path(Path(code.co_filename))}:{frame.f_lineno}: {code.co_name}()"
        frame = frame.f_back
    return ""
