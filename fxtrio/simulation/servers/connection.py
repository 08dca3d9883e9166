"""A connection between a client and a process of the app, in place of a socket."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import trio
from starlette.types import Message, Receive, Scope, Send

from fxtrio.testing.responses import ConnectionLost

Pause = Callable[[], float]
"""Returns how long the client takes to read on (seconds); 0 for a client that reads at once."""


@attrs.define(eq=False)
class Connection:
    """One request, or one WebSocket."""

    scope: Scope
    number: int
    """Of the run, from 1 on."""

    _take: Receive
    """Returns the next message of the client."""

    _pause: Pause
    _outbox: tuple[trio.MemorySendChannel[Message], trio.MemoryReceiveChannel[Message]] = (
        attrs.field(factory=lambda: trio.open_memory_channel[Message](0))
    )
    statuses: list[int] = attrs.field(factory=list)
    """The statuses that the app sent; one, unless it is a WebSocket."""

    ended: bool = False
    """Whether the app has sent the end of its response."""

    left: trio.Event = attrs.field(factory=trio.Event)
    """The client has left."""

    transactional: bool = False
    """Whether it is answered by an action with ``transaction=True``."""

    killed: bool = False
    """Whether its process has ended before it was answered."""

    cut_short: bool = False
    """Whether the app has returned without an end of its response, to a client that was there."""

    failure: BaseException | None = None
    """What has left the app, other than a cancellation."""

    _begun: bool = False
    """Whether the app has taken the body of the request."""

    # --- the client's side

    async def exchange(self, send: Send) -> None:
        """Carry messages of the process to a client. Raises ConnectionLost."""
        began = False
        try:
            async for message in self._outbox[1]:
                began = self.scope["type"] == "http"
                pause = self._pause()
                if pause:
                    await trio.sleep(pause)
                try:
                    await send(message)
                except OSError:  # the client has left the block of its WebSocket
                    break
        finally:
            self.left.set()
            self._outbox[1].close()
        # Without a status the client itself says that there was no response.
        if began and not self.ended:
            raise ConnectionLost("The server has closed the connection within its response.")
        if self.killed and self.scope["type"] == "websocket" and not self.ended:
            raise ConnectionLost("The server has closed the connection before its handshake.")

    def cut(self) -> None:
        """Let the client see that its process has ended."""
        self.killed = True
        self._outbox[0].close()

    # --- the server's side

    async def receive(self) -> Message:
        """Return the next message of the client, as an ASGI server does."""
        if self.scope["type"] == "websocket":
            return await self._take()  # a disconnect when the client has left
        if not self._begun:
            self._begun = True
            await trio.lowlevel.checkpoint()  # the body arrives at a step of the seed
            if not self.left.is_set():
                return await self._take()
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Pass a message to the client. Raises OSError when it has left."""
        kind = message["type"]
        if kind in {"http.response.start", "websocket.http.response.start"}:
            self.statuses.append(message["status"])
        try:
            await self._outbox[0].send(dict(message))
        except trio.BrokenResourceError:
            if self.scope["type"] == "websocket":
                raise OSError("the client has left") from None
        if kind.startswith("websocket"):
            self.ended = True  # it may be closed at any time
        elif kind == "http.response.body" and not message.get("more_body"):
            self.ended = True

    def check_end(self) -> None:
        """The app has returned, and was not cancelled: its response has an end, or it is noted."""
        self.cut_short = bool(self.statuses) and not (self.ended or self.left.is_set())

    def close(self) -> None:
        """The app has returned: the client gets no more."""
        self._outbox[0].close()


def describe(connection: Connection) -> str:
    """Return what a connection is for, as a trace names it."""
    scope = connection.scope
    return f"{scope.get('method', 'WebSocket')} {scope['path']} ({connection.number})"
