"""Gives a connection to stock Hypercorn, for HTTP/2.

HTTP/2 is agreed on in three ways: in the TLS handshake, by sending its preface at
once, or by upgrading a request (h2c). In the latter two, bytes have been read
already: Hypercorn gets a stream that brings them again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import trio
from h2.connection import H2Connection
from h2.stream import StreamState
from hypercorn.config import Config
from hypercorn.events import Closed, RawData
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, LifespanState

from fxtrio.http1.request import READ_SIZE, Request

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""What an HTTP/2 client sends first (RFC 9113, section 3.4)."""

_client_sends = (StreamState.OPEN, StreamState.HALF_CLOSED_LOCAL)


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


class Http2Server(TCPServer):
    """Hypercorn's connection, with an end to clients that fall silent.

    Hypercorn waits for ever for one that never ends a request; and closes an idle
    connection without a word.
    """

    async def _read_data(self) -> None:
        while True:
            data: bytes | bytearray = b""
            with trio.move_on_after(self.config.keep_alive_timeout) as silence:
                try:
                    data = await self.stream.receive_some(READ_SIZE)
                except (trio.ClosedResourceError, trio.BrokenResourceError):
                    break
            if silence.cancelled_caught:
                if self._has_whole_request() or not self._streams():
                    continue  # the application is at work; or `_idle_timeout` says goodbye
                break
            await self.protocol.handle(RawData(bytes(data)))
            if not data:
                break
        await self.protocol.handle(Closed())
        await self.idle_task.stop()

    async def _idle_timeout(self) -> None:
        await trio.sleep(self.config.keep_alive_timeout)
        say_goodbye = getattr(self.protocol.protocol, "say_goodbye", None)
        if say_goodbye is None:
            await self._initiate_server_close()
        else:
            await say_goodbye()  # at the end of the worker, it says so by itself

    def _streams(self) -> Iterable[int]:
        """Return the numbers of the requests that are not answered yet."""
        return getattr(self.protocol.protocol, "streams", {}).keys()

    def _has_whole_request(self) -> bool:
        """Return whether the application has all it needs to answer some request."""
        connection = getattr(self.protocol.protocol, "connection", None)
        if not isinstance(connection, H2Connection):
            return False
        streams = [connection.streams.get(number) for number in self._streams()]
        return any(
            stream is not None and stream.state_machine.state not in _client_sends
            for stream in streams
        )


async def hand_over(
    app: AppWrapper,
    config: Config,
    context: WorkerContext,
    state: LifespanState,
    stream: Any,
    data: bytes,
) -> None:
    """Have Hypercorn serve ``stream``, of which ``data`` has been read. Closes the stream.

    `fx serve` puts into the context what has to be called before.
    """
    prepare = getattr(context, "fx_prepare_hypercorn", None)
    if prepare is not None:
        prepare()
    replay: Any = Replay(stream, data) if data else stream
    await Http2Server(app, config, context, state, replay)


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
