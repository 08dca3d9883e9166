"""What a job is: how its callable is named, recognised, and driven."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from functools import partial
from types import CodeType, FrameType
from typing import Any

from fxtrio.callables import called_by
from fxtrio.manifest import MODULE_PREFIX

_PAGES = re.compile(rf"^{MODULE_PREFIX}[0-9a-f]+\.")
"""What is in front of the name of a page file's module (`fxtrio.imports`)."""


@types.coroutine
def drive(
    context: Context, coroutine: Coroutine[Any, Any, object], trap: Any
) -> Generator[Any, Any, None]:
    """Run a coroutine that waits in ``trap`` to its end, in ``context``, in the calling task."""
    while True:
        resume: Callable[[Any], Any] = coroutine.send
        try:
            value = yield trap
        except BaseException as error:
            value, resume = error, coroutine.throw
        try:
            trap = context.run(resume, value)
        except StopIteration:
            return


_DRIVE: CodeType = inspect.unwrap(drive).__code__


def driven_by(frame: FrameType) -> tuple[Context, Coroutine[Any, Any, object]] | None:
    """Return the context and the coroutine that `drive` runs in ``frame``; None for another."""
    if frame.f_code is not _DRIVE:
        return None
    known = frame.f_locals
    return known["context"], known["coroutine"]


def is_async(func: Callable[..., object]) -> bool:
    """Tell whether calling ``func`` gives a coroutine and runs none of its code.

    Raises TypeError for an asynchronous generator function, of which nothing would run.
    """
    called = called_by(func)
    if inspect.isasyncgenfunction(called):
        name = name_of(called)
        raise TypeError(f"{name} is an asynchronous generator. Enqueue what iterates it.")
    return inspect.iscoroutinefunction(called)


def name_of(func: object) -> str:
    """Return ``module.qualified_name`` of a callable, without its partials.

    The modules of page files are called like their files.
    """
    while isinstance(func, partial):
        func = func.func
    if not hasattr(func, "__qualname__"):
        func = type(func)
    module = _PAGES.sub("", getattr(func, "__module__", None) or "builtins")
    return f"{module}.{getattr(func, '__qualname__', func)}"


def not_callable(value: object) -> str:
    """Say what to enqueue instead, and close a coroutine that nobody will await."""
    if hasattr(value, "__fx_job__"):
        name = getattr(value, "name", "").rpartition(".")[2]
        return (
            f"{name} is a durable job (@job), and this queue is lost with its process: write "
            f"await {name}.enqueue(…) instead of enqueue({name}, …)."
        )
    if inspect.iscoroutine(value):
        value.close()
        return (
            f"enqueue() takes a function, not the coroutine it returned: write "
            f"enqueue({value.__name__}, …) instead of enqueue({value.__name__}(…))."
        )
    return f"enqueue() takes a function, not {value!r:.80}."
