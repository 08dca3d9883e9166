"""One client connection: the loop that reads requests and has them answered.

Stands where Hypercorn has its `TCPServer`: made with the application, the config,
the worker's context, the lifespan state and the stream, then awaited. The
application is awaited in the connection's own task. Nothing it does, and nothing a
client sends, makes an exception leave this module.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import trio
from hypercorn.config import Config
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, LifespanState

from fxtrio.http1.answer import answer, converse, plain_application
from fxtrio.http1.handover import PREFACE, hand_over, replayed_head, wants_h2c
from fxtrio.http1.hub import NEVER, hub_of
from fxtrio.http1.opening import Peer, Stream, open_peer, show_address
from fxtrio.http1.request import Refusal, Request, RequestReader
from fxtrio.http1.response import refuse
from fxtrio.http1.transport import Transport

if TYPE_CHECKING:
    from fxtrio.http1.ws_stream import WsStream


class Connection:
    """Serves one client until either side has had enough."""

    def __init__(
        self,
        app: AppWrapper,
        config: Config,
        context: WorkerContext,
        state: LifespanState,
        stream: Stream,
    ) -> None:
        self.app = plain_application(app)
        self.config = config
        self.context = context
        self.state = state
        self.deadline = NEVER
        self.served = 0  # requests given to the application
        self.linger = False  # whether the client may not have read the last answer yet
        self.peer: Peer
        self.transport: Transport
        self.reader: RequestReader
        self.websocket: WsStream | None = None  # once this is a WebSocket
        self._wrapped = app
        self._stream = stream
        self._scope: trio.CancelScope
        self._expired = False
        self._begun: bytearray | None = bytearray()  # while it may be an HTTP/2 preface

    def __await__(self) -> Generator[Any, None, None]:
        """Serve the client."""
        return self.run().__await__()

    async def run(self) -> None:
        """Serve the client. Raises nothing but Cancelled."""
        try:
            await self._run()
        except Exception:
            await self.config.log.exception("Error in a connection")
            await trio.aclose_forcefully(self._stream)

    async def _run(self) -> None:
        peer = await open_peer(self._stream, self.config)
        if peer is None:
            return await trio.aclose_forcefully(self._stream)
        if peer.http2:
            return await self._hand_over(b"")
        self.peer = peer
        self.hub = hub = hub_of(self.context, self.config)
        self.transport = Transport(
            self._stream, peer.socket, readiness=hub.readiness, stall=hub.limits.write_stall
        )
        self.reader = RequestReader(hub.limits)
        self.deadline = hub.now + hub.limits.header_time
        handed: bytes | None = None
        hub.enter(self)
        try:
            handed = await self._serve_until_told()
        finally:
            hub.exit(self)
            self.reader.close()
            if handed is None:
                await self.transport.close(linger=self.linger)
        if handed is not None:
            self.transport.release()
            await self._hand_over(handed)
        return None

    # What the hub calls.

    def expire(self) -> None:
        """Stop waiting for the client: it takes too long."""
        if self.websocket is not None:
            self.websocket.expire()
        else:
            self._expired = True
            self._scope.cancel()

    def leave(self) -> None:
        """End soon when no request has begun, else with the one in hand."""
        if self.websocket is not None:
            self.websocket.leave()
        elif not self.reader.requests:
            self.deadline = min(self.deadline, self.hub.now + self.hub.last_chance)

    def tick(self, now: float) -> None:
        """Look after a WebSocket; a request needs nothing between two deadlines."""
        if self.websocket is not None:
            self.websocket.tick(now)

    # The loop.

    async def _serve_until_told(self) -> bytes | None:
        """Return what was read, when it is for HTTP/2, else None."""
        while True:
            # Cancelled only by `expire` and `leave`, so never while an application runs.
            with trio.CancelScope() as self._scope:
                return await self._serve()
            if self._expired:
                if self.reader.requests:
                    await self.refuse(Refusal(408, "the head came too slowly"))
                return None

    async def _serve(self) -> bytes | None:
        reader, transport, hub, limits = self.reader, self.transport, self.hub, self.hub.limits
        requests, task = reader.requests, trio.lowlevel.current_task()
        # What an application puts into context variables ends with its request. Set
        # before a wait: a task's context is taken when the task is resumed.
        pristine = task.context.copy()
        while True:
            if requests and requests[0].head_done:
                self.deadline = NEVER
                request = requests[0]
                if reader.refusal is not None and not request.complete:
                    await self.refuse(reader.refusal)
                    return None
                if request.upgrading and reader.rest is not None and len(requests) == 1:
                    # Heavy, and many apps have no WebSockets.
                    from fxtrio.http1.handshake import wants_websocket

                    if wants_websocket(request):
                        await converse(self, request)
                        return None
                    handed = self._upgrade(request)
                    if handed is not None:
                        return handed
                self.served += 1
                if not await answer(self, request):
                    return None
                requests.popleft()
                if requests:
                    self.deadline = hub.now + limits.header_time
                    task.context = pristine.copy()
                    await trio.lowlevel.checkpoint()
                else:
                    self.deadline = hub.now + limits.idle_time
            elif reader.refusal is not None:
                await self.refuse(reader.refusal)
                return None
            else:
                fresh = not requests
                if fresh and hub.closing:
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

    def _upgrade(self, request: Request) -> bytes | None:
        """Return what Hypercorn needs to take over; None to go on in HTTP/1.1."""
        reader = self.reader
        if not self.peer.secure and wants_h2c(request):
            assert reader.rest is not None
            return replayed_head(request, bytes(reader.rest))
        reader.decline_upgrade()
        return None

    def _look_for_http2(self, data: bytes) -> bytes | None:
        """Take the first bytes. Return them all when they are HTTP/2's."""
        begun = self._begun
        assert begun is not None
        begun += data
        if not PREFACE.startswith(begun[: len(PREFACE)]):
            self._begun = None
            self.reader.feed(bytes(begun))
        elif len(begun) >= len(PREFACE):
            return bytes(begun)
        return None

    async def _hand_over(self, data: bytes) -> None:
        await hand_over(self._wrapped, self.config, self.context, self.state, self._stream, data)

    async def refuse(self, refusal: Refusal) -> None:
        """Answer with a status of our own, after which the connection closes."""
        self.linger = True
        await self.transport.write(refuse(refusal.status, self.hub.common))
        await self.config.log.info(
            "%s refused with %d: %s",
            show_address(self.peer.client),
            refusal.status,
            refusal.reason,
        )
