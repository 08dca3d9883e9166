"""What holds the event loop for too long is logged, once for each place.

A thread asks the loop to answer, and looks at its stack when no answer comes: requests and steps
of tasks cost nothing. A stall of one and a half times the limit is always noticed, a shorter one
above the limit when the question came at its beginning.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from types import FrameType

import trio

from fxtrio.context import counting
from fxtrio.observe.places import is_of_application, line_of, stack_of

_MOST = 1000  # places that are remembered
_DEEPEST = 12  # lines of a stack that are logged

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
        if answered.wait(limit) or stop.is_set():
            continue
        lines = _lines(sys._current_frames().get(loop))
        place = lines[0] if lines else ""
        if not answered.is_set() and place not in reported and len(reported) < _MOST:
            reported.add(place)
            log.warning(
                "%s: blocked the event loop for more than %g s, which delays all requests. Call "
                "it in a thread: 'await trio.to_thread.run_sync(function, argument)'.%s",
                place or "fxtrio",
                limit,
                "".join(f"\n  called at {line}" for line in lines[1:_DEEPEST]),
            )
        while not answered.wait(limit):  # one that has ended answers nothing more
            if stop.is_set():
                return


def _lines(innermost: FrameType | None) -> list[str]:
    """Return the application's lines of a stack, innermost first; without one, the innermost."""
    frames = list(stack_of(innermost))
    own = [frame for frame in frames if is_of_application(frame)] or frames[:1]
    return [line_of(frame, frame.f_lineno) for frame in own]
