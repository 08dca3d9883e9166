"""What the running code belongs to: an app, and one of its requests.

The serving code sets `current` at the start of each request and WebSocket, in the task
that serves it: what a lifespan sets is not seen by handlers. Everything started from
there inherits a copy (loaders, worker threads, jobs), so `get_app()` finds the right app
in all of them, however many apps one process runs.

One variable holds app and request id together, so entering a request is one
`set`, and a log line of a job shows the id of the request that enqueued it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import msgspec


class RequestContext(msgspec.Struct, frozen=True, eq=False):
    """What work done for one request or WebSocket belongs to."""

    app: Any
    """The `fxtrio.running_app.App`, which is made of parts that stand above this file."""

    request_id: str | None = None
    """The id in ``X-Request-Id``; None when observability is off."""


current: ContextVar[RequestContext | None] = ContextVar("fx", default=None)
"""What the running code belongs to; None outside a running app."""

prestarted: ContextVar[object] = ContextVar("fx-prestarted", default=None)
"""The `fxtrio.ssr.prestart.Prestarted` of `fx serve`: Node processes for the app to come."""

developing: ContextVar[Any] = ContextVar("fx-developing", default=None)
"""The `fxtrio.app.Development` of `fx dev`, which the app to come belongs to."""


def current_app() -> Any:
    """Return the running app, or None outside of one.

    For the parts of the framework that the app is made of: each knows the type of its
    own attribute. Everybody else calls `fxtrio.running_app.get_app`, which is typed.
    """
    context = current.get()
    return None if context is None else context.app


def get_request_id() -> str | None:
    """Return the id of the request the running code works for, if it has one."""
    context = current.get()
    return None if context is None else context.request_id


@contextmanager
def entered(app: Any, request_id: str | None = None) -> Iterator[RequestContext]:
    """Let the block's code, and what it starts, belong to ``app`` and ``request_id``."""
    context = RequestContext(app, request_id)
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
