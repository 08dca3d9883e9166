"""One stream's application: its queue of messages, and the room that its body takes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any, Protocol

import trio
from h2.connection import H2Connection
from h2.exceptions import ProtocolError
from hypercorn.config import Config
from hypercorn.protocol.http_stream import ASGIHTTPState, HTTPStream
from hypercorn.protocol.ws_stream import ASGIWebsocketState, WSStream
from hypercorn.typing import TaskGroup, WorkerContext
from wsproto.events import Ping

from fxtrio.receive_budget import Backlog
from fxtrio.send_budget import process_unsent
from fxtrio.server.http1.limits import ServerLimits
from fxtrio.server.http1.request import RejectedRequest
from fxtrio.server.http2.receive_queue import ReceiveQueue, run_application
from fxtrio.server.http2.send_queue import SendQueues

_CLIENT_LEFT = 499
_FULL = "too many bytes wait for clients that do not read"
_WINDOW = 65_535  # bytes that a client may send on a stream unasked (RFC 9113, 6.9.2)
_PONG = 256  # bytes in which one fits
_DENIED = (ASGIWebsocketState.RESPONSE, ASGIWebsocketState.HTTPCLOSED)
_BEGUN = (ASGIHTTPState.RESPONSE, ASGIHTTPState.TRAILERS)


class Multiplexer(Protocol):
    """The connection, as a stream's application sees it."""

    limits: ServerLimits
    running: int
    closed: bool
    config: Config
    context: WorkerContext
    task_group: TaskGroup
    connection: H2Connection
    outgoing: SendQueues

    async def reject(self, number: int, rejection: RejectedRequest) -> None:
        """Reject a request with an error status, or reset its unfinished response."""
        ...

    async def cut_off(self, number: int) -> None:
        """Reset a stream whose client does not read or respond."""
        ...


