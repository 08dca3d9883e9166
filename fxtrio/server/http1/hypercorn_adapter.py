"""The adapter between Hypercorn's objects and ours: all that HTTP/1.1 knows of Hypercorn.

`services_of` turns what Hypercorn gives a connection into `Services`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, Protocol

from fxtrio.asgi_extensions import without_frame
from fxtrio.server.header_fields import Header
from fxtrio.server.http1.connection_context import Application, Note, ServerLog, Services
from fxtrio.server.http1.limits import ServerLimits
from fxtrio.server.http1.tls import Stream
from fxtrio.server.http1.worker_state import Address, Hub, RequestLimit, ShareOf, share_of_peer


class HttpConfig(Protocol):
    """What HTTP/1.1 reads of a worker's config."""

    root_path: str
    server_names: list[str]
    graceful_timeout: float
    ssl_handshake_timeout: float

    @property
    def log(self) -> ServerLog:
        """The log of the server."""
        ...

    def response_headers(self, protocol: str, /) -> list[tuple[bytes, bytes]]:
        """Return the headers of every response, as of now."""
        ...


def limits_of(config: object) -> ServerLimits:
    """Return the attribute ``limits`` of a config; the defaults where it has none."""
    limits: ServerLimits | None = getattr(config, "limits", None)
    return limits or ServerLimits()


def takes_h2c(config: object) -> bool:
    """Return the attribute ``h2c`` of a config: HTTP/2 without TLS, by prior knowledge.

    Off unless the operator asks for it: a proxy that passes bytes on (an upgrade, a tunnel)
    leads clients past its rules, and their X-Forwarded headers would be believed.
    """
    return bool(getattr(config, "h2c", False))


def hub_for(config: HttpConfig) -> Hub:
    """Return a hub for a worker with this config. The caller runs it."""
    return Hub(
        limits_of(config),
        headers=partial(config.response_headers, "h11"),
        graceful=config.graceful_timeout,
        share_of=share_of(config),
    )


def share_of(config: object) -> ShareOf:
    """Return what says whose share of a budget a client uses; "" for nobody's.

    The attribute ``proxies`` of the config, if it has one, says whose word is taken for others.
    """
    proxies = getattr(config, "proxies", None)
    if proxies is None:
        return share_of_peer

    def share(client: Address | None, headers: Iterable[Header]) -> str:
        if proxies.believes(client):
            client = proxies.reported(headers)
            if client is not None and proxies.has(client[0]):  # which stands for many
                return ""
        return share_of_peer(client, headers)

    return share


def services_of(
    app: Application,
    config: HttpConfig,
    state: dict[str, Any],
    *,
    hub: Hub,
    limit: RequestLimit | None,
    note: Note | None,
    serve_http2: Callable[[Stream, bytes], Awaitable[None]],
) -> Services:
    """Return the services of a worker that has a hub already."""
    return Services(
        app=without_frame(app),
        hub=hub,
        limits=hub.limits,
        log=config.log,
        state=state,
        serve_http2=serve_http2,
        h2c=takes_h2c(config),
        count=None if limit is None else limit.count,
        note=note,
        root_path=config.root_path,
        server_names=tuple(config.server_names),
        handshake_time=config.ssl_handshake_timeout,
    )


def note_of(log: Any) -> Note:
    """Return what gives a request to a log of Hypercorn's kind."""

    async def note(scope: Any, status: int | None, sent: int, seconds: float) -> None:
        summary: Any = None
        if status is not None:
            summary = {"status": status, "headers": [(b"content-length", b"%d" % sent)]}
        await log.access(scope, summary, seconds)

    return note
