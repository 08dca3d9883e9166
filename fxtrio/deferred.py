"""`defer`: a value of a loader that is sent later, in the same response.

Page files import it from `fx.runtime`; `fxtrio.serve.pages.deferred.values` calls the functions.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar, TypeVarTuple, Unpack

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


class Deferred(Generic[T]):
    """A call that has not started. Created by `defer`."""

    # No attrs class: the encoder would send its attributes.
    __slots__ = ("_arguments", "_function")

    json_remedy = (
        "Only the values of the dict that a loader returns can be deferred: "
        'write {"key": defer(…)} there, and nothing around it.'
    )
    """What the error says about one in another place."""

    def __init__(self, function: Callable[..., Awaitable[T]], arguments: tuple[Any, ...]) -> None:
        self._function = function
        self._arguments = arguments

    def __repr__(self) -> str:
        return f"defer({getattr(self._function, '__qualname__', self._function)})"

    async def call(self) -> T:
        """Call the function, and return its result. Raises TypeError for one that is not async."""
        result: Any = self._function(*self._arguments)
        if not inspect.isawaitable(result):
            raise TypeError(
                f"{self!r}: returned {result!r:.80} ({type(result).__name__}), which cannot be "
                "awaited. Pass a function that is defined with 'async def' and does not yield."
            )
        value: T = await result
        return value


def defer(
    function: Callable[[Unpack[Arguments]], Awaitable[T]], *arguments: *Arguments
) -> Deferred[T]:
    """Return a placeholder for ``await function(*arguments)``, for the dict that a loader returns.

    The page is sent without waiting for the value; its component gets a promise, which `Await`
    of `fx/client` shows. Raises TypeError if ``function`` is not a function.
    """
    if inspect.iscoroutine(function):
        name = function.__name__
        function.close()
        raise TypeError(f"defer: got a coroutine. Pass the function: defer({name}, …).")
    if not callable(function):
        raise TypeError(f"defer: {function!r:.80} is not a function. Pass an async function.")
    return Deferred(function, arguments)
