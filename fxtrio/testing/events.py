"""Values of streamed actions and of streams, as tests read them: `text/event-stream`."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import Any, NamedTuple, Self

import attrs
from starlette.datastructures import Headers

from fxtrio.errors import PlacedError
from fxtrio.realtime.feeds.feed import Event
from fxtrio.realtime.presence import Missed


class StreamCut(PlacedError):
    """A stream of events ended without its last event, which says how the action came out."""

    remedy = "The app's log says why"

    def __init__(self) -> None:
        super().__init__("", "The stream was cut off: it has no 'event: end'")


def is_event_stream(headers: Headers) -> bool:
    """Whether a response is a stream of events."""
    return headers.get("content-type", "").startswith("text/event-stream")


def read_events(text: str) -> tuple[list[Any], dict[str, Any]]:
    """Return the values of a whole stream, and the data of its end. Raises StreamCut."""
    values: list[Any] = []
    for event in text.split("\n\n"):
        found = _parse(event)
        if found is not None and found.kind == "end":
            return values, found.data
        if found is not None:
            values.append(found.data)
    raise StreamCut


class EventReader:
    """The values of a stream, one by one as they come.

    It is no generator: a test that leaves its loop would leave one behind that never ends.
    """

    def __init__(self, chunks: AsyncIterable[bytes], value: Callable[[_Sent], Any]) -> None:
        self._chunks = aiter(chunks)
        self._value = value
        self._values: deque[Any] = deque()
        self._text = b""
        self.end: dict[str, Any] | None = None
        """The data of the last event; None before it."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        """Return the next value. Raises StreamCut when the stream ends without its last event."""
        while not self._values and self.end is None:
            try:
                self._read(await anext(self._chunks))
            except StopAsyncIteration:
                raise StreamCut from None
        if not self._values:
            raise StopAsyncIteration
        return self._values.popleft()

    async def next_before_cut(self) -> Any:
        """Return the next value; raise StopAsyncIteration also where a stream is cut off."""
        try:
            return await anext(self)
        except StreamCut:
            raise StopAsyncIteration from None

    def _read(self, chunk: bytes) -> None:
        *events, self._text = (self._text + chunk).split(b"\n\n")
        for event in events:
            found = _parse(event.decode())
            if found is not None and found.kind == "end":
                self.end = found.data
                return
            if found is not None:
                self._values.append(self._value(found))


def data_of(sent: _Sent) -> Any:
    """Return the value of an action's event."""
    return sent.data


def event_of(sent: _Sent) -> Event[Any] | Missed:
    """Return the event of a `@stream`."""
    if sent.kind == "missed":
        return Missed(sent.data["count"])
    return Event(sent.data, sent.id)


@attrs.define(eq=False)
class ReadStream:
    """A `@stream` while it runs. Iterate over it for `Event` and `Missed` of fx.realtime.

    The loop ends with the stream. A client would reconnect unless `end` is set.
    """

    headers: Headers
    _events: EventReader

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event[Any] | Missed:
        """Wait for the next event."""
        event: Event[Any] | Missed = await self._events.next_before_cut()
        return event

    @property
    def end(self) -> dict[str, Any] | None:
        """The data of the last event, such as ``{"ok": True}``; None before it."""
        return self._events.end


@attrs.define(eq=False)
class ActionStream:
    """An action that streams, while it runs. Iterate over it for the values."""

    headers: Headers
    _events: EventReader

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._events

    @property
    def end(self) -> dict[str, Any] | None:
        """The data of the last event, such as ``{"ok": True}``; None before it."""
        return self._events.end


class _Sent(NamedTuple):
    """One event as it was sent."""

    kind: str
    """`end`, `missed`, or "" for a value."""

    id: str | None
    data: Any


def _parse(event: str) -> _Sent | None:
    """Return an event; None for a comment, and for a pause before a reconnection."""
    fields = dict(line.partition(": ")[::2] for line in event.split("\n"))
    if "data" not in fields:
        return None
    return _Sent(fields.get("event", ""), fields.get("id"), json.loads(fields["data"]))
