"""What a WebSocket handler asks of its client: its origin, its user, and whether it has left."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

from starlette.requests import HTTPConnection
from starlette.websockets import WebSocket

from fxtrio.errors import PlacedError
from fxtrio.origin import Origin, is_allowed_form, read_origin

ORIGIN_UNCHECKED = "fx.realtime.origin_unchecked"
"""In the scope of a socket that must come from this site, until its handler looks at the origin."""


class OriginUnreadable(PlacedError, ValueError):
    """An allowed origin is not of the form ``scheme://host[:port]``."""

    remedy = (
        "Write scheme, host and port only, such as 'https://example.com:8443'. There are no "
        "wildcards: an empty list allows all"
    )

    def __init__(self, origin: str) -> None:
        super().__init__("origin_allowed()", f"{origin!r} is not an origin")
        self.origin = origin


@runtime_checkable
class Authenticator(Protocol):
    """A plugin's service that knows the users of connections.

    The plugin registers it with ``app.authenticated_by(service)``.
    """

    async def authenticate(self, connection: HTTPConnection) -> Any | None:
        """Return the user who is signed in, or None.

        Must do no work beyond reading cookies when its session cookie is absent. To close
        a WebSocket with its session, use `fxtrio.realtime.close`.
        """
        ...


async def authenticate_websocket(ws: WebSocket) -> Any | None:
    """Return the user who is signed in with the handshake's cookie, or None.

    Returns None at once, without a query, if the handshake has no cookie or the app has no auth
    plugin. The socket is closed with 4401 when the session ends.
    """
    if "cookie" not in ws.headers:
        return None
    app = getattr(getattr(ws.scope.get("app"), "state", None), "fx", None)
    if app is None:
        return None
    service: Authenticator | None = app.authenticator
    return None if service is None else await service.authenticate(ws)


def origin_allowed(ws: HTTPConnection, allowed_origins: Iterable[str]) -> bool:
    """Return whether the handshake comes from one of ``allowed_origins``.

    Origins are compared by scheme, host and port, as in ``https://example.com:8443``;
    the default port may be omitted. An empty list allows all origins. A missing
    ``Origin`` is allowed: browsers always send one. An opaque origin (``null``),
    a malformed one, and more than one are not allowed.

    Raises OriginUnreadable if an allowed origin is not an origin.
    """
    ws.scope.pop(ORIGIN_UNCHECKED, None)
    allowed = {_read_allowed(origin) for origin in allowed_origins}
    sent = ws.headers.getlist("origin")
    if not allowed or not sent:
        return True
    return len(sent) == 1 and read_origin(sent[0]) in allowed


def same_origin(ws: HTTPConnection) -> bool:
    """Return whether the handshake comes from a page of this site.

    The host and port of ``Origin`` must be those of ``Host``; the schemes may differ, since a
    proxy that terminates TLS may not report it. A missing ``Origin`` is allowed: browsers always
    send one. An opaque origin (``null``), a malformed one, and more than one are not allowed.
    """
    ws.scope.pop(ORIGIN_UNCHECKED, None)
    sent = ws.headers.getlist("origin")
    if not sent:
        return True
    origin = read_origin(sent[0])
    if len(sent) > 1 or origin is None or origin.scheme not in ("http", "https"):
        return False
    return read_origin(f"{origin.scheme}://{ws.headers.get('host', '')}") == origin


async def wait_closed(ws: WebSocket) -> None:
    """Wait until the client has disconnected, and discard the messages that it sends.

    For a handler that only sends: its other work runs in other tasks, or in a `channel` block
    around this call.
    """
    while (await ws.receive())["type"] != "websocket.disconnect":
        pass


def _read_allowed(origin: str) -> Origin:
    read = read_origin(origin.removesuffix("/"))
    if read is None or not is_allowed_form(origin):
        raise OriginUnreadable(origin)
    return read
