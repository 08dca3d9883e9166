"""An open connection to one client, as its requests and WebSockets see it."""

from __future__ import annotations

from fxtrio.server.http1.connection_context import Services
from fxtrio.server.http1.request import RequestReader, RequestRefusal
from fxtrio.server.http1.response import refuse
from fxtrio.server.http1.tls import Peer, show_address
from fxtrio.server.http1.transport import ByteTransport
from fxtrio.server.http1.worker_state import NEVER, Attended


class ClientConnection:
    """What is known of a client, and what it has sent. The connection's task owns it."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.hub = services.hub
        self.limits = services.limits
        self.deadline = NEVER
        self.served = 0  # requests given to the application
        self.linger = False  # whether the client may not have read the last answer yet
        self.peer: Peer
        self.transport: ByteTransport
        self.reader: RequestReader
        self.websocket: Attended | None = None  # once this is one

    async def refuse(self, refusal: RequestRefusal) -> None:
        """Answer with a status of our own, after which the connection closes."""
        self.linger = True
        await self.transport.write(refuse(refusal.status, self.hub.common))
        await self.services.log.info(
            "%s refused with %d: %s",
            show_address(self.peer.client),
            refusal.status,
            refusal.reason,
        )
