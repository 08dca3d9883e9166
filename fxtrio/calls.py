"""Functions of the application that may be plain: called where they cannot hold the event loop.

An ``async def`` function is awaited; a plain one runs in a worker thread, with the context
variables of its caller.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import trio

from fxtrio.tracebacks import trimmed

THREADS = 40
"""Plain functions that run at the same time; more wait for their turn (count)."""

_threads: trio.lowlevel.RunVar[trio.CapacityLimiter] = trio.lowlevel.RunVar("fx-calls")

log = logging.getLogger("fx.serve")


def is_async(function: Callable[..., object]) -> bool:
    """Tell whether calling ``function`` gives a coroutine and runs none of its code."""
    return inspect.iscoroutinefunction(called_by(function))


def called_by(function: Callable[..., object]) -> Callable[..., object]:
    """Return what runs when ``function`` is called: without partials, of an object its method."""
    while isinstance(function, partial):
        function = function.func
    if not inspect.isroutine(function) and not isinstance(function, type):
        return type(function).__call__
    return function


def awaitable(function: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    """Return a function that is awaited, whatever ``function`` is.

    A plain one runs in a thread: what cancels the call, such as its deadline, is answered at
    once, while the thread, which nobody can stop, goes on to its end and keeps its place
    among `THREADS`; what it raises then is logged. A plain wrapper of an async function is
    called at once, since all that it does is to return the coroutine.
    """
    if is_async(function):
        return function
    if is_async(inspect.unwrap(function)):
        return partial(_call_wrapper, function)
    return partial(_call_in_thread, function)


async def _call_wrapper(function: Callable[..., Any], *args: Any) -> Any:
    value = function(*args)
    return await value if inspect.isawaitable(value) else value


async def _call_in_thread(function: Callable[..., Any], *args: Any) -> Any:
    abandoned = False

    def run() -> list[Any]:
        try:
            # In a list, since trio takes a bare coroutine from a thread for a mistake.
            return [function(*args)]
        except Exception as error:
            if abandoned:
                name = getattr(function, "__qualname__", function)
                log.error("%s failed, after its deadline", name, exc_info=trimmed(error))
            raise

    try:
        [value] = await trio.to_thread.run_sync(run, limiter=_limiter(), abandon_on_cancel=True)
    except trio.Cancelled:
        abandoned = True
        raise
    return await value if inspect.isawaitable(value) else value


def _limiter() -> trio.CapacityLimiter:
    """Return that of this trio run, which every app in it shares."""
    try:
        return _threads.get()
    except LookupError:
        limiter = trio.CapacityLimiter(THREADS)
        _threads.set(limiter)
        return limiter
