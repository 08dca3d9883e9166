"""Runs a page's ``websocket(ws)`` handler from the handshake to the close frame.

A handler that returns closes with 1000, one that raises with 1011 (1013 if only the broker
is unreachable), and a shutdown with 1001; the code that admitted the client may close it with
another code (`Ending`). When the client disconnects first, a receiving handler gets the
disconnect, a sending one WebSocketDisconnect, and any other is cancelled: at once if it has
never received, else after a grace period. One that outlives its client for so long is logged,
also if it does not end then.
"""

from __future__ import annotations

import inspect
import logging
import traceback
from collections.abc import Awaitable, Callable

import trio
from starlette.exceptions import WebSocketException
from starlette.responses import PlainTextResponse
from starlette.types import Message, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from fxtrio.application_errors import application_error
from fxtrio.clients import client_network
from fxtrio.encode import valid_text
from fxtrio.errors import BrokerUnreachable, Busy, ClientDisconnected, MessageTooLarge
from fxtrio.realtime.broker import ChannelNameInvalid
from fxtrio.realtime.close import find_ending
from fxtrio.realtime.receive_buffer import Inbox
from fxtrio.realtime.send_buffer import BROKER_AWAY, TRY_AGAIN_LATER
from fxtrio.receive_budget import REASON
from fxtrio.tracebacks import first_of, line_in_application, trimmed

Handler = Callable[[WebSocket], Awaitable[object]]

NORMAL, GOING_AWAY, POLICY_VIOLATION, MESSAGE_TOO_BIG, INTERNAL_ERROR = 1000, 1001, 1008, 1009, 1011

OWN_CODES = 4000
"""Close codes from here on are the application's (RFC 6455, section 7.4.2)."""

GRACE = 30.0
"""How long a handler may run after its client disconnected, from the last message on (seconds)."""

_CLOSE_LIMIT = 5.0
_SHUTDOWN_CLOSE_LIMIT = 1.0
"""How long sending a close frame may take (seconds)."""

_REASON_LIMIT = 123
"""Bytes of a close reason (RFC 6455, section 5.5)."""

log = logging.getLogger("fx.realtime")


async def serve_websocket(
    handler: Handler, ws: WebSocket, *, place: str = "websocket()", grace: float = GRACE
) -> None:
    """Run ``handler`` for ``ws``, whose handshake may not have been received yet.

    The handler gets its own WebSocket over the same connection. ``place`` names it
    in the log. Raises nothing but cancellation.
    """
    connecting = ws.client_state is WebSocketState.CONNECTING
    inbox = Inbox(ws.receive, connecting=connecting, address=client_network(ws.scope))

    socket = type(ws)(ws.scope, inbox.receive, _sender(ws, inbox, place))
    socket.client_state, socket.application_state = ws.client_state, ws.application_state
    code, reason = NORMAL, ""
    with inbox.known_to(ws.scope):
        try:
            async with trio.open_nursery() as nursery:
                inbox.give_up = nursery.cancel_scope.cancel
                await inbox.read_handshake()
                nursery.start_soon(_attend, inbox, nursery, place, grace)
                try:
                    await handler(socket)
                except BaseException as raised:
                    # Not in a variable: this frame is in its traceback, and holds all there is.
                    code, reason = _judge(application_error(raised), place, socket)
                finally:
                    inbox.end()
                nursery.cancel_scope.cancel()
        except BaseException:
            ending = find_ending(ws.scope)
            said = None if ending is None else ending.closing
            with trio.CancelScope(shield=True), trio.move_on_after(_SHUTDOWN_CLOSE_LIMIT):
                await _close(socket, *(said or (GOING_AWAY, "the server shuts down")))
            raise
        if inbox.crowded:
            code, reason = TRY_AGAIN_LATER, REASON
        if inbox.disconnect is None:
            with trio.move_on_after(_CLOSE_LIMIT):
                await _close(socket, code, reason)


def _sender(ws: WebSocket, inbox: Inbox, place: str) -> Send:
    """Return the ``send`` of a handler."""

    async def send(message: Message) -> None:
        # As an OSError, which Starlette converts to WebSocketDisconnect after `accept`.
        if inbox.disconnect is not None:
            raise ClientDisconnected
        try:
            if message["type"] == "websocket.close":
                message = _valid(message, place)
            if (
                ws.application_state is WebSocketState.CONNECTING
                and message["type"] == "websocket.close"
                and message.get("code", NORMAL) >= OWN_CODES
            ):
                # A rejected handshake has no code. A browser learns the reason, and does
                # not try again, only after an accept. The inbox receives the handshake.
                await ws.send({"type": "websocket.accept", "subprotocol": None, "headers": []})
            try:
                await ws.send(message)
            except UnicodeEncodeError:
                await ws.send(_valid(message, place))
        except (WebSocketDisconnect, OSError) as error:
            raise ClientDisconnected from error

    return send


