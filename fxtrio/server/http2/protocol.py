"""Hypercorn's HTTP/2 protocol, protected against its clients and its applications.

Hypercorn's connection creates it in place of its own; its one reading task calls it and
waits only for the socket. h2 implements the protocol, Hypercorn's streams implement
ASGI; this module connects the two.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import h2.events
import trio
from h2.connection import ConnectionState
from h2.errors import ErrorCodes
from h2.exceptions import ProtocolError
from hypercorn.events import Closed, Updated
from hypercorn.protocol import events
from hypercorn.protocol.h2 import H2Protocol
from hypercorn.protocol.http_stream import ASGIHTTPState, HTTPStream
from hypercorn.protocol.ws_stream import WSStream

from fxtrio.send_budget import LIGHT, process_unsent
from fxtrio.server.http1.hypercorn_adapter import share_of
from fxtrio.server.http1.limits import ServerLimits
from fxtrio.server.http1.request import RejectedRequest
from fxtrio.server.http1.tls import show_address
from fxtrio.server.http2.frame_rate_limit import FrameRateLimit
from fxtrio.server.http2.headers import application_headers, check_request, response_head
from fxtrio.server.http2.preface import PrefaceReader, ProtocolViolation
from fxtrio.server.http2.send_queue import SendQueues
from fxtrio.server.http2.shutdown import ConnectionEnding
from fxtrio.server.http2.stream import ApplicationStream

_PARSED_AT_ONCE = 4 * 1024
"""Bytes passed to h2 at once: some milliseconds of work, then other tasks run."""

_WINDOW = 256 * 1024
"""Bytes of request bodies, of all streams, that may wait for applications."""

_UNSENT = 64 * 1024
"""Bytes of pending replies to a client's WebSocket pings."""

_TABLE, _FIELD = 4096, 32  # RFC 7541: most of the table, and of a header beside its bytes

_slice_earns, _answer_earns = 36, 20  # frames that a client may send on account of them


