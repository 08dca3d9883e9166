"""How much one client may ask of a worker. Read by the connection, the listener and the hub.

Every limit has a default that is safe on the open internet. Times are in
seconds, sizes in bytes, everything else counts.
"""

from __future__ import annotations

import msgspec


class ServerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What a connection may cost. Past a limit it is answered with a status, then closed."""

    request_line: int = 8 * 1024
    """Longest request target; 414 above it."""

    head: int = 32 * 1024
    """Target and headers of one request together; 431 above it."""

    headers: int = 100
    """Header fields of one request; 431 above it."""

    header_time: float = 10.0
    """From a request's first byte (a new connection's: from accept) to the end of its head; 408."""

    body: int | None = 128 * 1024 * 1024
    """Largest request body, chunked ones included; 413 above it. None: no limit."""

    body_grace: float = 10.0
    """How long a body may fall behind ``body_rate``; only time spent waiting for it counts."""

    body_rate: float = 240.0
    """Slowest body (bytes a second, averaged over its waiting time); 408 below it."""

    chunk_overhead: int = 16 * 1024
    """Chunk extensions and trailers of one body, beyond what its chunks need; 413 above it."""

    idle_time: float = 75.0
    """How long a connection is kept between two requests."""

    requests: int = 10_000
    """Requests answered on one connection before it is closed."""

    write_stall: float = 30.0
    """How long a client may accept no byte of an answer before it is cut off."""

    write_rate: float = 1000.0
    """Slowest client (bytes of an answer a second, while some wait for it, after
    ``write_stall``); it is cut off below it."""

    connections: int = 10_000
    """Open connections of one worker. The listener accepts no more until one closes."""

    connections_per_address: int | None = None
    """Open connections from one address, whichever it is (from 64 bits of an IPv6 address).
    More are closed unread. None: 1,000, for public addresses that are no trusted proxy's."""

    websocket_message: int = 1024 * 1024
    """Largest incoming WebSocket message, after inflation; closed with 1009 above it."""

    websocket_backlog: int = 64 * 1024
    """Unread messages kept before reading stops (a single larger message is kept whole)."""

    websocket_ping: float | None = 20.0
    """Between two pings. None: no pings."""

    websocket_pong: float = 20.0
    """How long a ping may stay unanswered before the connection is cut off."""

    websocket_close: float = 5.0
    """How long the answer to a close frame is waited for."""

    precision: float = 0.25
    """How often all connections are looked at (seconds): times are kept to within two of it."""

    websocket_compression: bool = False
    """Whether permessage-deflate (RFC 7692) is agreed to when the client offers it."""

    def __post_init__(self) -> None:
        """Raise ValueError for a limit that is not above zero."""
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and not isinstance(value, bool) and value <= 0:
                raise ValueError(f"{name}: {value!r} is not above 0.")
