"""Values of actions that stream, as tests read them: `text/event-stream`."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any, Self

import attrs
from starlette.datastructures import Headers

from fxtrio.errors import FxtrioError


class StreamCut(FxtrioError):
    """A stream of events ended without its last event, which says how the action came out."""

    def __init__(self) -> None:
        super().__init__("The stream was cut off: it has no 'event: end'. The app's log says why.")


def is_event_stream(headers: Headers) -> bool:
    """Whether a response is a stream of events."""
    return headers.get("content-type", "").startswith("text/event-stream")


def read_events(text: str) -> tuple[list[Any], dict[str, Any]]:
    """Return the values of a whole stream, and the data of its end. Raises StreamCut."""
    values: list[Any] = []
    for event in text.split("\n\n"):
        found = _parse(event)
        if found is None:
            continue
        is_end, data = found
        if is_end:
            return values, data
        values.append(data)
    raise StreamCut


class EventReader:
    """The values of a stream, one by one as they come.

    It is no generator: a test that leaves its loop would leave one behind that never ends.
    """

    def __init__(self, chunks: AsyncIterable[bytes]) -> None:
        self._chunks = aiter(chunks)
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

    def _read(self, chunk: bytes) -> None:
        *events, self._text = (self._text + chunk).split(b"\n\n")
        for event in events:
            found = _parse(event.decode())
            if found is None:
                continue
            is_end, data = found
            if is_end:
                self.end = data
                return
            self._values.append(data)


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


def _parse(event: str) -> tuple[bool, Any] | None:
    """Return whether an event is the end, and its data; None for a comment."""
    for line in event.split("\n"):
        if line.startswith("data: "):
            return event.startswith("event: end\n"), json.loads(line[6:])
    return None
