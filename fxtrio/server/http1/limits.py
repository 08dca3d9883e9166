"""How much one client may ask of a worker. Read by the connection, the listener and the hub.

Every limit has a default that is safe on the open internet. Times are in
seconds, sizes in bytes, everything else counts.
"""

from __future__ import annotations

from typing import Any

import attrs


def _above_zero(_: object, attribute: attrs.Attribute[Any], value: float | None) -> None:
    if value is not None and value <= 0:
        raise ValueError(f"{attribute.name}: {value!r} is not above 0.")


@attrs.frozen(kw_only=True)
class ServerLimits:
    """What a connection may cost. Past a limit it is answered with a status, then closed."""

    request_line: int = attrs.field(default=8 * 1024, validator=_above_zero)
    """Longest request target; 414 above it."""

    head: int = attrs.field(default=32 * 1024, validator=_above_zero)
    """Target and headers of one request together; 431 above it."""

    headers: int = attrs.field(default=100, validator=_above_zero)
    """Header fields of one request; 431 above it."""

    header_time: float = attrs.field(default=10.0, validator=_above_zero)
    """From a request's first byte (a new connection's: from accept) to the end of its head; 408."""

    body: int | None = attrs.field(default=128 * 1024 * 1024, validator=_above_zero)
    """Largest request body, chunked ones included; 413 above it. None: no limit."""

    body_grace: float = attrs.field(default=10.0, validator=_above_zero)
    """How long a body may fall behind ``body_rate``; only time spent waiting for it counts."""

    body_rate: float = attrs.field(default=240.0, validator=_above_zero)
    """Slowest body (bytes a second, averaged over its waiting time); 408 below it."""

    chunk_overhead: int = attrs.field(default=16 * 1024, validator=_above_zero)
    """Chunk extensions and trailers of one body, beyond what its chunks need; 413 above it."""

    idle_time: float = attrs.field(default=75.0, validator=_above_zero)
    """How long a connection is kept between two requests."""

    requests: int = attrs.field(default=10_000, validator=_above_zero)
    """Requests answered on one connection before it is closed."""

    write_stall: float = attrs.field(default=30.0, validator=_above_zero)
    """How long a client may accept no byte of an answer before it is cut off."""

    write_rate: float = attrs.field(default=1000.0, validator=_above_zero)
    """Slowest client (bytes of an answer a second, while some wait for it, after
    ``write_stall``); it is cut off below it."""

    connections: int = attrs.field(default=10_000, validator=_above_zero)
    """Open connections of one worker. The listener accepts no more until one closes."""

    connections_per_address: int | None = attrs.field(default=None, validator=_above_zero)
    """Open connections from one address, whichever it is (from 64 bits of an IPv6 address).
    More are closed unread. None: 1,000, for public addresses that are no trusted proxy's."""

    websocket_message: int = attrs.field(default=1024 * 1024, validator=_above_zero)
    """Largest incoming WebSocket message, after inflation; closed with 1009 above it."""

    websocket_backlog: int = attrs.field(default=64 * 1024, validator=_above_zero)
    """Unread messages kept before reading stops (a single larger message is kept whole)."""

    websocket_ping: float | None = attrs.field(default=20.0, validator=_above_zero)
    """Between two pings. None: no pings."""

    websocket_pong: float = attrs.field(default=20.0, validator=_above_zero)
    """How long a ping may stay unanswered before the connection is cut off."""

    websocket_close: float = attrs.field(default=5.0, validator=_above_zero)
    """How long the answer to a close frame is waited for."""

    precision: float = attrs.field(default=0.25, validator=_above_zero)
    """How often all connections are looked at (seconds): times are kept to within two of it."""

    websocket_compression: bool = False
    """Whether permessage-deflate (RFC 7692) is agreed to when the client offers it."""
