"""The span of a request or WebSocket, around all that the app does for it, middleware included.

`fxtrio.asgi_entry` opens it where somebody listens; the dispatcher names it by the route, and the
status is noted where the response passes on its way to the server.
"""

from __future__ import annotations

from collections.abc import Iterable

from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fxtrio.asgi_extensions import WHOLE_RESPONSE, WholeResponse
from fxtrio.policy.patterns import pattern_of
from fxtrio.routes.matched import SCOPE_KEY, MatchedRoute
from fxtrio.spans import Span, Spans, current_span

_CARRIER = b"traceparent"
_LONGEST = 256  # bytes of a header that is looked at

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "WEBSOCKET"})
"""Those by which requests are named; any other is ``OTHER``, since clients make them up."""


async def serve_in_span(
    app: ASGIApp, spans: Spans, scope: Scope, receive: Receive, send: Send
) -> None:
    """Let ``app`` serve one request or WebSocket, as a span."""
    method = scope["method"] if scope["type"] == "http" else "WEBSOCKET"
    if method not in METHODS:
        method = "OTHER"
    carried = [value for name, value in scope["headers"] if name == _CARRIER]
    known = carried[0].decode("latin-1") if len(carried) == 1 else ""
    with spans.open_root("request", method, known if len(known) <= _LONGEST else "") as span:
        if span is None:  # the listeners have left
            await app(scope, receive, send)
            return
        span.values["method"] = method
        extensions = scope.get("extensions") or {}
        whole: WholeResponse | None = extensions.get(WHOLE_RESPONSE)
        if whole is None or whole.send != send:
            await app(scope, receive, _Noted(span, send).send)
        else:
            noted = _NotedWhole(span, whole)
            inner = {**scope, "extensions": {**extensions, WHOLE_RESPONSE: noted}}
            await app(inner, receive, noted.send)


class _Noted:
    """A ``send`` that notes the status of the response."""

    def __init__(self, span: Span, send: Send) -> None:
        self._span = span
        self._send = send

    async def send(self, message: Message) -> None:
        """Send one message."""
        kind = message["type"]
        if kind in ("http.response.start", "websocket.http.response.start"):
            self._span.values["status"] = message["status"]
        elif kind == "websocket.accept":
            self._span.values["status"] = 101
        await self._send(message)


class _NotedWhole(_Noted):
    """A `WholeResponse` that notes the status of the response, which is a part of the span."""

    interrupts = False

    def __init__(self, span: Span, whole: WholeResponse) -> None:
        super().__init__(span, whole.send)
        self._whole = whole
        self.write_part = whole.write_part
        self.take_body = whole.take_body
        self.flush = whole.flush

    def __call__(self, status: int, lines: Iterable[bytes], body: bytes) -> bool:
        """Send a whole response."""
        self._span.values["status"] = status
        return self._whole(status, lines, body)


def name_by_route(root: Span, scope: Scope, base_url: str) -> None:
    """Give the span of a request its route's pattern, by which requests are grouped.

    A request that no route answers has none: paths are made up by whoever sends them.
    """
    request_id = scope["state"].get("request_id")
    if request_id is not None:
        root.values["request"] = request_id
    matched = scope.get(SCOPE_KEY)
    if isinstance(matched, MatchedRoute) and matched.pattern is not None:
        pattern = base_url + matched.pattern if base_url else matched.pattern
        called = matched.action or matched.stream
        _name(root, pattern, f" {called}" if called else "")


def name_by_starlette_route(route: BaseRoute, base_url: str) -> None:
    """Give the span of the current request, if it has one, the pattern of a Starlette route."""
    span = current_span.get()
    if span is not None:
        _name(span.root, base_url + pattern_of(route, base_url), "")


def _name(root: Span, pattern: str, called: str) -> None:
    root.values["route"] = pattern
    root.name = f"{root.values.get('method', '')} {pattern}{called}"
