"""What holds the event loop, or an import, for too long is logged, once for each place.

A thread asks the loop to answer, and looks at its stack when no answer comes: requests and steps
of tasks cost nothing. A stall of one and a half times the limit is always noticed, a shorter one
above the limit when the question came at its beginning.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from types import FrameType

import trio

from fxtrio.context import counting
from fxtrio.observe.places import is_of_application, line_of, stack_of

_MOST = 1000  # places that are remembered
_DEEPEST = 12  # lines of a stack that are logged

IMPORT = 5.0
"""After this time an import is reported, and again after twice that time, and so on (seconds)."""

log = logging.getLogger("fx.app")


@contextmanager
def watch_loop(limit: float) -> Iterator[None]:
    """Log what holds the calling thread's loop longer than ``limit`` seconds, for a block.

    Nothing is watched with inf, and on a clock that is not the machine's.
    """
    clock = trio.lowlevel.current_clock()
    if limit == inf or counting.get() or hasattr(clock, "jump"):
        yield
        return
    stop = threading.Event()
    arguments = trio.lowlevel.current_trio_token(), threading.get_ident(), limit, stop
    threading.Thread(target=_watch, args=arguments, name="fx-watch", daemon=True).start()
    try:
        yield
    finally:
        stop.set()


def _watch(token: trio.lowlevel.TrioToken, loop: int, limit: float, stop: threading.Event) -> None:
    reported: set[str] = set()
    while not stop.wait(limit / 2):
        answered = threading.Event()
        try:
            token.run_sync_soon(answered.set)
        except trio.RunFinishedError:
            return
        while not answered.wait(limit):
            if stop.is_set():  # a loop that has ended answers nothing more
                return
            innermost = sys._current_frames().get(loop)
            if answered.is_set() or _imports_only(innermost):
                continue  # after the import, there may be more to see
            _report(innermost, limit, reported)
            while not answered.wait(limit):
                if stop.is_set():
                    return


def _report(innermost: FrameType | None, limit: float, reported: set[str]) -> None:
    lines = _lines(innermost)
    place = lines[0] if lines else ""
    if place in reported or len(reported) >= _MOST:
        return
    reported.add(place)
    log.warning(
        "%s: blocked the event loop for more than %g s, which delays all requests. Call it in a "
        "thread: 'await trio.to_thread.run_sync(function, argument)'.%s",
        place or "fxtrio",
        limit,
        _callers(lines),
    )


@contextmanager
def watch_import(report: Callable[[logging.LogRecord], object] = log.handle) -> Iterator[None]:
    """Report the line at which the calling thread imports for longer than `IMPORT`, for a block.

    ``report`` gets the record of the log, in another thread. A block within another one, as where
    the app of `fx dev` loads the project's, reports nothing by itself.
    """
    thread = threading.get_ident()
    if thread in _importing:
        yield
        return
    done = threading.Event()
    arguments = thread, done, report
    threading.Thread(target=_watch_import, args=arguments, name="fx-imports", daemon=True).start()
    _importing.add(thread)
    try:
        yield
    finally:
        _importing.remove(thread)
        done.set()


_importing: set[int] = set()
"""Threads that `watch_import` watches."""


def _watch_import(
    thread: int, done: threading.Event, report: Callable[[logging.LogRecord], object]
) -> None:
    reported: set[str] = set()
    passed, next_look = 0.0, IMPORT
    while not done.wait(next_look - passed):
        passed, next_look = next_look, next_look * 2
        lines = _lines(sys._current_frames().get(thread))
        if done.is_set() or not lines or lines[0] in reported:
            continue
        reported.add(lines[0])
        text = (
            "%s: the import is still running after %g s, and the app is not served until it "
            "ends. Connect and load data in a plugin, or when it is needed.%s"
        )
        values = lines[0], passed, _callers(lines)
        report(log.makeRecord(log.name, logging.WARNING, __file__, 0, text, values, None))


def _imports_only(innermost: FrameType | None) -> bool:
    """Return whether a stack imports something, and no line of the application asked for it.

    So does the framework at a start, which nobody can move to a thread.
    """
    frames = list(stack_of(innermost))
    imports = any(frame.f_code.co_filename.startswith("<frozen importlib") for frame in frames)
    return imports and not any(is_of_application(frame) for frame in frames)


def _callers(lines: list[str]) -> str:
    return "".join(f"\n  called at {line}" for line in lines[1:_DEEPEST])


def _lines(innermost: FrameType | None) -> list[str]:
    """Return the application's lines of a stack, innermost first; without one, the innermost."""
    frames = list(stack_of(innermost))
    own = [frame for frame in frames if is_of_application(frame)] or frames[:1]
    return [line_of(frame, frame.f_lineno) for frame in own]
