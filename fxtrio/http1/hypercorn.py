"""The adapter between Hypercorn's objects and ours: all that HTTP/1.1 knows of Hypercorn.

`services_of` turns what Hypercorn gives a connection into `Services`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.logging import Logger
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, LifespanState

from fxtrio.http1.hub import Hub
from fxtrio.http1.limits import ServerLimits
from fxtrio.http1.services import Application, Note, Services

Http2 = Callable[..., Awaitable[None]]
"""Serves HTTP/2: Hypercorn's ``app, config, context, state, stream``, and a `Handover`."""


def limits_of(config: Config) -> ServerLimits:
    """Return the attribute ``limits`` of a config; the defaults where it has none."""
    limits: ServerLimits | None = getattr(config, "limits", None)
    return limits or ServerLimits()


def hub_for(config: Config) -> Hub:
    """Return a hub for a worker with this config. Whoever asked runs it."""
    return Hub(
        limits_of(config),
        headers=partial(config.response_headers, "h11"),
        graceful=config.graceful_timeout,
    )


def services_of(
    app: AppWrapper,
    config: Config,
    context: WorkerContext,
    state: LifespanState,
    *,
    hub: Hub,
    note: Note | None,
    serve_http2: Http2,
) -> Services:
    """Return the services of a worker that has a hub already."""
    return Services(
        app=_plain_application(app),
        hub=hub,
        limits=hub.limits,
        log=config.log,
        state=state,
        serve_http2=partial(serve_http2, app, config, context, state),
        count=None if context.max_requests is None else context.mark_request,
        note=note,
        root_path=config.root_path,
        server_names=tuple(config.server_names),
        handshake_time=config.ssl_handshake_timeout,
    )


def note_of(config: Config) -> Note | None:
    """Return what puts a request into Hypercorn's access log; None when it writes none."""
    log = config.log
    if log.access_logger is None and type(log).access is Logger.access:
        return None

    async def note(scope: Any, status: int | None, sent: int, seconds: float) -> None:
        summary: Any = None
        if status is not None:
            summary = {"status": status, "headers": [(b"content-length", b"%d" % sent)]}
        await log.access(scope, summary, seconds)

    return note


def _plain_application(app: AppWrapper) -> Application:
    """Return what Hypercorn wrapped, as the ASGI application that it is or becomes."""
    if type(app) is ASGIWrapper:
        return app.app

    async def wrapped(scope: Any, receive: Any, send: Any) -> None:
        await app(scope, receive, send, trio.to_thread.run_sync, trio.from_thread.run)

    return wrapped
