"""`WebSocket[Message]`: a WebSocket whose messages to the client have a type.

A handler that annotates its ``ws`` so says what its channels carry, too: type checkers know
it of `channel`, and `fx typecheck` of ``useWebSocket`` in the UI half. Nothing is checked
when messages are sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from starlette.websockets import WebSocket as PlainWebSocket

Sent = TypeVar("Sent")


class WebSocket(PlainWebSocket, Generic[Sent]):
    """What a page's ``websocket(ws)`` gets; ``Sent`` is what its client is sent."""

    if TYPE_CHECKING:

        async def send_json(self, data: Sent, mode: str = "text") -> None:
            """Send a message as JSON."""