def _valid(message: Message, place: str) -> Message:
    """Return a message with its invalid Unicode replaced."""
    return {
        key: valid_text(value, place=place) if isinstance(value, str) else value
        for key, value in message.items()
    }


async def _attend(inbox: Inbox, nursery: trio.Nursery, place: str, grace: float) -> None:
    """Read ahead until the client disconnects, then see to it that the handler ends."""
    try:
        await inbox.run()
    except trio.Cancelled:  # and the handler with it, if it is not over
        await _wait_end(inbox, nursery, place, grace)
        raise
    if not inbox.wanted:
        nursery.cancel_scope.cancel()
    await _wait_end(inbox, nursery, place, grace)


async def _wait_end(inbox: Inbox, nursery: trio.Nursery, place: str, grace: float) -> None:
    """Wait for the end of the handler; log and cancel it when the grace is over."""
    if await inbox.wait_end(nursery, grace):
        return
    if inbox.disconnect is None:
        log.warning("%s still runs %g s after it was cancelled", place, grace)
    else:
        log.warning(
            "%s ran for %g s after its client had disconnected, and was cancelled", place, grace
        )
    nursery.cancel_scope.cancel()


def _judge(failure: BaseException, place: str, socket: WebSocket) -> tuple[int, str]:
    """Return the close code and reason for a handler's failure, and log a defect."""
    if isinstance(failure, BaseExceptionGroup):
        disconnects, others = failure.split(
            (WebSocketDisconnect, ClientDisconnected, BrokerUnreachable, Busy)
        )
        if others is not None:
            failure = others
        elif disconnects is not None:
            failure = first_of(disconnects)
    if isinstance(failure, ClientDisconnected):
        return NORMAL, ""
    if isinstance(failure, BrokerUnreachable):
        log.error("%s failed: %s", place, failure)
        return TRY_AGAIN_LATER, BROKER_AWAY
    if isinstance(failure, MessageTooLarge):
        log.warning("%s ended: %s", place, failure)  # most often a client's text, sent on
        return MESSAGE_TOO_BIG, "the message is too large"
    if isinstance(failure, ChannelNameInvalid):
        log.warning("%s ended: %s", place, failure)  # most often a name that a visitor chose
        return POLICY_VIOLATION, "there is no such channel"
    if isinstance(failure, Busy):
        log.error("%s failed: %s", place, failure)
        return TRY_AGAIN_LATER, failure.message
    if isinstance(failure, WebSocketException):
        return failure.code, failure.reason
    if isinstance(failure, WebSocketDisconnect):
        return (failure.code, failure.reason) if _may_be_sent(failure.code) else (NORMAL, "")
    # Starlette raises RuntimeError for a WebSocket that is used too early.
    unanswered = socket.application_state is WebSocketState.CONNECTING
    if unanswered and isinstance(failure, RuntimeError) and _is_of_starlette(failure):
        line = line_in_application(failure)
        at = f"in line {line} " if line else ""
        log.error(
            "%s: %sit receives or sends before the handshake is answered. "
            "Call 'await ws.accept()' first.",
            place,
            at,
        )
    else:
        log.error("%s failed", place, exc_info=trimmed(failure))
    return INTERNAL_ERROR, "an unexpected error occurred"


def _is_of_starlette(failure: BaseException) -> bool:
    """Tell whether a WebSocket itself has raised ``failure``."""
    frames = traceback.extract_tb(failure.__traceback__)
    return bool(frames) and frames[-1].filename == inspect.getfile(WebSocket)


def _may_be_sent(code: int) -> bool:
    """Tell whether a close frame may carry ``code`` (RFC 6455, section 7.4)."""
    return (1000 <= code <= 1014 and code not in (1004, 1005, 1006)) or 3000 <= code <= 4999


async def _close(socket: WebSocket, code: int, reason: str) -> None:
    """Close a connection that the handler left open: reject it, or send a close frame."""
    try:
        if socket.application_state is WebSocketState.CONNECTED:
            await socket.close(code, _cut(reason))
        elif socket.application_state is WebSocketState.CONNECTING:
            await _reject_handshake(socket, code)
    except (WebSocketDisconnect, OSError):
        log.debug("The client disconnected before the WebSocket could be closed with %d", code)


async def _reject_handshake(socket: WebSocket, code: int) -> None:
    """Reject a handshake that the handler did not accept: 403, or 5xx if the handler failed."""
    status = {INTERNAL_ERROR: 500, GOING_AWAY: 503, TRY_AGAIN_LATER: 503}.get(code)
    if status is not None and "websocket.http.response" in (socket.scope.get("extensions") or {}):
        response = PlainTextResponse("The connection could not be opened.\n", status)
        await socket.send_denial_response(response)
    else:
        await socket.close(code)


def _cut(reason: str) -> str:
    return reason.encode()[:_REASON_LIMIT].decode(errors="ignore")
