"""One `@stream` for one client: its arguments, its events, and how it ends.

`event: end` tells the client that there is nothing more to come. A response that ends without
it, behind a `retry:`, is continued by the client after that pause: an `EventSource` does so by
itself, and names the last id that it has.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable
from math import inf
from random import uniform
from typing import Any, Final

import msgspec

from fxtrio.encode import encode
from fxtrio.errors import BrokerUnreachable, Busy, Redirect
from fxtrio.realtime.feeds.feed import Event
from fxtrio.realtime.presence import Missed
from fxtrio.serve.actions.execution import failure
from fxtrio.serve.event_streams.forward import forward
from fxtrio.serve.event_streams.generated import Generated
from fxtrio.serve.event_streams.open_streams import OpenStream
from fxtrio.serve.event_streams.writer import EventWriter, end_of, event_of
from fxtrio.serve.pages.functions.server_functions import StreamCode
from fxtrio.serve.pages.resources import Running
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.bodies.forms import form_values
from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.response.error_response import error_body, error_reply, whole_seconds
from fxtrio.serve.request.response.response import NOTHING, Answer, redirected
from fxtrio.serve.request.response.unwrap import unwrap

log = logging.getLogger("fx.serve")

OPENING: Final = 0.25
"""What a stream raises within this time, before its first value, still has its own status; then
the response begins, so that the client learns that it is connected (seconds)."""

RETRY: Final = 3.0
"""After how long a client reconnects when the connection is lost (seconds)."""

RESTART: Final = (0.5, RETRY)
"""The same when the server restarts; a random time, so that not all come at once (seconds)."""

FAILED: Final = 10.0
"""The same when the stream has failed (seconds)."""

_LONGEST_ID = 1024
"""Longer ids are ignored: none of ours is (characters)."""


# Without a frame of its own, which the stream would keep for hours.
def send_stream(
    site: Site, running: Running, event: RequestEvent, code: StreamCode, open_stream: OpenStream
) -> Awaitable[Answer]:
    """Run a stream for as long as its client is there; return a response if none has begun."""
    return _Stream(site, event, code, open_stream).run(running)


class _Stream:
    """One call of a `@stream` function."""

    __slots__ = ("_code", "_event", "_open_stream", "_site", "_values")

    def __init__(
        self, site: Site, event: RequestEvent, code: StreamCode, open_stream: OpenStream
    ) -> None:
        self._site = site
        self._event = event
        self._code = code
        self._open_stream = open_stream
        self._values = Generated(self._open, encode_event, code.place)

    async def run(self, running: Running) -> Answer:
        """Send the values, and how the stream has ended."""
        with running.watchdog.watch(self._event.receive, limit=inf):
            writer = EventWriter(self._event, self._code.place, preface=_retry(RETRY))
            is_complete = await forward(
                self._values, writer, self._open_stream, place=self._code.place, opening=OPENING
            )
            return await self._end(writer, is_complete=is_complete)
        self.log_error()
        return NOTHING

    async def _end(self, writer: EventWriter, *, is_complete: bool) -> Answer:
        error = self._values.take_error()
        if error is None:
            await writer.end(end_of(b'{"ok":true}') if is_complete else _retry(uniform(*RESTART)))
            return NOTHING
        known = unwrap(error, self._event.draft, self._code.place)
        if isinstance(known, (Busy, BrokerUnreachable)):
            log.error("%s: %s", self._code.place, known)
            pause = known.retry_after if isinstance(known, Busy) else RETRY
            await writer.end(_retry(whole_seconds(pause)))
            return NOTHING
        failed = failure(known, self._code.place, development=self._site.development)
        if not writer.begun:
            if isinstance(failed, Redirect):
                return redirected(failed, navigation=False)
            return error_reply(failed)
        if isinstance(failed, Redirect):
            await writer.end(end_of(msgspec.json.encode({"ok": True, "redirect": failed.url})))
        elif failed.status < 500:
            await writer.end(end_of(error_body(failed)))
        else:
            await writer.end(_retry(FAILED))
        return NOTHING

    def log_error(self) -> None:
        """Log what the stream raised when its client had disconnected."""
        if (error := self._values.take_error()) is not None:
            known = unwrap(error, self._event.draft, self._code.place)
            failure(known, self._code.place, development=self._site.development)

    async def _open(self) -> AsyncGenerator[Any, None]:
        code, event = self._code, self._event
        after, query = read_query(event)
        arguments: dict[str, Any] = {}
        if code.takes_after:
            arguments["after"] = after
        if code.query is not None:
            needs_none = code.query.optional and not query
            arguments[code.query_name] = None if needs_none else code.query.build(query, True)
        return code.function(event.request, **arguments)


def read_query(event: RequestEvent) -> tuple[str | None, dict[str, Any]]:
    """Return the id of the last event that the client has, None for none, and the query without it.

    An `EventSource` that reconnects sends the id as `Last-Event-ID`; one that is new has it in its
    query, as ``after``.
    """
    query = form_values(event.request.query_params)
    parameter = query.pop("after", None)
    header = event.headers.get(b"last-event-id")
    after = parameter if header is None else header.decode("utf-8", "replace")
    if not isinstance(after, str) or not after or len(after) > _LONGEST_ID:
        return None, query
    return after, query


def encode_event(value: Any) -> bytes:
    """Return a value as it is sent. Raises NotSerializable, and ValueError for an id."""
    if isinstance(value, Missed):
        return b"event: missed\n" + event_of(msgspec.json.encode({"count": value.count}))
    if not isinstance(value, Event):
        return event_of(encode(value, place="the stream"))
    data = event_of(encode(value.data, place="the stream"))
    if value.id is None:
        return data
    if any(char in value.id for char in "\r\n\0"):
        raise ValueError(f"Event: the id {value.id!r} has a line end or a NUL character.")
    return b"id: %b\n%b" % (value.id.encode(), data)


def _retry(seconds: float) -> bytes:
    return b"retry: %d\n\n" % (seconds * 1000)
