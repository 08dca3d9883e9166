"""The running app, and the context variable that leads to it.

`App` is the handle the lifespan makes once everything it names is open. The
serving code sets `current` to a `RequestContext` at the start of each request
and WebSocket, in the task that serves it: what a lifespan sets is not seen by
handlers. Everything started from there inherits a copy (loaders, worker threads,
jobs), so `get_app()` finds the right app in all of them, however many apps one
process runs.

One variable holds app and request id together, so entering a request is one
`set`, and a log line of a job shows the id of the request that enqueued it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import attrs

from fxtrio.errors import FxtrioError

if TYPE_CHECKING:
    from starlette.datastructures import State

    from fxtrio.cache import Cache
    from fxtrio.config import Config
    from fxtrio.portal import AsyncioPortal
    from fxtrio.realtime import Authenticator, Broker
    from fxtrio.tasks import TaskQueue


class AuthenticatorTaken(FxtrioError):
    """Two plugins want to say who connections belong to."""

    def __init__(self, kept: object, other: object) -> None:
        super().__init__(
            f"plugins: {type(other).__qualname__} and {type(kept).__qualname__} both say who is "
            "signed in. Take one of them out of 'plugins'."
        )


@attrs.frozen(kw_only=True, eq=False)
class App:
    """A running app. Valid until the lifespan that made it ends."""

    config: Config
    """The settings the app was started with."""

    tasks: TaskQueue
    """Background jobs, also at ``app.state.fx_tasks``."""

    broker: Broker
    """The default broker of channels, also at ``app.state.fx_broker``."""

    state: State
    """``app.state`` of the ASGI application."""

    cache: Cache | None = None
    """Kept responses of pages with ``CACHE``; None in development."""

    portal: AsyncioPortal | None = None
    """The asyncio loop for libraries that know no other; see `fx.asyncio`."""

    plugins: dict[str, Any] = attrs.field(factory=dict)
    """What each open plugin yielded, by plugin name, in the order they opened.

    The lifespan adds to it, so a plugin sees the ones opened before it.
    """

    resolve: Callable[[str], Any] | None = None
    """Returns what a dotted name in the settings stands for, ``module:attribute``."""

    _authenticators: list[Authenticator] = attrs.field(init=False, factory=list)

    @property
    def authenticator(self) -> Authenticator | None:
        """Who knows the users of connections; None without such a plugin."""
        return self._authenticators[-1] if self._authenticators else None

    @contextmanager
    def authenticated_by(self, service: Authenticator) -> Iterator[None]:
        """Let ``service`` say who connections belong to, for as long as the block lasts.

        A plugin calls it in its `open`. Raises AuthenticatorTaken when another one has.
        """
        if self._authenticators:
            raise AuthenticatorTaken(self._authenticators[-1], service)
        self._authenticators.append(service)
        try:
            yield
        finally:
            self._authenticators.remove(service)


@attrs.frozen(eq=False)
class RequestContext:
    """What work done for one request or WebSocket belongs to."""

    app: App

    request_id: str | None = None
    """The id in ``X-Request-Id``; None when observability is off."""


current: ContextVar[RequestContext | None] = ContextVar("fx", default=None)
"""What the running code belongs to; None outside a running app."""

prestarted: ContextVar[object] = ContextVar("fx-prestarted", default=None)
"""The `fxtrio.ssr.prestart.Prestarted` of `fx serve`: Node processes for the app to come."""


def get_app() -> App | None:
    """Return the app the running code belongs to, or None outside a running app."""
    context = current.get()
    return None if context is None else context.app


def get_request_id() -> str | None:
    """Return the id of the request the running code works for, if it has one."""
    context = current.get()
    return None if context is None else context.request_id


@contextmanager
def entered(app: App, request_id: str | None = None) -> Iterator[RequestContext]:
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
