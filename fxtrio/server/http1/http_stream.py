"""One HTTP request and its answer: the ``receive`` and ``send`` of an ASGI application.

The application runs in the connection's task, so both usually return without
waiting. The socket is read only while the application waits in `receive`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from math import inf

import trio

from fxtrio.errors import ClientDisconnected
from fxtrio.send_budget import LIGHT, process_unsent
from fxtrio.server.http1.connection_context import ClientConnection, Scope
from fxtrio.server.http1.request import READ_SIZE, RejectedRequest, Request
from fxtrio.server.http1.response import (
    DONE,
    HEAD_SENT,
    SENDS_AFTER_DISCONNECT,
    STARTED,
    BadResponse,
    Message,
    Response,
)


class HttpStream(Response):
    """Valid until the application returns; afterwards it is deaf and mute."""

    left = False
    """Whether the application was told that its client is gone."""

    began = 0.0
    """When the application was called (`time.perf_counter`), where there is an access log."""

    shared = False
    """Whether a task of the application may be reading still (see `release`)."""

    _body_taken = False  # the end of the body was received by the application
    _waited = 0.0  # seconds that the body has kept the application waiting
    _unheard = 0  # parts of the answer that went nowhere
    _ahead = 0  # bytes read behind this request
    _reading: trio.CancelScope | None = None
    _turn: trio.Lock | None = None

    interrupts = True
    resume: Callable[[], Awaitable[None]] | None = None
    """Answers the request in place of a call that was interrupted."""

    def __init__(
        self, connection: ClientConnection, request: Request, scope: Scope, keep_alive: bool
    ) -> None:
        self.connection = connection
        self.request = request
        self.scope = scope
        self.keep_alive = keep_alive

    async def receive(self) -> Message:
        """Return the next ASGI message: parts of the body, then, once it is so, the disconnect."""
        request = self.request
        if (request.chunks or (request.complete and not self._body_taken)) and self.stage != DONE:
            return self._part()
        return await self._receive_later()

    async def send(self, message: Message) -> None:
        """Take an ASGI message.

        Raises BadResponse when the application breaks the protocol, and
        ClientDisconnected when it goes on with a body that nobody reads.
        """
        kind = message["type"]
        if kind == "http.response.body":
            connection, request = self.connection, self.request
            more = message.get("more_body", False)
            if self.stage == STARTED and (connection.hub.closing or not request.complete):
                self.keep_alive = False
            data = self.encode(
                message.get("body", b""),
                more,
                method=request.method,
                version=request.version,
                common=connection.hub.common,
            )
            transport = connection.transport
            if isinstance(data, bytes):
                sent = not data or transport.write_now(data)
            else:
                sent = transport.write_parts_now(data)
            if not sent:
                self._note_unread(len(message.get("body", b"")))
                await transport.flush()
            if more:
                await trio.lowlevel.checkpoint()
                if transport.broken:
                    self._unheard += 1
                    if self._unheard > SENDS_AFTER_DISCONNECT:
                        raise ClientDisconnected
        elif kind == "http.response.start":
            if self.left:
                self._check_last_word(message["status"])
            self.start(message)
        elif self.stage != DONE:
            raise BadResponse(f"{kind!r} is not a message of an HTTP response.")

    def __call__(self, status: int, lines: Iterable[bytes], body: bytes) -> bool:
        """Send a complete response without waiting (`fxtrio.asgi_extensions.WholeResponse`)."""
        connection, request = self.connection, self.request
        if self.left:
            self._check_last_word(status)
        if connection.hub.closing or not request.complete:
            self.keep_alive = False
        common = connection.hub.common
        data = self.encode_whole(status, lines, body, request.method, request.version, common)
        transport = connection.transport
        if isinstance(data, bytes):
            sent = transport.write_now(data)
        else:
            sent = transport.write_parts_now(data)
        if not sent:
            self._note_unread(len(body))
        return sent

    def write_part(self, body: bytes) -> bool:
        """Send a part of the body without waiting (`fxtrio.asgi_extensions.WholeResponse`)."""
        connection, request = self.connection, self.request
        data = self.encode(body, True, method=request.method, version=request.version, common=b"")
        transport = connection.transport
        if isinstance(data, bytes):
            sent = not data or transport.write_now(data)
        else:
            sent = transport.write_parts_now(data)
        if not sent:
            self._note_unread(len(body))
        return sent

    def take_body(self, most: int) -> bytes | None:
        """Return the body if all of it has come, in place of `receive`."""
        request = self.request
        if (
            not request.complete
            or self._body_taken
            or request.received > most
            or self.stage == DONE
        ):
            return None
        chunks = request.chunks
        body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        if len(body) != request.received:  # a part of it was received already
            return None
        request.chunks = []
        self._body_taken = True
        return body

    async def flush(self) -> None:
        """Wait until what was sent is out, or the client cannot be reached."""
        await self.connection.transport.flush()

    def interrupt(self, reason: str) -> None:
        """Cancel the application's call; `resume` follows it."""
        self.connection.interrupt(self, reason)

    def _note_unread(self, size: int) -> None:
        """Note whose response waits, and that responses of its path become large."""
        connection, request = self.connection, self.request
        share = connection.hub.share_of(connection.peer.client, request.headers)
        connection.transport.count_for(share)
        if size > LIGHT:
            process_unsent.large_paths.note(request.target)

    def _check_last_word(self, status: int) -> None:
        """Raise ClientDisconnected when the answer is not the application's any more.

        To a body that is refused the application may say so in its own words. Others
        have taken the end of it for a disconnect, or for the end of the body.
        """
        is_rejected = self.connection.reader.rejection is not None and not self.request.complete
        if is_rejected and not 400 <= status < 500:
            raise ClientDisconnected

    async def release(self) -> None:
        """Wait until a task that the application left behind has stopped reading."""
        assert self._turn is not None
        if self._reading is not None:
            self._reading.cancel()
        async with self._turn:
            self.left = True

    def _part(self) -> Message:
        request = self.request
        chunks = request.chunks
        if chunks:
            body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
            request.chunks = []
        else:
            body = b""
        self._body_taken = request.complete
        return {"type": "http.request", "body": body, "more_body": not request.complete}

    async def _receive_later(self) -> Message:
        if self._turn is None:
            self._turn = trio.Lock()
            self.shared = True
        try:
            # No checkpoint when it is free: "has my client left?" is asked in a cancelled scope.
            self._turn.acquire_nowait()
        except trio.WouldBlock:
            await self._turn.acquire()
        try:
            return await self._next()
        finally:
            self._turn.release()

    async def _next(self) -> Message:
        request, connection = self.request, self.connection
        reader, transport = connection.reader, connection.transport
        while self.stage != DONE:
            if request.chunks or (request.complete and not self._body_taken):
                return self._part()
            if transport.ended or transport.broken or (reader.rejection and not request.complete):
                break
            if request.expects and not request.complete and self.stage < HEAD_SENT:
                request.expects = False
                await transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            data = transport.read_now() if self._ahead < READ_SIZE else None
            waited = data is None
            if data is None:
                data = await self._wait()
            if data:
                if request.complete:
                    self._ahead += len(data)
                reader.feed(data)
                if not waited:  # a fast client must not keep the others waiting
                    await trio.lowlevel.checkpoint()
        self.left = True
        return {"type": "http.disconnect"}

    async def _wait(self) -> bytes:
        """Wait for bytes; b"" at the end of them, of the time allowed, or of the answer."""
        connection, request = self.connection, self.request
        limits, transport = connection.limits, connection.transport
        began = trio.current_time()
        allowed = inf
        if not request.complete:
            allowed = limits.body_grace + request.received / limits.body_rate - self._waited
        with trio.CancelScope(deadline=began + max(allowed, 0)) as scope:
            self._reading = scope
            try:
                if self._ahead >= READ_SIZE:
                    # Enough is known of what comes next: nothing is read, so the end is asked for.
                    while not transport.has_hung_up():  # noqa: ASYNC110  # the kernel sets no event
                        await trio.sleep(limits.precision)
                    return b""
                return await transport.read()
            finally:
                self._reading = None
                self._waited += trio.current_time() - began
        if self.stage != DONE:
            connection.reader.rejection = RejectedRequest(408, "the body arrived too slowly")
        return b""
