"""Writes one response of `text/event-stream`: values, comments while there are none, an end."""

from __future__ import annotations

import logging
from typing import Final

import trio

from fxtrio.asgi_extensions import WholeResponse
from fxtrio.errors import ClientDisconnected
from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.response.response import NO_STORE, UNBUFFERED, Header
from fxtrio.serve.request.response.send_response import complete_headers, direct_parts

log = logging.getLogger("fx.serve")

SILENCE: Final = 15.0
"""A comment follows such a silence: proxies end a response after 30 s and more (seconds)."""

COMMENT: Final = b":\n\n"

_HEADERS: tuple[Header, ...] = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    NO_STORE,
    UNBUFFERED,
)


def event_of(data: bytes) -> bytes:
    """Return the event of a value in JSON, which has no line ends."""
    return b"data: %b\n\n" % data


def end_of(data: bytes) -> bytes:
    """Return the last event, which tells the client how the stream has ended."""
    return b"event: end\n" + event_of(data)


class EventWriter:
    """The response to one request. It begins with its first part, whose status is 200.

    A client that disconnects ends nothing here: later data is discarded, and
    whoever runs the stream watches for the disconnect itself.
    """

    __slots__ = ("_event", "_is_read", "_place", "_preface", "_sent_headers", "begun", "direct")

    def __init__(self, event: RequestEvent, place: str, *, preface: bytes = b"") -> None:
        """``preface`` goes in front of the first event."""
        self._event = event
        self._place = place
        self._preface = preface
        self._sent_headers = 0
        self._is_read = True
        self.begun = False
        """Whether the status is settled."""

        self.direct: WholeResponse | None = None
        """What takes events without waiting once the response has begun, where there is one."""

    async def write(self, data: bytes) -> None:
        """Send events. Waits while the client reads nothing; once cancelled, sends no more."""
        if not self._is_read:
            return
        try:
            is_first = not self.begun
            if is_first:
                await self._begin()
                data = self._preface + data
            await self._event.send({"type": "http.response.body", "body": data, "more_body": True})
            if is_first:
                self.direct = direct_parts(self._event)
        except (ClientDisconnected, OSError):
            self._is_read = False
        except trio.Cancelled:  # a part of it may have been sent: nothing can follow
            self._is_read = False
            raise

    async def end(self, last: bytes) -> None:
        """Send the last event, and end the response."""
        await self.write(last)
        if self._is_read:
            await self._event.send({"type": "http.response.body", "body": b""})
        self._log_ignored_headers()

    async def _begin(self) -> None:
        self.begun = True
        headers = complete_headers(self._event, list(_HEADERS))
        self._sent_headers = len(self._event.draft.raw_headers)
        self._event.status = 200
        await self._event.send({"type": "http.response.start", "status": 200, "headers": headers})

    def _log_ignored_headers(self) -> None:
        """Log the headers that were set after they were sent."""
        ignored = self._event.draft.raw_headers[self._sent_headers :]
        if ignored:
            names = ", ".join(name.decode("latin-1") for name, _ in ignored)
            log.warning(
                "%s: set %s after its first value, so it is lost. "
                "Set headers and cookies before the first yield.",
                self._place,
                names,
            )
