"""The WebSocket side of a page: found like the page, guarded like it, run to its end."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import trio
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import Message, Send
from starlette.websockets import WebSocket, WebSocketState

from fxtrio.application_errors import application_error
from fxtrio.errors import ActionError, Busy, LoaderError, Redirect
from fxtrio.manifest import ApiRoute
from fxtrio.policy.open import Count
from fxtrio.policy.patterns import pattern_of
from fxtrio.realtime.close import known_ending
from fxtrio.realtime.handler import serve_websocket
from fxtrio.realtime.handshake import ORIGIN_UNCHECKED
from fxtrio.routes.matched import SCOPE_KEY, STARLETTE_KEY, FileKind
from fxtrio.serve.pages.error_response import log_failure, repeated_header
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.apply_route_policy import enter
from fxtrio.serve.request.bodies.third_party_bodies import require_plain
from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.hooks import run_hooks
from fxtrio.serve.request.requests import PageSocket
from fxtrio.serve.request.response.error_response import whole_seconds
from fxtrio.serve.request.response.translated import failure_response
from fxtrio.serve.request.response.unwrap import unwrap
from fxtrio.serve.request_span import name_by_starlette_route
from fxtrio.spans import span

Handler = Callable[[Any], Awaitable[None]]

_STATUSES = {"websocket.accept": 101, "websocket.close": 403}
"""The statuses of handshakes, where a message does not name its own."""

_CLOSE_LIMIT = 1.0
"""How long sending a close frame may take (seconds)."""

log = logging.getLogger("fx.realtime")


async def serve_socket(
    site: Site, event: RequestEvent, routes: list[BaseRoute], *, count: Count | None
) -> None:
    """Serve one WebSocket: call the page's or route's handler, or reject the handshake."""
    send = _accepting(event)
    socket = PageSocket(event.scope, event.receive, send)
    if event.repeated is not None:
        message = repeated_header(event.repeated).message
        await _reject(socket, failure_response(message, 400))
        return
    with known_ending(event.scope) as ending:
        for route in routes:
            match, child = route.matches(event.scope)
            if match is Match.FULL:
                pattern = pattern_of(route, site.config.base_url)
                event.scope[STARLETTE_KEY] = pattern
                if not await _admit(site, event, socket, pattern, count):
                    return
                event.scope.update(child)
                name_by_starlette_route(route, site.config.base_url)
                try:
                    require_plain(event.scope["headers"])
                except ActionError as error:
                    await _reject(socket, failure_response(error.message, error.status_code))
                    return
                await route.handle(event.scope, event.receive, _followed(socket, send))
                return
        await _serve_page(site, event, socket, count)
    if ending.closing is not None:
        await _send_close_frame(socket, send, *ending.closing)


async def _serve_page(
    site: Site, event: RequestEvent, socket: WebSocket, count: Count | None
) -> None:
    found = _find(site, event)
    if found is None:
        await _reject(socket, failure_response("Not found", 404))
        return
    handler, place, pattern, file = found
    if not await _admit(site, event, socket, pattern, count):
        return
    hooks = site.hooks.before(file, "websocket")
    try:
        answer = await run_hooks(hooks, socket, event.audience)
    except BaseException as raised:
        by = f"{place}: a route hook"
        answer = _hook_failed(unwrap(application_error(raised), event.draft, by), by)
    if isinstance(answer, Redirect):
        answer = Response(status_code=answer.status, headers={"location": answer.url})
    if answer is not None:
        await _reject(socket, answer)
        return
    if site.config.realtime.same_origin:
        event.scope[ORIGIN_UNCHECKED] = True
    with span("websocket", place):
        await serve_websocket(handler, socket, place=place)


async def _admit(
    site: Site, event: RequestEvent, socket: WebSocket, pattern: str, count: Count | None
) -> bool:
    """Apply the settings of a route; return False after they rejected the handshake."""
    if site.policies is None:
        return True
    await enter(event, site.policies, pattern, called=False, count=count)
    if event.rejection is None:
        return True
    await _reject(socket, failure_response(event.rejection.message, 429, event.draft.headers))
    return False


def _hook_failed(error: BaseException, place: str) -> Response | Redirect:
    if isinstance(error, Redirect):
        return error
    if isinstance(error, LoaderError):
        return failure_response(error.message, error.status_code)
    log_failure(error, place)
    if isinstance(error, Busy):
        later = {"retry-after": str(whole_seconds(error.retry_after))}
        return failure_response(error.message, 503, later)
    return failure_response("Internal Server Error", 500)


def _find(site: Site, event: RequestEvent) -> tuple[Handler, str, str, FileKind] | None:
    """Return the handler for the path, its name for the log, its route's pattern and file kind."""
    match = site.router.match(event.path, event.raw_path)
    if match is None:
        return None
    route, params = match
    event.scope["path_params"] = params
    event.scope[SCOPE_KEY] = site.matched["websocket", route.pattern]
    if isinstance(route, ApiRoute):
        handler = site.endpoints[route.source].websocket
        place = f"{route.source}: websocket()"
        return None if handler is None else (handler, place, route.pattern, "endpoint")
    code = site.plans[route.view].inner
    if code.websocket is None:
        return None
    return code.websocket, f"{code.module.source}: websocket()", route.pattern, "page"


async def _reject(socket: WebSocket, response: Response) -> None:
    """Reject the handshake with a response; servers without that extension send 403."""
    if (await socket.receive())["type"] != "websocket.connect":
        return
    if "websocket.http.response" in socket.scope.get("extensions", {}):
        await socket.send_denial_response(response)
    else:
        await socket.close()


def _accepting(event: RequestEvent) -> Send:
    """Return a ``send`` whose handshake carries the request id."""

    async def send(message: Message) -> None:
        if message["type"] == "websocket.accept" and event.request_id is not None:
            headers = [*message.get("headers", ()), (b"x-request-id", event.request_id)]
            message = {**message, "headers": headers}
        if event.status == 0:
            event.status = _STATUSES.get(message["type"], 0) or message.get("status", 403)
        await event.send(message)

    return send


def _followed(socket: WebSocket, send: Send) -> Send:
    """Return a ``send`` for a route that updates the state of ``socket``."""

    async def followed(message: Message) -> None:
        if message["type"] == "websocket.accept":
            socket.application_state = WebSocketState.CONNECTED
        elif message["type"] != "websocket.send":
            socket.application_state = WebSocketState.DISCONNECTED
        await send(message)

    return followed


async def _send_close_frame(socket: WebSocket, send: Send, code: int, reason: str) -> None:
    """Close a finished socket, or reject it, if its handler did neither."""
    if socket.application_state is WebSocketState.DISCONNECTED:
        return
    with trio.move_on_after(_CLOSE_LIMIT):
        try:
            await send({"type": "websocket.close", "code": code, "reason": reason})
        except OSError:
            log.debug("The client disconnected before the WebSocket could be closed with %d", code)
