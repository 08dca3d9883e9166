"""The receive queue of an application, and the task that runs the application.

Hypercorn itself uses a channel for ten messages, which is never closed: if the application
stops receiving, the sender waits forever.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from math import inf
from sys import getsizeof
from typing import Any

import trio
from hypercorn.config import Config
from hypercorn.typing import AppWrapper

from fxtrio.errors import ClientDisconnected
from fxtrio.server.http1.response import SENDS_AFTER_DISCONNECT

Message = dict[str, Any]

_ROOM = 64 * 1024
"""Bytes, and messages in the next, that wait before `ReceiveQueue.put` does."""

_MESSAGES = 100

_MESSAGE_OVERHEAD = 256
"""Bytes that a message takes in memory besides its content."""


class ReceiveQueue:
    """The ``receive`` of one application. Ends with `close`.

    A body is buffered as one piece. ``taken`` is called whenever the queue becomes empty,
    and must not wait. Without it, `put` waits for room. ``allowed`` returns how many more
    seconds the application may wait for the body; after them ``overdue`` is called.
    """

    def __init__(
        self,
        *,
        taken: Callable[[], object] | None = None,
        allowed: Callable[[float], float] = lambda waited: inf,
        overdue: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        self.left = False
        """Whether the client has disconnected, or the exchange is finished."""

        self.disconnect_received = False
        """Whether the application has received that."""

        self.size = 0
        """Bytes in messages of a WebSocket that wait."""

        self._taken = taken
        self._allowed = allowed
        self._overdue = overdue
        self._messages: deque[Message] = deque()
        self._body = bytearray()
        self._ended = self._delivered = self._closed = False
        self._last: Message = {"type": "http.disconnect"}
        self._waited = 0.0
        self._waiting = 0
        self._changed = trio.Event()

    async def put(self, message: Message) -> None:
        """Take a message from the server."""
        kind = message["type"]
        if kind.endswith(".disconnect"):
            self.leave(message)
        elif self.left or self._closed:
            return
        elif kind == "http.request":
            self._body += message["body"]
            self._ended = not message["more_body"]
        else:
            self._messages.append(message)
            self.size += _size(message)
        self._change()
        if self._taken is None:
            while not (self.left or self._closed) and (
                len(self._body) > _ROOM or len(self._messages) > _MESSAGES
            ):
                await self._changed.wait()

    def leave(self, message: Message) -> None:
        """Let `receive` return ``message`` from now on, when nothing else is left."""
        if not self.left:
            self.left = True
            self._last = message
            self._change()

    def close(self) -> None:
        """Drop everything after the application's end, and wake waiting senders."""
        self._closed = True
        self._messages.clear()
        self._body.clear()
        self._change()

    @property
    def is_awaited(self) -> bool:
        """Whether the application waits and there is nothing for it."""
        return self._waiting > 0 and not self._messages and not self._body

    async def receive(self) -> Message:
        """Return the next message. Does not wait, nor yield, for one that is there."""
        while True:
            message = self._take()
            if message is not None:
                if self._taken is not None and not self._messages:
                    self._taken()
                return message
            began = trio.current_time()
            allowed = inf if self._delivered else max(self._allowed(self._waited), 0.0)
            self._waiting += 1
            if self._taken is not None:
                self._taken()
            try:
                with trio.move_on_after(allowed) as scope:
                    await self._changed.wait()
            finally:
                self._waiting -= 1
                self._waited += trio.current_time() - began
            if scope.cancelled_caught and self._overdue is not None:
                await self._overdue()

    def _take(self) -> Message | None:
        if self._messages:
            self._change()
            message = self._messages.popleft()
            self.size -= _size(message)
            return message
        if self._body or (self._ended and not self._delivered):
            body = bytes(self._body)
            self._body.clear()
            self._delivered = self._ended
            self._change()
            return {"type": "http.request", "body": body, "more_body": not self._ended}
        if not self.left:
            return None
        self.disconnect_received = True
        return self._last

    def _change(self) -> None:
        self._changed.set()
        self._changed = trio.Event()


def _size(message: Message) -> int:
    return getsizeof(message.get("bytes") or message.get("text") or b"") + _MESSAGE_OVERHEAD


async def run_application(
    app: AppWrapper, config: Config, scope: Any, queue: ReceiveQueue, send: Callable[[Any], Any]
) -> None:
    """Run an application for one request, and have it finished whatever it does.

    ``send`` gets its messages while the client is there, and None at the end.
    """
    unheard = 0

    async def guarded(message: Any) -> None:
        nonlocal unheard
        if not queue.left:
            await send(message)
            if message["type"] == "websocket.send":
                await trio.lowlevel.checkpoint()
            return
        # Without this checkpoint a receive loop would block the event loop.
        await trio.lowlevel.checkpoint()
        unheard += 1
        if message["type"] == "websocket.send" or unheard > SENDS_AFTER_DISCONNECT:
            raise ClientDisconnected

    try:
        receive: Any = queue.receive
        await app(scope, receive, guarded, trio.to_thread.run_sync, trio.from_thread.run)
    except* ClientDisconnected:
        pass
    except* Exception as group:
        error = group.exceptions[0] if len(group.exceptions) == 1 else group
        path = scope["raw_path"].decode("latin-1")
        if queue.disconnect_received:
            # An error after a disconnect is no defect of the application.
            await config.log.info("%s: ended with %r after its client", path, error)
        else:
            await config.log.error("%s: the application failed", path, exc_info=error)
    finally:
        queue.close()
        await send(None)
