"""Has one request answered by the application, whatever the application does."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVarTuple

import trio

from fxtrio.asgi_extensions import RAW_FRAMES, WHOLE_RESPONSE
from fxtrio.errors import ClientDisconnected
from fxtrio.send_budget import process_unsent
from fxtrio.server.http1.connection_context import ClientConnection, Scope
from fxtrio.server.http1.http_stream import HttpStream
from fxtrio.server.http1.request import RejectedRequest, Request
from fxtrio.server.http1.response import CLIENT_LEFT, DONE, HEAD_SENT
from fxtrio.server.http1.target import BadTarget, split_target

Ts = TypeVarTuple("Ts")

_with_port = re.compile(r":\d*$")

_NO_SCOPE: Scope = {}

_OF_EACH = ("scheme", "asgi", "headers", "client", "server", "state", "extensions")

_foreign = (trio.Cancelled, GeneratorExit, KeyboardInterrupt)


# Without a frame of its own, which each request would pay for.
def answer(
    connection: ClientConnection, request: Request, *, admitted: bool = False
) -> Coroutine[Any, Any, bool]:
    """Run the application for ``request``. Return whether the connection can serve another.

    ``admitted``: it need not wait though too much is left unread.
    """
    services = connection.services
    scope = _open_scope(connection, request)
    if isinstance(scope, RejectedRequest):
        return _reject(connection, scope)
    if process_unsent.used > process_unsent.capacity and not admitted:  # without a call
        return _answer_in_turn(connection, request)
    keep_alive = request.keep_alive and connection.served < connection.limits.requests
    stream = HttpStream(connection, request, scope, keep_alive)
    scope["extensions"] = {WHOLE_RESPONSE: stream}
    if services.note is not None:
        stream.began = time.perf_counter()
    return _run(connection, stream, services.app, scope, stream.receive, stream.send)


async def _reject(connection: ClientConnection, rejection: RejectedRequest) -> bool:
    await connection.reject(rejection)
    return False


async def resume(connection: ClientConnection, stream: HttpStream) -> bool:
    """Answer a request whose call was interrupted, as `answer` does."""
    call, stream.resume = stream.resume, None
    await connection.transport.flush()  # which may have been interrupted
    return await _run(connection, stream, call or trio.lowlevel.checkpoint)


async def _run(
    connection: ClientConnection,
    stream: HttpStream,
    call: Callable[[*Ts], Awaitable[None]],
    *args: *Ts,
) -> bool:
    """Call the application, and end its request."""
    services, request = connection.services, stream.request
    try:
        await call(*args)
    except BaseException as error:
        await _explain(connection, request, error, left=stream.left)
    if connection.interrupted is not None:  # the scope is cancelled: the request goes on behind it
        await trio.lowlevel.checkpoint()
    stage = stream.stage
    stream.stage = DONE  # from here on, nothing of this stream touches the connection
    if stream.shared:
        await stream.release()
    status = None
    if stage != DONE:
        stream.keep_alive = False
        status = await _complete(connection, stream, stage)
    if services.note is not None:
        took = time.perf_counter() - stream.began
        status = stream.status if stage == DONE else status
        noted = services.note(stream.scope, status, stream.sent, took)
        if noted is not None:
            await noted
    stream.scope = _NO_SCOPE  # they refer to each other
    if services.count is not None:
        await services.count()
    if not request.complete:
        connection.linger = True
        return False
    return stream.keep_alive and not connection.transport.broken


async def _answer_in_turn(connection: ClientConnection, request: Request) -> bool:
    transport = connection.transport
    transport.count_for(connection.hub.share_of(connection.peer.client, request.headers))
    async with process_unsent.turn(transport.unread, request.target) as admitted:
        if admitted:
            return await answer(connection, request, admitted=True)
    await connection.reject(
        RejectedRequest(503, "too many bytes wait for clients that do not read")
    )
    return False


async def converse(connection: ClientConnection, request: Request) -> None:
    """Run the application for a request that offers a WebSocket, to the end of it."""
    # Heavy, and many apps have no WebSockets.
    from fxtrio.server.http1.websocket.handshake import read_offer
    from fxtrio.server.http1.websocket.stream import WsStream

    services = connection.services
    offer = read_offer(request, connection.limits)
    if isinstance(offer, RejectedRequest):
        await connection.reject(offer)
        return
    scope = _open_scope(connection, request)
    if isinstance(scope, RejectedRequest):
        await connection.reject(scope)
        return
    del scope["method"]
    scope["type"] = "websocket"
    scope["scheme"] = "wss" if connection.peer.secure else "ws"
    scope["subprotocols"] = offer.subprotocols
    scope["extensions"] = {"websocket.http.response": {}}
    connection.transport.count_for(connection.hub.share_of(connection.peer.client, request.headers))
    began = time.perf_counter()
    failed = False
    async with trio.open_nursery() as nursery:
        connection.websocket = websocket = WsStream(connection, offer, nursery)
        if offer.extensions is None:
            scope["extensions"][RAW_FRAMES] = {
                "send": websocket.send_frames,
                "write": websocket.write_frames,
            }
        try:
            try:
                await services.app(scope, websocket.receive, websocket.send)
            except BaseException as error:
                failed = await _explain(connection, request, error, left=websocket.left)
            await websocket.finish(failed=failed)
        finally:
            websocket.release()
        nursery.cancel_scope.cancel()
    connection.websocket = None  # they refer to each other
    if services.note is not None:
        noted = services.note(scope, websocket.status, 0, time.perf_counter() - began)
        if noted is not None:
            await noted
    if services.count is not None:
        await services.count()


def _open_scope(connection: ClientConnection, request: Request) -> Scope | RejectedRequest:
    """Return the scope of an HTTP request but its extensions, or why it is not taken."""
    services, peer, known = connection.services, connection.peer, request.known
    if known is not None and known.scope is not None:
        scope = known.scope.copy()
    else:
        try:
            path, raw_path, query = split_target(request, secure=peer.secure)
        except BadTarget as error:
            return RejectedRequest(error.status, str(error))
        names = services.server_names
        if names and not _is_named(request.host, names):
            return RejectedRequest(404, f"not a host of --server-name: {request.host!r}")
        scope = {
            "type": "http",
            "http_version": request.version,
            "method": request.method,
            "path": path,
            "raw_path": raw_path,
            "query_string": query,
            "root_path": services.root_path,
            # What each request has of its own is set below: a copy has room for it.
            **dict.fromkeys(_OF_EACH),
        }
        if known is not None:
            known.scope = scope
            scope = scope.copy()
    scope["scheme"] = "https" if peer.secure else "http"
    scope["asgi"] = {"version": "3.0", "spec_version": "2.3"}
    scope["headers"] = request.headers
    scope["client"] = peer.client
    scope["server"] = peer.server
    scope["state"] = dict(services.state)
    return scope


def _is_named(host: bytes, names: Sequence[str]) -> bool:
    """Whether a Host is one of ``names``: of any case, and on any port unless they name one."""
    whole = host.decode("latin-1").lower()
    bare = whole.rpartition(":")[0] if _with_port.search(whole) else whole
    return any(name.lower() in (whole, bare) for name in names)


async def _complete(connection: ClientConnection, stream: HttpStream, stage: int) -> int | None:
    """Answer for an application that did not. Return the status for the access log."""
    if stage == HEAD_SENT:
        # Cut off: the client sees that the body is not whole, or has to be told.
        if stream.ends_with_connection:
            connection.transport.reset_on_close()
        return stream.status
    rejection = connection.reader.rejection
    if connection.transport.broken or (stream.left and rejection is None):
        return CLIENT_LEFT
    rejection = rejection or RejectedRequest(500, "the application sent no response")
    await connection.reject(rejection)
    return rejection.status


async def _explain(
    connection: ClientConnection, request: Request, error: BaseException, *, left: bool
) -> bool:
    """Log what the application raised, and return whether it is a failure of its own.

    Raises again what is not the application's. ``left``: it knew that its client was gone.
    """
    foreign, defects = _split(error)
    if foreign is not None:
        try:
            raise foreign
        finally:
            del foreign, defects, error  # this frame is in its traceback: a cycle of all it has
    if defects is None:
        return False
    place = f"{request.method} {request.target.decode('ascii')}"
    if left:
        # Whatever came of the client's leaving is no defect of ours or of the application.
        await connection.services.log.info("%s: ended with %r after its client", place, error)
    else:
        await connection.services.log.error("%s: the application failed", place, exc_info=error)
    return True


def _split(error: BaseException) -> tuple[BaseException | None, BaseException | None]:
    """Return the errors that are not the application's, and those of the rest that are failures."""
    if isinstance(error, BaseExceptionGroup):
        foreign, own = error.split(_foreign)
        return foreign, None if own is None else own.split(ClientDisconnected)[1]
    if isinstance(error, _foreign):
        return error, None
    return None, None if isinstance(error, ClientDisconnected) else error
