"""Has one request answered by the application, whatever the application does."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.typing import AppWrapper

from fxtrio.errors import ClientDisconnected
from fxtrio.http1.exchange import Exchange
from fxtrio.http1.request import Refusal, Request
from fxtrio.http1.response import DONE, HEAD_SENT
from fxtrio.http1.target import BadTarget, split_target

if TYPE_CHECKING:
    from fxtrio.http1.connection import Connection

_foreign = (trio.Cancelled, GeneratorExit, KeyboardInterrupt)

Scope = MutableMapping[str, Any]
Application = Callable[..., Awaitable[None]]


def plain_application(app: AppWrapper) -> Application:
    """Return what Hypercorn wrapped, as the ASGI application that it is or becomes."""
    if type(app) is ASGIWrapper:
        return app.app

    async def wrapped(scope: Any, receive: Any, send: Any) -> None:
        await app(scope, receive, send, trio.to_thread.run_sync, trio.from_thread.run)

    return wrapped


async def answer(connection: Connection, request: Request) -> bool:
    """Run the application for ``request``. Return whether the connection can serve another."""
    hub, peer = connection.hub, connection.peer
    try:
        path, raw_path, query = split_target(request)
    except BadTarget as error:
        return await _refuse(connection, Refusal(400, str(error)))
    names = connection.config.server_names
    if names and request.host.decode("latin-1") not in names:
        return await _refuse(connection, Refusal(404, f"not one of our names: {request.host!r}"))
    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": request.version,
        "method": request.method,
        "scheme": "https" if peer.secure else "http",
        "path": path,
        "raw_path": raw_path,
        "query_string": query,
        "root_path": connection.config.root_path,
        "headers": request.headers,
        "client": peer.client,
        "server": peer.server,
        "state": connection.state.copy(),
        "extensions": {},
    }
    exchange = Exchange(
        connection, request, request.keep_alive and connection.served < hub.limits.requests
    )
    began = time.perf_counter() if hub.logs_access else 0.0
    try:
        await connection.app(scope, exchange.receive, exchange.send)
    except BaseException as error:
        await _explain(connection, exchange, error)
    stage, status = exchange.stage, exchange.status
    await exchange.end()
    if stage != DONE:
        exchange.keep_alive = False
        status = await _complete(connection, stage, status)
    if hub.logs_access:
        await hub.note(scope, status, exchange.sent, time.perf_counter() - began)
    if connection.context.max_requests is not None:
        await connection.context.mark_request()
    if not request.complete:
        connection.linger = True
        return False
    return exchange.keep_alive and not connection.wire.broken


async def _complete(connection: Connection, stage: int, status: int | None) -> int | None:
    """Answer for an application that did not. Return the status that the client got."""
    if stage == HEAD_SENT:
        return status  # cut off: the client sees that the body is not whole
    if connection.wire.broken:
        return None
    refusal = connection.reader.refusal or Refusal(500, "the application did not answer")
    await connection.refuse(refusal)
    return refusal.status


async def _explain(connection: Connection, exchange: Exchange, error: BaseException) -> None:
    """Log what the application raised; raise again what is not its own."""
    own: BaseException | None = error
    if isinstance(error, BaseExceptionGroup):
        foreign, own = error.split(_foreign)
        if foreign is not None:
            raise foreign
        if own is not None and own.split(ClientDisconnected)[1] is None:
            return
    elif isinstance(error, _foreign):
        raise error
    if isinstance(own, ClientDisconnected):
        return
    place = f"{exchange.request.method} {exchange.request.target.decode('ascii')}"
    if exchange.left:
        # Its client left, or broke off: whatever came of that is no defect of ours or of it.
        await connection.config.log.info("%s: ended with %r after its client", place, error)
    else:
        await connection.config.log.error("%s: the application failed", place, exc_info=error)


async def _refuse(connection: Connection, refusal: Refusal) -> bool:
    await connection.refuse(refusal)
    return False
