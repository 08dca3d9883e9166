"""One connection of HTTP/2: Hypercorn reads and writes, the protocol is ours."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import trio
from h2.stream import StreamState
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.events import Closed, RawData
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import EventWrapper, WorkerContext
from hypercorn.typing import AppWrapper, ConnectionState, LifespanState
from hypercorn.utils import parse_socket_addr

from fxtrio.server.http1.connection_context import Application
from fxtrio.server.http1.hypercorn_adapter import limits_of
from fxtrio.server.http1.request import READ_SIZE
from fxtrio.server.http1.tls import Stream
from fxtrio.server.http1.worker_state import Hub, RequestLimit
from fxtrio.server.http2.protocol import GuardedProtocol
from fxtrio.tracebacks import first_of

_LINE = 200  # characters of an error in the log

_client_sends = (StreamState.OPEN, StreamState.HALF_CLOSED_LOCAL)


def http2_server(
    app: Application, config: Config, state: LifespanState, hub: Hub, limit: RequestLimit | None
) -> Callable[[Stream, bytes], Awaitable[None]]:
    """Return what serves a stream, of which some bytes were read already, and closes it."""
    return partial(_serve, ASGIWrapper(app), config, _Worker(hub, limit), state)


async def _serve(*arguments: Any) -> None:
    await Http2Connection(*arguments)


class _Stopped(EventWrapper):
    """An event of ours, as Hypercorn sees it."""

    def __init__(self, event: trio.Event) -> None:
        self._event = event


class _Worker(WorkerContext):
    """A worker of ours, as Hypercorn sees it."""

    def __init__(self, hub: Hub, limit: RequestLimit | None) -> None:
        super().__init__(None)
        self.terminated = _Stopped(hub.closed)
        self._limit = limit

    async def mark_request(self) -> None:
        """Count a request."""
        if self._limit is not None:
            await self._limit.count()


class Http2Connection(TCPServer):
    """Hypercorn's connection, with timeouts for silent clients.

    Hypercorn waits forever for a client that never ends a request, and closes an idle
    connection without GOAWAY.
    """

    def __init__(
        self,
        app: AppWrapper,
        config: Config,
        context: WorkerContext,
        state: LifespanState,
        stream: Any,
        read: bytes,
    ) -> None:
        super().__init__(app, config, context, state, stream)
        self._read_already = read

    async def run(self) -> None:
        """Serve the client. Raises nothing but Cancelled."""
        try:
            secure = isinstance(self.stream, trio.SSLStream)
            plain: Any = self.stream.transport_stream if secure else self.stream
            socket = plain.socket
            client = parse_socket_addr(socket.family, socket.getpeername())
            server = parse_socket_addr(socket.family, socket.getsockname())
            async with TaskGroup() as group:
                self._task_group = group
                self._spoken = GuardedProtocol(
                    self.app,
                    self.config,
                    self.context,
                    group,
                    ConnectionState(self.state),
                    secure,
                    client,
                    server,
                    self.protocol_send,
                    limits=limits_of(self.config),
                )
                self.protocol: Any = self._spoken
                await self._serve()
        except* OSError:  # the client has disconnected
            pass
        except* Exception as error:
            # One line: a client that sends such bytes must not fill the log.
            text = repr(first_of(error))[:_LINE]
            await self.config.log.error("a connection was dropped: %s", text)
        finally:
            await self._close()

    async def _serve(self) -> None:
        await self._spoken.initiate()
        await self.idle_task.restart(self._task_group, self._idle_timeout)
        if self._read_already:
            await self._spoken.handle(RawData(self._read_already))
        await self._read_data()

    async def _read_data(self) -> None:
        while True:
            data: bytes | bytearray = b""
            with trio.move_on_after(self.config.keep_alive_timeout) as silence:
                try:
                    data = await self.stream.receive_some(READ_SIZE)
                except (trio.ClosedResourceError, trio.BrokenResourceError):
                    break
            if silence.cancelled_caught:
                if self._has_whole_request() or not self._spoken.streams:
                    continue  # the application is at work; or `_idle_timeout` says goodbye
                break
            await self._spoken.handle(RawData(bytes(data)))
            if not data:
                break
        await self._spoken.handle(Closed())
        await self.idle_task.stop()

    async def _idle_timeout(self) -> None:
        await trio.sleep(self.config.keep_alive_timeout)
        await self._spoken.say_goodbye()  # at the worker's shutdown, it does so itself

    def _has_whole_request(self) -> bool:
        """Return whether the application has received a complete request."""
        streams = self._spoken.connection.streams
        found = [streams.get(number) for number in self._spoken.streams]
        return any(
            stream is not None and stream.state_machine.state not in _client_sends
            for stream in found
        )
