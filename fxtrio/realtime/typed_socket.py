"""`WebSocket[Message]`: a WebSocket whose messages to the client have a type.

A handler that annotates its ``ws`` also declares the type of its channels: type checkers
use it for `channel`, and `fx typecheck` for ``useWebSocket`` in the client half. Messages
are not checked at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from starlette.websockets import WebSocket as PlainWebSocket

Sent = TypeVar("Sent")


class WebSocket(PlainWebSocket, Generic[Sent]):
    """The socket of a page's ``websocket(ws)``; ``Sent`` is the type of messages to the client."""

    if TYPE_CHECKING:

        async def send_json(self, data: Sent, mode: str = "text") -> None:
            """Send a message as JSON."""
