"""Calls of the application's code: where it cannot hold the event loop, nor end what called it.

An ``async def`` function is awaited; a plain one runs in a worker thread, with the context
variables of its caller. `contain` is for code that nobody waits for: whatever it raises is a
value there.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import trio

from fxtrio.application_errors import is_cancelled
from fxtrio.limiters import Purpose, limiter_of
from fxtrio.tracebacks import trimmed

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


def awaitable(
    function: Callable[..., Any], purpose: Purpose = "calls"
) -> Callable[..., Awaitable[Any]]:
    """Return a function that is awaited, whatever ``function`` is.

    A plain one runs in a thread: what cancels the call, such as its deadline, is answered at
    once, while the thread, which nobody can stop, goes on to its end and keeps its place
    among the threads of ``purpose``; what it raises then is logged. A plain wrapper of an async
    function is called at once, since all that it does is to return the coroutine.
    """
    if is_async(function):
        return function
    if is_async(inspect.unwrap(function)):
        return partial(_call_wrapper, function)
    return partial(_call_in_thread, function, purpose)


async def _call_wrapper(function: Callable[..., Any], *args: Any) -> Any:
    value = function(*args)
    return await value if inspect.isawaitable(value) else value


async def _call_in_thread(function: Callable[..., Any], purpose: Purpose, *args: Any) -> Any:
    abandoned = False

    def run() -> list[Any]:
        try:
            # In a list, since trio takes a bare coroutine from a thread for a mistake.
            return [function(*args)]
        except BaseException as error:
            if abandoned:
                name = getattr(function, "__qualname__", function)
                log.error("%s failed after its timeout", name, exc_info=trimmed(error))
            raise

    try:
        [value] = await trio.to_thread.run_sync(
            run, limiter=limiter_of(purpose), abandon_on_cancel=True
        )
    except trio.Cancelled:
        abandoned = True
        raise
    return await value if inspect.isawaitable(value) else value


async def contain(work: Callable[[], Awaitable[object]]) -> BaseException | None:
    """Await ``work()`` in a task and a nursery of its own; return what it raised, or None.

    Whatever that is: a group, `SystemExit`, the cancellation of another library, a `Cancelled`
    of a scope that it has left, the error of trio for scopes that it never left. It can cancel
    its own nursery and no other. The caller's own cancellation alone is raised.
    """
    failure: BaseException | None = None
    ended = False

    # Ctrl+C goes to the main task: here it would look like an error of the application.
    @trio.lowlevel.enable_ki_protection
    async def run() -> None:
        nonlocal failure, ended
        try:
            await work()
        except BaseException as error:
            failure = error
        else:
            ended = True

    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run, name=work)
    except BaseException as error:  # a group of trio's: of scopes in disorder, or our cancellation
        if not ended or not is_cancelled():
            failure = failure or error
    if failure is not None:
        await trio.lowlevel.checkpoint_if_cancelled()
    return failure
