"""One client connection: the loop that reads requests and has them answered.

Made with the worker's services and a stream, then awaited. The application is
awaited in the connection's own task. Nothing it does, and nothing a client sends,
makes an exception leave this module.
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from contextvars import Context
from typing import Any

import trio

from fxtrio.log_limit import more_like_it
from fxtrio.server.http1.app_runner import answer, converse, resume
from fxtrio.server.http1.connection_context import ClientConnection, Services
from fxtrio.server.http1.http_stream import HttpStream
from fxtrio.server.http1.request import RejectedRequest, Request, RequestReader
from fxtrio.server.http1.tls import HandshakeFailed, Stream, open_peer
from fxtrio.server.http1.transport import ByteTransport
from fxtrio.server.http1.worker_state import NEVER

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""What an HTTP/2 client sends first (RFC 9113, section 3.4)."""


class Connection(ClientConnection):
    """Serves one client until either side has had enough."""

    def __init__(self, services: Services, stream: Stream) -> None:
        super().__init__(services)
        self._stream = stream
        self._scope: trio.CancelScope
        self._expired = False
        self._begun: bytearray | None = None  # while it may be an HTTP/2 preface

    def __await__(self) -> Generator[Any, None, None]:
        """Serve the client."""
        return self.run().__await__()

    async def run(self) -> None:
        """Serve the client. Raises nothing but Cancelled."""
        try:
            await self._run()
        except Exception:
            await self.services.log.exception("Error in a connection")
            await trio.aclose_forcefully(self._stream)

    async def _run(self) -> None:
        services, hub = self.services, self.hub
        peer = None
        try:
            peer = await open_peer(self._stream, services.handshake_time)
        except HandshakeFailed as error:
            untold = services.repeats.again("handshake", trio.current_time())
            if untold is not None:
                line = "%s: the TLS handshake failed: %s" + more_like_it(untold)
                await services.log.info(line, *error.args)
        if peer is None:
            return await trio.aclose_forcefully(self._stream)
        if peer.http2:
            return await services.serve_http2(self._stream, b"")
        self.peer = peer
        self.transport = ByteTransport(
            self._stream,
            peer.socket,
            readiness=hub.readiness,
            stall=self.limits.write_stall,
            rate=self.limits.write_rate,
            address=hub.share_of(peer.client, ()),
        )
        if services.h2c and not peer.secure:
            self._begun = bytearray()
        self.reader = RequestReader(self.limits, hub.heads)
        self.deadline = hub.now + self.limits.header_time
        handed: bytes | Request | None = None
        hub.enter(self)
        try:
            try:
                handed = await self._serve_until_stopped()
            finally:
                self.reader.close()
            if isinstance(handed, Request):
                await converse(self, handed)
        finally:
            hub.exit(self)
            if not isinstance(handed, bytes):
                await self.transport.close(linger=self.linger)
        if isinstance(handed, bytes):
            self.transport.release()
            await services.serve_http2(self._stream, handed)
        return None

    # What the hub calls.

    def expire(self) -> None:
        """Stop waiting for the client: it takes too long."""
        if self.websocket is not None:
            self.websocket.expire()
        else:
            self._expired = True
            self._scope.cancel()

    def interrupt(self, stream: HttpStream, reason: str) -> None:
        """Cancel the call of the application; `_serve` resumes its request in another scope."""
        self.interrupted = stream
        self._scope.cancel(reason)

    def leave(self) -> None:
        """End soon when no request has begun, else with the one in hand."""
        if self.websocket is not None:
            self.websocket.leave()
        elif not self.reader.requests:
            self.deadline = min(self.deadline, self.hub.now + self.hub.last_chance)

    def tick(self, now: float) -> float:
        """Look after a WebSocket; a request needs nothing between two deadlines, but moves them."""
        return now if self.websocket is None else min(self.websocket.tick(now), self.deadline)

    def wake(self) -> None:
        """Have the hub look at this connection with each tick, after it needed nothing."""
        self.hub.wake(self)

    # The loop.

    async def _serve_until_stopped(self) -> bytes | Request | None:
        """Return what was read, when it is for HTTP/2, or the request for a WebSocket."""
        # What an application puts into context variables ends with its request.
        pristine = trio.lowlevel.current_task().context.copy()
        while True:
            # Cancelled by `expire`, never while an application runs, and by `interrupt`, only then.
            with trio.CancelScope() as self._scope:
                return await self._serve(pristine)
            if self._expired:
                if self.reader.requests:
                    await self.reject(RejectedRequest(408, "the headers arrived too slowly"))
                return None

    async def _serve(self, pristine: Context) -> bytes | Request | None:
        reader, transport, hub, limits = self.reader, self.transport, self.hub, self.limits
        requests, task = reader.requests, trio.lowlevel.current_task()
        call: Coroutine[Any, Any, bool] | None = None
        if self.interrupted is not None:
            stream, self.interrupted = self.interrupted, None
            call = resume(self, stream)
        while True:
            # A context is set before a wait: a task's is taken when the task is resumed.
            if call is not None:
                if not await call:
                    return None
                call = None
                del requests[0]
                if requests:
                    self.deadline = hub.now + limits.header_time
                    task.context = pristine.copy()
                    await trio.lowlevel.checkpoint()
                else:
                    self.deadline = hub.now + limits.idle_time
            elif requests and requests[0].head_done:
                self.deadline = NEVER
                request = requests[0]
                if reader.rejection is not None and not request.complete:
                    await self.reject(reader.rejection)
                    return None
                if request.upgrading and reader.rest is not None and len(requests) == 1:
                    # Heavy, and many apps have no WebSockets.
                    from fxtrio.server.http1.websocket.handshake import wants_websocket

                    if wants_websocket(request):
                        return request
                    # No other offer is taken up (RFC 9110, 7.8). That of h2c is gone from HTTP/2,
                    # and led clients past the rules of a proxy that passed it on.
                    reader.decline_upgrade()
                self.served += 1
                call = answer(self, request)
            elif reader.rejection is not None:
                await self.reject(reader.rejection)
                return None
            else:
                fresh = not requests
                if fresh and hub.closing:  # which came while there was a request in hand
                    self.leave()
                task.context = pristine.copy()
                data = await transport.read()
                if not data:
                    return None
                if self._begun is not None:
                    handed = self._look_for_http2(data)
                    if handed is not None:
                        return handed
                else:
                    reader.feed(data)
                if fresh and not (requests and requests[0].head_done):
                    deadline = hub.now + limits.header_time
                    # Empty lines are not the beginning of a request: they prolong nothing.
                    self.deadline = deadline if requests else min(self.deadline, deadline)

    def _look_for_http2(self, data: bytes) -> bytes | None:
        """Take the first bytes. Return them all when they are HTTP/2's."""
        begun = self._begun
        assert begun is not None
        begun += data
        if not _PREFACE.startswith(begun[: len(_PREFACE)]):
            self._begun = None
            self.reader.feed(bytes(begun))
        elif len(begun) >= len(_PREFACE):
            return bytes(begun)
        return None
