"""What the connections of one worker know of the server around them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any, Protocol

import msgspec

from fxtrio.log_limit import Repeats, lines_of_clients
from fxtrio.server.http1.limits import ServerLimits
from fxtrio.server.http1.request import RejectedRequest, RequestReader
from fxtrio.server.http1.response import reject
from fxtrio.server.http1.tls import Peer, Stream, show_address
from fxtrio.server.http1.transport import ByteTransport
from fxtrio.server.http1.worker_state import NEVER, Attended, Hub

Scope = MutableMapping[str, Any]
Application = Callable[..., Awaitable[None]]

Note = Callable[[Any, int | None, int, float], Awaitable[None] | None]
"""Puts one request into the access log: scope, status (None: it had no answer), bytes of the
body, seconds. What it returns is to be awaited."""


class ServerLog(Protocol):
    """The log of the server. It never fails."""

    async def info(self, message: str, *args: Any, **kwargs: Any) -> None:
        """Write what may interest."""
        ...

    async def error(self, message: str, *args: Any, **kwargs: Any) -> None:
        """Log a defect; ``exc_info`` is its exception."""
        ...

    async def exception(self, message: str, *args: Any, **kwargs: Any) -> None:
        """Log a defect, with the exception that is being handled."""
        ...


class Services(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Created once per worker, by the code that starts it, and valid for as long as it runs."""

    app: Application
    """Any ASGI 3 application."""

    hub: Hub
    limits: ServerLimits
    log: ServerLog
    state: Mapping[str, Any]
    """Of the lifespan: every scope gets a copy."""

    serve_http2: Callable[[Stream, bytes], Awaitable[None]]
    """Takes a connection over, with what was read of it already, and closes it."""

    h2c: bool = False
    """Whether clients without TLS may speak HTTP/2 at once (by prior knowledge)."""

    count: Callable[[], Awaitable[None]] | None = None
    """Called after every request, where their number is limited."""

    note: Note | None = None
    """None: there is no access log."""

    root_path: str = ""
    server_names: Sequence[str] = ()
    """Hosts that are answered. Empty: all."""

    handshake_time: float = 10.0
    """Longest TLS handshake (seconds)."""

    repeats: Repeats[str] = msgspec.field(default_factory=lines_of_clients)
    """For lines that clients can cause as often as they like."""


class ClientConnection:
    """The client of a connection, and the bytes that it has sent. The connection's task owns it."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.hub = services.hub
        self.limits = services.limits
        self.deadline = NEVER
        self.served = 0  # requests given to the application
        self.linger = False  # whether the client may not have read the last answer yet
        self.peer: Peer
        self.transport: ByteTransport
        self.reader: RequestReader
        self.websocket: Attended | None = None  # once this is one
        self.interrupted: Any = None  # the HttpStream whose call of the application was

    def interrupt(self, stream: Any, reason: str) -> None:
        """Cancel what the connection is doing, which is a call for the request of ``stream``."""
        raise NotImplementedError

    def wake(self) -> None:
        """Have the hub look at this connection with each tick, after it needed nothing."""
        raise NotImplementedError

    async def reject(self, rejection: RejectedRequest) -> None:
        """Answer with a status of our own, after which the connection closes."""
        self.linger = True
        await self.transport.write(reject(rejection.status, self.hub.common))
        await self.services.log.info(
            "%s rejected with %d: %s",
            show_address(self.peer.client),
            rejection.status,
            rejection.reason,
        )
