"""Reserves the media type of payloads for the runtime: other responses lose it.

The client router runs the code that a payload names, and an application may send files that
visitors uploaded, with a type that they chose.
"""

from __future__ import annotations

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fxtrio.serve.request.client_protocol import PAYLOAD

SENT: Final = "fx.payload"
"""Key in the scope of a request: a list that is no longer empty when a payload was sent."""

_PLAIN = (b"content-type", b"application/json")


def without_payload_type(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return ``headers`` with another media type in place of that of payloads."""
    for index, (name, value) in enumerate(headers):
        if PAYLOAD in bytes(value).lower() and bytes(name).lower() == b"content-type":
            headers = [*headers[:index], _PLAIN, *headers[index + 1 :]]
    return headers


class OnlyPayloads:
    """Outermost middleware, since other middleware may respond on its own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the app. All requests are checked, since browsers cache responses."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent: list[bool] = []
        scope[SENT] = sent

        async def check(message: Message) -> None:
            if message["type"] == "http.response.start" and not sent:
                headers = [
                    (bytes(name), bytes(value)) for name, value in message.get("headers", ())
                ]
                message = {**message, "headers": without_payload_type(headers)}
            await send(message)

        await self._app(scope, receive, check)