class ApplicationStream:
    """One stream's application, in place of the task group of Hypercorn's streams."""

    def __init__(self, protocol: Multiplexer, number: int) -> None:
        self.stream: HTTPStream | WSStream
        self.queue: ReceiveQueue | None = None
        self.held = 0
        """Bytes of flow-control window that were not yet returned to the client."""

        self.received = 0
        self.sent = 0
        """Bytes of the response's body."""

        self.backlog = Backlog(protocol.outgoing.unread.address, self._drop)
        self._began = trio.current_time()
        self._heard = trio.Event()
        self._protocol = protocol
        self._number = number
        self._beside: list[trio.CancelScope] = []

    @property
    def seconds(self) -> float:
        """For how long the request has lasted."""
        return trio.current_time() - self._began

    async def spawn_app(self, app: Any, config: Any, scope: Any, send: Any) -> Any:
        """Start the application; return the callable for its messages."""
        http = scope["type"] == "http"
        protocol = self._protocol
        self.queue = queue = (
            ReceiveQueue(taken=self.take, allowed=self._allowed, overdue=self._give_up)
            if http
            else ReceiveQueue(taken=self.take)
        )
        protocol.running += 1
        admission = protocol.outgoing.admission

        async def run() -> None:
            try:
                if http and not await admission.wait_turn(self._number, lambda: queue.left):
                    queue.close()
                    return
                if http and process_unsent.is_full:
                    holder = protocol.outgoing.unread
                    async with process_unsent.turn(holder, scope["raw_path"]) as admitted:
                        if not admitted:
                            queue.close()
                            await protocol.reject(self._number, RejectedRequest(503, _FULL))
                            return
                        await self._run(app, config, scope, send)
                    return
                await self._run(app, config, scope, send)
            finally:
                protocol.running -= 1

        protocol.task_group.spawn(run)
        return queue.put

    async def _run(self, app: Any, config: Any, scope: Any, send: Any) -> None:
        admission, http = self._protocol.outgoing.admission, scope["type"] == "http"
        assert self.queue is not None
        with admission.started(self._number) if http else nullcontext():
            await run_application(app, config, scope, self.queue, send)

    def spawn(self, function: Callable[..., Any], *args: Any) -> None:
        """Start a task of the stream's, which ends with it."""
        if isinstance(self.stream, WSStream):  # Hypercorn's pings need no response
            function, args = self._ping, (self.stream,)
        self._protocol.task_group.spawn(self._run_beside, function, args)

    def hear(self, size: int) -> None:
        """Record bytes from the client."""
        self.received += size
        self._heard.set()
        self._heard = trio.Event()

    def has_room(self) -> bool:
        """Return whether a WebSocket's client may send on, whatever waits for the application."""
        box = self.queue
        return box is not None and box.size + _WINDOW <= self._protocol.limits.websocket_backlog

    async def _ping(self, stream: WSStream) -> None:
        """Ping a client, and reset its stream if it does not respond."""
        protocol = self._protocol
        interval = protocol.config.websocket_ping_interval
        while interval is not None and not stream.closed:
            await trio.sleep(interval)
            heard = self._heard
            await stream._send_wsproto_event(Ping(payload=b"fx"))
            with trio.move_on_after(protocol.limits.websocket_pong) as silence:
                await heard.wait()
            if silence.cancelled_caught and not self._has_stopped_client():
                # By another task: that of the stream ends with it.
                protocol.task_group.spawn(protocol.cut_off, self._number)
                return

    def _has_stopped_client(self) -> bool:
        """Return whether the client cannot send, since the application does not receive."""
        with suppress(ProtocolError):
            return self._protocol.connection.remote_flow_control_window(self._number) < _PONG
        return False

    async def _run_beside(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        with trio.CancelScope() as scope:
            self._beside.append(scope)
            await function(*args)

    @property
    def is_denied(self) -> bool:
        """Whether it is a WebSocket whose handshake was rejected."""
        return isinstance(self.stream, WSStream) and self.stream.state in _DENIED

    async def note_cut_off(self) -> None:
        """Log a request whose response was cut off."""
        stream, protocol = self.stream, self._protocol
        if not isinstance(stream, HTTPStream) or stream.closed:
            return
        answer: Any
        if stream.state in _BEGUN:
            self.note_sent()
            answer = stream.response
        elif stream.state == ASGIHTTPState.REQUEST and not protocol.context.terminated.is_set():
            answer = {"status": _CLIENT_LEFT, "headers": []}
        else:
            return
        await protocol.config.log.access(stream.scope, answer, self.seconds)
        stream.closed = True  # Hypercorn would note it as well

    def note_sent(self) -> None:
        """Log the bytes that were actually sent, whatever Content-Length says."""
        stream = self.stream
        if isinstance(stream, HTTPStream) and stream.state in _BEGUN:
            headers_sent = stream.response.get("headers", ())
            headers = [pair for pair in headers_sent if pair[0].lower() != b"content-length"]
            headers.append((b"content-length", b"%d" % self.sent))
            stream.response = {**stream.response, "headers": headers}

    def count_backlog(self) -> None:
        """Count the buffered data of a WebSocket, including incomplete messages."""
        box, stream = self.queue, self.stream
        if box is not None and isinstance(stream, WSStream):
            self.backlog.count(box.size + stream.buffer.length)

    def _drop(self) -> None:
        self._protocol.task_group.spawn(self._protocol.cut_off, self._number)

    def take(self) -> None:
        """Return the flow-control window of received data to the client."""
        if self.backlog.size:
            self.count_backlog()
        held, self.held = self.held, 0
        if held and not self._protocol.closed:
            with suppress(ProtocolError):
                self._protocol.connection.acknowledge_received_data(held, self._number)
            self._protocol.outgoing.wake()

    def leave(self) -> None:
        """Send the application its disconnect, if Hypercorn has not; cancel its other tasks."""
        self.backlog.end()
        for scope in self._beside:
            scope.cancel()
        if self.queue is not None:
            kind = "http" if isinstance(self.stream, HTTPStream) else "websocket"
            message: dict[str, Any] = {"type": f"{kind}.disconnect"}
            if kind == "websocket":
                message["code"] = 1006
            self.queue.leave(message)
            self._protocol.outgoing.admission.change()

    def _allowed(self, waited: float) -> float:
        limits = self._protocol.limits
        return limits.body_grace + self.received / limits.body_rate - waited

    async def _give_up(self) -> None:
        await self._protocol.reject(
            self._number, RejectedRequest(408, "the body arrived too slowly")
        )
