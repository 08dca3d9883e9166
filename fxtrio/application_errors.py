"""Distinguishes errors of application code from those that end the code that has called it.

Application code may raise anything, `BaseException` included. Whoever calls it catches all
of it, and hands it to `application_error`, which lets the caller's own end pass.
"""

from __future__ import annotations

import logging
from math import inf
from types import TracebackType
from typing import NoReturn

import trio

from fxtrio.errors import PlacedError
from fxtrio.tracebacks import trimmed

log = logging.getLogger("fx.serve")


class NoExceptionRaised(PlacedError):
    """Application code raised no Exception but a BaseException, such as KeyboardInterrupt.

    Stands for it on the way to the server, which such a thing would end.
    """

    remedy = "Raise an Exception"

    def __init__(self, raised: BaseException) -> None:
        super().__init__("", f"The application raised {raised!r:.80}")


def leave_to_server(error: BaseException) -> NoReturn:
    """Raise an error of the application as one that the server survives."""
    try:
        if isinstance(error, Exception):
            raise error
        raise NoExceptionRaised(error) from error
    finally:
        del error  # this frame is in its traceback: they would hold each other


def application_error(raised: BaseException) -> BaseException:
    """Return what application code has raised, to be logged and answered.

    For an ``except BaseException`` around a call of application code, inside of the cancel
    scopes of the caller. Reraises errors that are not the application's own: a cancellation
    that reaches the caller too, a real Ctrl-C, the end of a coroutine that is closed. Of a
    group with both, the application's part is logged here.
    """
    if isinstance(raised, Exception):
        return raised
    passing: BaseException | None = None
    own: BaseException | None = None
    try:
        if isinstance(raised, BaseExceptionGroup):
            passing, own = raised.split(_ends_caller)
        elif _ends_caller(raised):
            passing = raised
        if passing is None:
            return raised
        if own is not None:
            log.error("failed while it was cancelled", exc_info=trimmed(own))
        raise passing
    finally:
        del raised, passing, own  # this frame is in their tracebacks: they would hold each other


def is_cancelled() -> bool:
    """Whether a scope around the running code is cancelled: only then is a `Cancelled` its."""
    return trio.current_effective_deadline() == -inf


def _ends_caller(error: BaseException) -> bool:
    """Whether ``error`` came from outside of the application's call."""
    if isinstance(error, trio.Cancelled):
        # One that was stored, and raised again out of its scope, is an error like any other.
        return is_cancelled()
    trace = error.__traceback__
    if isinstance(error, GeneratorExit):
        # A coroutine that is closed gets one in each of its frames, and not from a deeper one.
        return trace is None or trace.tb_next is None
    return isinstance(error, KeyboardInterrupt) and _is_raised_by_trio(trace)


def _is_raised_by_trio(trace: TracebackType | None) -> bool:
    """Whether the innermost frame is trio's, whose signal handler raises KeyboardInterrupt."""
    if trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    module: str = trace.tb_frame.f_globals.get("__name__", "")
    return module.partition(".")[0] == "trio"
