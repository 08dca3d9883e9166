"""Gives a connection to stock Hypercorn, for HTTP/2.

HTTP/2 is agreed on in three ways: in the TLS handshake, by sending its preface at
once, or by upgrading a request (h2c). In the latter two, bytes have been read
already: Hypercorn gets a stream that brings them again.
"""

from __future__ import annotations

from typing import Any

import trio
from hypercorn.config import Config
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, LifespanState

from fxtrio.http1.request import Request

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""What an HTTP/2 client sends first (RFC 9113, section 3.4)."""


class Replay:
    """A stream that gives ``data`` before what it reads itself; otherwise the stream it wraps."""

    def __init__(self, stream: Any, data: bytes) -> None:
        self._stream = stream
        self._data = data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """Return the bytes that were read before, then new ones."""
        if self._data:
            await trio.lowlevel.checkpoint()
            data, self._data = self._data, b""
            return data
        fresh: bytes | bytearray = await self._stream.receive_some(max_bytes)
        return fresh


async def hand_over(
    app: AppWrapper,
    config: Config,
    context: WorkerContext,
    state: LifespanState,
    stream: Any,
    data: bytes,
) -> None:
    """Have Hypercorn serve ``stream``, of which ``data`` has been read. Closes the stream."""
    replay: Any = Replay(stream, data) if data else stream
    await TCPServer(app, config, context, state, replay)


def wants_h2c(request: Request) -> bool:
    """Return whether a request offers a cleartext upgrade that Hypercorn can take.

    One with a body cannot be: the body would have to be read as HTTP/1.1 first.
    """
    settings = [value for name, value in request.headers if name == b"http2-settings"]
    return request.upgrade == b"h2c" and not request.has_body and len(settings) == 1


def replayed_head(request: Request, rest: bytes) -> bytes:
    """Return the bytes of a request's head again, with ``rest`` behind them."""
    line = b"%b %b HTTP/1.1\r\n" % (request.method.encode(), request.target)
    fields = b"".join(b"%b: %b\r\n" % header for header in request.headers)
    return b"%b%b\r\n%b" % (line, fields, rest)
