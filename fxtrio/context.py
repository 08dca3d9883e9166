"""What the running code belongs to: an app, and one of its requests.

The serving code sets `current` at the start of each request and WebSocket, in the task
that serves it: what a lifespan sets is not seen by handlers. Everything started from
there inherits a copy (middleware, loaders, worker threads, jobs), so `get_app()` finds the
right app in all of them, however many apps one process runs.

Threads of `threading` begin without a copy, and ASGI code around an app runs before the app
does. Such code belongs to the app that runs in its process, as long as there is only one:
`running` says which. That an app runs is true of a process, so it is stored for the process.

One variable holds app and request id together, so entering a request is one
`set`, and a log line of a job shows the id of the request that enqueued it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:  # the renderer is started before Trio is imported
    import trio


class RequestContext(msgspec.Struct, frozen=True, eq=False):
    """What work done for one request or WebSocket belongs to."""

    app: Any
    """The `fxtrio.app_handle.App`, which consists of parts above this one."""

    request_id: str | None = None
    """The id in ``X-Request-Id``; None when observability is off."""

    draft: Any = None
    """The `ResponseDraft` of an HTTP request."""

    scope: Any = None
    """The ASGI scope of a request or WebSocket."""

    requester: Any = None
    """Of a durable job, the `fxtrio.requester.Requester` of what enqueued it."""


current: ContextVar[RequestContext | None] = ContextVar("fx", default=None)
"""What the running code belongs to; None outside a running app."""

prestarted: ContextVar[object] = ContextVar("fx-prestarted", default=None)
"""The `Prestarted` of `fx serve` (`fxtrio.ssr.process.prestart`): Node processes for the app."""

processes: ContextVar[int] = ContextVar("fx-processes", default=1)
"""How many processes serve the app, as far as the server of this one knows."""

counting: ContextVar[bool] = ContextVar("fx-counting", default=False)
"""Whether the app to come counts steps where others look at the real clock, as in tests."""

developing: ContextVar[Any] = ContextVar("fx-developing", default=None)
"""The `fxtrio.app.Development` of `fx dev`, which the app to come belongs to."""


class RunningHere(msgspec.Struct, frozen=True, eq=False):
    """An app that runs in this process, and the event loop that it runs on."""

    app: Any
    loop: trio.lowlevel.TrioToken


running: list[RunningHere] = []
"""The apps that run in this process, in the order in which they were opened."""


@contextmanager
def running_here(app: Any, loop: trio.lowlevel.TrioToken) -> Iterator[None]:
    """Let code that belongs to no app find ``app``, for as long as the block lasts."""
    here = RunningHere(app, loop)
    running.append(here)
    try:
        yield
    finally:
        running.remove(here)


def current_app() -> Any:
    """Return the running app, or None outside of one.

    That is the app that the running code was begun by; for code that was begun by none, the
    only app of the process, unless the code runs on another event loop of Trio.

    For the parts of the framework that the app consists of: each knows the type of its
    own attribute. Everybody else calls `fxtrio.app_handle.get_app`, which is typed.
    """
    context = current.get()
    if context is not None:
        return context.app
    here = tuple(running)  # other threads may open and close theirs
    if len(here) != 1 or _on_other_loop(here[0]):
        return None
    return here[0].app


def _on_other_loop(here: RunningHere) -> bool:
    import trio

    return trio.lowlevel.in_trio_run() and trio.lowlevel.current_trio_token() is not here.loop


def why_no_app() -> str:
    """Return why `current_app` has found none, and what to do, for a message."""
    count = len(running)
    if count > 1:
        return (
            f"{count} apps run in this process, and this code was begun by none of them. Begin "
            "it in a loader, an action, a handler or a job; a thread of its own with "
            "threading.Thread(target=contextvars.copy_context().run, args=(function,))"
        )
    if count:
        return "the app of this process runs on another event loop. Call it there"
    return (
        "no app of fxtrio runs here. Call it while the app runs: in a loader, an action, a "
        "handler, a job, middleware, what they start, or a test within 'open_app'"
    )


def get_request_id() -> str | None:
    """Return the id of the request the running code works for, if it has one."""
    context = current.get()
    return None if context is None else context.request_id


@contextmanager
def entered(
    app: Any, request_id: str | None = None, requester: Any = None
) -> Iterator[RequestContext]:
    """Let the block's code, and what it starts, belong to ``app`` and ``request_id``.

    ``requester`` is the `fxtrio.requester.Requester` of that request, if it is known.
    """
    context = RequestContext(app, request_id, requester=requester)
    token = current.set(context)
    try:
        yield context
    finally:
        current.reset(token)


def add_request_id(record: logging.LogRecord) -> bool:
    """Set ``record.request_id`` ("-" without one). A filter for logging handlers.

    Give it to a handler, ``handler.addFilter(add_request_id)``, and its format may
    use ``%(request_id)s``.
    """
    record.request_id = get_request_id() or "-"
    return True