class GuardedProtocol(H2Protocol):
    """One HTTP/2 connection."""

    def __init__(self, *args: Any, limits: ServerLimits) -> None:
        super().__init__(*args)
        self.limits = limits
        self.connection.decoder.max_header_list_size = limits.head + _FIELD * limits.headers
        self._preface = PrefaceReader()
        self._rate_limit = FrameRateLimit(limits.head)
        self.outgoing = SendQueues(
            self.connection,
            self._flush,
            address=share_of(self.config)(self.client, ()),  # a proxy's is many clients
            give_up=lambda: self.task_group.spawn(self.send, Closed()),
        )
        """Responses and all other data that an application's task sends: the task may be
        cancelled at any moment, and output of h2 must not be lost."""

        self.calls: dict[int, ApplicationStream] = {}
        """Unfinished requests, by stream."""

        self.running = 0
        """Running applications, also those whose clients have disconnected."""

        self.ending = ConnectionEnding(self)
        self._reader: object = None

    async def initiate(
        self, headers: list[tuple[bytes, bytes]] | None = None, settings: bytes | None = None
    ) -> None:
        """Begin the conversation. There are no upgraded requests, as Hypercorn has them."""
        self._reader = trio.lowlevel.current_task()
        self.task_group.spawn(self.ending.attend)
        self.connection.initiate_connection()
        self.connection.increment_flow_control_window(
            _WINDOW - self.connection.inbound_flow_control_window
        )
        await self._flush()
        await self.send(Updated(idle=True))  # until now, the preface may have been a request

    # Data from the client.

    async def handle(self, event: Any) -> None:
        """Take bytes of the client, or the end of the connection."""
        if isinstance(event, Closed):
            return await self._end()
        data = event.data
        for start in range(0, len(data), _PARSED_AT_ONCE):
            if start:
                await trio.lowlevel.checkpoint()
            if self.closed:
                break
            piece = data[start : start + _PARSED_AT_ONCE]
            try:
                if not self._preface.done:
                    self._preface.feed(piece)
                self._rate_limit.feed(piece, trio.current_time())
                received = self.connection.receive_data(piece)
            except ProtocolViolation as error:
                return await self._close_with_error(str(error), error.code)
            except ProtocolError as error:  # h2 has notified the client
                return await self._close_with_error(str(error))
            await self._handle_events(received)
        return None

    async def _handle_events(self, received: list[h2.events.Event]) -> None:
        for event in received:
            if self.closed:
                return
            if isinstance(event, h2.events.RequestReceived):
                await self._open(event)
            elif isinstance(event, h2.events.DataReceived):
                await self._take_data(event)
            elif isinstance(event, h2.events.StreamEnded):
                await self._take_end(event.stream_id)
            elif isinstance(event, h2.events.StreamReset):
                await self._close_stream(event.stream_id)
            elif isinstance(event, (h2.events.WindowUpdated, h2.events.RemoteSettingsChanged)):
                encoder = self.connection.encoder
                encoder.header_table_size = min(encoder.header_table_size, _TABLE)
                self.outgoing.wake()
            elif isinstance(event, h2.events.ConnectionTerminated):
                await self.send(Closed())
                return
        await self._flush()

    async def _open(self, event: h2.events.RequestReceived) -> None:
        number = event.stream_id
        if self._is_over(number):
            return
        if (
            self.ending.said
            or self.context.terminated.is_set()
            or self.running >= self.config.h2_max_concurrent_streams
            or self.outgoing.admission.is_over_limit()
        ):
            self._reset(number, ErrorCodes.REFUSED_STREAM)
            return
        rejection = check_request(event.headers, self.limits, ended=event.stream_ended is not None)
        if rejection is not None:
            await self.reject(number, rejection)
            return
        await self.send(Updated(idle=False))
        await self._create_stream(event)
        self.keep_alive_requests += 1
        await self.context.mark_request()
        if self.keep_alive_requests >= self.config.keep_alive_max_requests:
            await self.say_goodbye()

    async def _create_stream(self, request: h2.events.RequestReceived) -> None:
        number, found = request.stream_id, dict(request.headers)
        method = found[b":method"].decode("ascii")
        kind: type[HTTPStream] | type[WSStream] = WSStream if method == "CONNECT" else HTTPStream
        if kind is HTTPStream and found.get(b"expect", b"").lower() == b"100-continue":
            self.connection.send_headers(number, [(b":status", b"100")])
        call = self.calls[number] = ApplicationStream(self, number)
        stream = call.stream = self.streams[number] = kind(
            self.app,
            self.config,
            self.context,
            call,  # type: ignore[arg-type]  # as much of a task group as a stream needs
            self.ssl,
            self.client,
            self.server,
            self.stream_send,
            number,
        )
        await stream.handle(
            events.Request(
                stream_id=number,
                headers=application_headers(request.headers, self.limits),
                http_version="2",
                method=method,
                raw_path=found[b":path"],
                state=self.connection_state,
            )
        )
        if stream.closed:  # Hypercorn has rejected it
            await self._finish(number)

    async def _take_data(self, event: h2.events.DataReceived) -> None:
        number, size = event.stream_id, event.flow_controlled_length
        call = self.calls.get(number)
        if call is None:  # already responded to
            self.connection.acknowledge_received_data(size, number)
            return
        call.held += size
        call.hear(len(event.data))
        limit = self.limits.body
        if isinstance(call.stream, HTTPStream):
            if limit is not None and call.received > limit:
                await self.reject(number, RejectedRequest(413, "the body is too long"))
                return
            if event.data:
                await call.stream.handle(events.Body(stream_id=number, data=event.data))
        elif not call.is_denied:
            await call.stream.handle(events.Data(stream_id=number, data=event.data))
            call.count_backlog()
            if call.stream.closed:
                await self._finish(number)
        box = call.queue
        if box is None or box.is_awaited or box.left or call.has_room():
            call.take()

    async def _take_end(self, number: int) -> None:
        call = self.calls.get(number)
        if call is not None:
            if isinstance(call.stream, HTTPStream):
                await call.stream.handle(events.EndBody(stream_id=number))
            else:  # half of a WebSocket is none
                await self._finish(number)

    # Data from Hypercorn's streams.

    async def stream_send(self, event: events.Event) -> None:
        """Accept a part of a response. Waits for room, except in the reading task."""
        number = event.stream_id
        if isinstance(event, events.StreamClosed):
            await self._finish(number)
        elif self.closed or number not in self.calls:
            return
        elif isinstance(event, (events.InformationalResponse, events.Response)):
            await self._send_headers(number, event.status_code, event.headers)
        elif isinstance(event, (events.Body, events.Data)):
            await self._send_body(number, event.data)
        elif isinstance(event, (events.EndBody, events.EndData)):
            self.calls[number].note_sent()
            self.outgoing.end(number)  # the application need not stay until all is sent
        elif isinstance(event, events.Trailers):
            await self.outgoing.wait_sent(number)
            with suppress(ProtocolError):
                self.connection.send_headers(number, event.headers, end_stream=True)
            self.outgoing.wake()
        # A push (events.Request) is not sent: no client of today takes one.

    async def _send_body(self, number: int, data: bytes) -> None:
        if trio.lowlevel.current_task() is self._reader:
            if self.outgoing.add(number, data) > _UNSENT:
                self._reset(number, ErrorCodes.ENHANCE_YOUR_CALM)
                await self._close_stream(number)
            return

        if len(data) > LIGHT and (call := self.calls.get(number)) is not None:
            process_unsent.large_paths.note(call.stream.scope["raw_path"])
        await self.outgoing.send(number, data, partial(self._note_part, number))

    def _note_part(self, number: int, size: int) -> bool:
        if call := self.calls.get(number):
            call.sent += size
            self._rate_limit.earn(_slice_earns)
        return call is not None

    async def _send_headers(
        self, number: int, status: int, headers: list[tuple[bytes, bytes]]
    ) -> None:
        lines = response_head(status, headers, self.config.response_headers("h2"))
        try:
            self.connection.send_headers(number, lines)
        except ProtocolError as error:
            if not self._is_over(number):
                await self.config.log.error("a response that HTTP/2 does not allow: %s", error)
                self._reset(number, ErrorCodes.INTERNAL_ERROR)
                await self._close_stream(number)
        self.outgoing.wake()

    async def _finish(self, number: int) -> None:
        """End a stream whose application, or whose WebSocket, has ended."""
        call = self.calls.get(number)
        if call is None:
            return
        stream = call.stream
        if isinstance(stream, WSStream) or stream.state == ASGIHTTPState.CLOSED:
            self.outgoing.end(number)
            self.task_group.spawn(self._let_go, number)
        else:
            self.outgoing.drop(number)
            self._reset(number, ErrorCodes.INTERNAL_ERROR)
            self.outgoing.wake()
        await self._close_stream(number)
        self._rate_limit.earn(_answer_earns)

    async def _let_go(self, number: int) -> None:
        """Wait for the end of a response, then tell the client to send no more."""
        await self.outgoing.wait_sent(number)
        self._reset(number, ErrorCodes.NO_ERROR)
        self.outgoing.wake()
        await self.ending.rest()

    # Ends.

    async def reject(self, number: int, rejection: RejectedRequest) -> None:
        """Reject a request with an error status, or reset its unfinished response."""
        call = self.calls.get(number)
        stream = None if call is None else call.stream
        waits = isinstance(stream, HTTPStream) and stream.state == ASGIHTTPState.REQUEST
        fresh = stream is None or waits
        if fresh:
            length = [(b"content-length", b"0")]
            lines = response_head(rejection.status, length, self.config.response_headers("h2"))
            with suppress(ProtocolError):
                self.connection.send_headers(number, lines, end_stream=True)
        self._reset(number, ErrorCodes.NO_ERROR if fresh else ErrorCodes.CANCEL)
        await self._note("%s rejected with %d: %s", rejection.status, rejection.reason)
        if call is not None and isinstance(call.stream, HTTPStream):
            if fresh:
                call.stream.closed = True
                summary: Any = {"status": rejection.status, "headers": []}
                await self.config.log.access(call.stream.scope, summary, call.seconds)
            await self._close_stream(number)
        self.outgoing.wake()

    async def _close_with_error(self, reason: str, code: ErrorCodes | None = None) -> None:
        """End the connection: its client does not speak HTTP/2, or too much of it."""
        if code is not None:
            self.connection.close_connection(code)
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await self._flush()
        await self._note("%s: HTTP/2 ended: %.200s", reason)
        await self.send(Closed())

    async def _note(self, line: str, *values: object) -> None:
        await self.config.log.info(line, show_address(self.client), *values)

    async def _close_stream(self, stream_id: int) -> None:
        if self._is_over(stream_id):
            self.outgoing.drop(stream_id)
        call = self.calls.pop(stream_id, None)
        if call is None:
            return
        self.streams.pop(stream_id, None)
        call.take()
        await call.note_cut_off()
        await call.stream.handle(events.StreamClosed(stream_id=stream_id))
        call.leave()
        await self.ending.rest()

    async def _end(self) -> None:
        self.closed = True
        self.ending.over.set()
        self.outgoing.close()
        for number in list(self.calls):
            await self._close_stream(number)

    async def say_goodbye(self) -> None:
        """Accept no more requests, finish accepted ones, then close."""
        await self.ending.say_goodbye()

    async def cut_off(self, number: int) -> None:
        """Reset a stream whose client does not read."""
        self.outgoing.drop(number)
        self._reset(number, ErrorCodes.CANCEL)
        await self._close_stream(number)
        self.outgoing.wake()

    def _is_over(self, number: int) -> bool:
        stream = self.connection.streams.get(number)
        ended = self.connection.state_machine.state is ConnectionState.CLOSED
        return ended or stream is None or stream.closed

    def _reset(self, number: int, code: ErrorCodes) -> None:
        if not self._is_over(number):
            with suppress(ProtocolError):
                self.connection.reset_stream(number, code)
