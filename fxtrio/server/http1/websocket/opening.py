"""A WebSocket until its application has answered the handshake.

The application accepts, or rejects with a status and a body. What the client sends before that
belongs to the WebSocket that may come of it, and is bounded.
"""

from __future__ import annotations

import trio

from fxtrio.errors import ClientDisconnected
from fxtrio.server.http1.connection_context import ClientConnection
from fxtrio.server.http1.request import READ_SIZE, RejectedRequest
from fxtrio.server.http1.response import (
    CLIENT_LEFT,
    DONE,
    NOTHING,
    STARTED,
    BadResponse,
    Message,
    Response,
)
from fxtrio.server.http1.websocket.handshake import Offer
from fxtrio.server.http1.websocket.protocol import WsProtocol


class Opening:
    """The answer to one handshake, and what was read before it."""

    def __init__(self, connection: ClientConnection, offer: Offer) -> None:
        self.status: int | None = None
        """That the client was answered with."""

        self._connection = connection
        self._transport = connection.transport
        self._offer = offer
        # Taken from the reader, which lives as long as this.
        self._early, connection.reader.rest = connection.reader.rest or bytearray(), bytearray()
        self._reading: trio.CancelScope | None = None
        self._denial = Response(keep_alive=False)

    @property
    def is_rejected(self) -> bool:
        """Whether the application has begun to reject the handshake."""
        return self._denial.stage != NOTHING

    def accept(self, message: Message) -> tuple[bytes, WsProtocol]:
        """Return the answer that opens the WebSocket, and its protocol with what was read before.

        Raises BadResponse for a message that the application must not send.
        """
        connection = self._connection
        head = self._offer.accept(message, connection.hub.common)
        self.status = 101
        protocol = WsProtocol(self._offer.protocol, connection.limits.websocket_backlog)
        if self._early:  # it goes before whatever is read from now on
            protocol.feed(bytes(self._early))
            self._early = bytearray()  # which would else stay as long as the WebSocket
            if self._reading is not None:
                self._reading.cancel()
        return head, protocol

    async def reject(self, kind: str, message: Message) -> None:
        """Take a message that does not accept.

        Raises BadResponse when the application breaks the protocol, and ClientDisconnected.
        """
        denial, connection = self._denial, self._connection
        if kind == "websocket.close" and not self.is_rejected:
            denial.stage, self.status = DONE, 403
            await connection.reject(RejectedRequest(403, "the application rejected the WebSocket"))
        elif kind == "websocket.http.response.start":
            denial.start(message)
            self.status = message["status"]
        elif kind == "websocket.http.response.body":
            connection.linger = True
            data = denial.encode(
                message.get("body", b""),
                message.get("more_body", False),
                method="GET",
                version="1.1",
                common=connection.hub.common,
            )
            await self._transport.write(data if isinstance(data, bytes) else b"".join(data))
        elif self._transport.broken or self._transport.ended:
            raise ClientDisconnected
        else:
            raise BadResponse(f"{kind!r} cannot be sent before websocket.accept.")

    async def read(self) -> bytes | None:
        """Read once; b"" when the client has left, or sends too much.

        None when `accept` was called meanwhile, and its protocol may have messages now.
        """
        if len(self._early) > READ_SIZE:
            self._transport.abort()  # a client waits for the answer before it sends that much
            return b""
        if not self._early:
            return await self._transport.read()
        with trio.CancelScope() as self._reading:
            return await self._transport.read()
        return None

    def hold(self, data: bytes) -> None:
        """Hold what was read, since the handshake is not answered yet."""
        self._early += data

    async def end(self, *, left: bool) -> None:
        """Answer for an application that has not; ``left``: it knew that its client was gone."""
        if self._denial.stage in (NOTHING, STARTED):
            if self._transport.broken or left:
                self.status = CLIENT_LEFT
                return
            self.status = 500
            await self._connection.reject(RejectedRequest(500, "the application sent no response"))
