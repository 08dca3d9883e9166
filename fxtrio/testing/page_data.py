"""What the loaders of a page gave, and its deferred values, as tests read them."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterable
from typing import Any, NamedTuple, Self

import attrs
from starlette.datastructures import Headers

from fxtrio.serve.request.client_protocol import PAYLOAD_LINES


@attrs.frozen
class PageData:
    """The data that the loaders of a page returned, without a render."""

    status: int
    data: dict[str, Any]
    layout_data: dict[str, Any]
    head: list[Any]
    error: str
    """The message of the error boundary; "" for a page."""

    redirect: str
    """Where a loader or a route hook sends the visitor, in an answer with status 200; "" for
    a page."""

    payload: dict[str, Any]
    """The whole navigation payload."""

    failed: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    """Of deferred values that failed, by their keys: what the error boundary gets."""

    def add(self, value: DeferredResult) -> None:
        """Put a deferred value where the component has it."""
        if value.error is not None:
            self.failed[value.key] = value.error
        elif value.layout is None:
            self.data[value.key] = value.value
        else:
            self.layout_data[value.key] = value.value


class DeferredResult(NamedTuple):
    """A deferred value that has arrived."""

    key: str
    value: Any
    error: dict[str, Any] | None
    """What the error boundary gets: `message`, `statusCode`, `type`, `data`; None for a value."""

    layout: int | None
    """The number of the layout whose loader has deferred it; None for the page."""


class PageStream:
    """The data of a page whose deferred values have not arrived yet, and an iterator over them.

    It is not a generator: a test that leaves its loop would leave a generator that never ends.
    """

    def __init__(self, page: PageData, lines: LineReader) -> None:
        self.page = page
        """Without the deferred values that have not been read."""

        self._lines = lines

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> DeferredResult:
        """Return the next value to come."""
        value = deferred_result(await anext(self._lines))
        self.page.add(value)
        return value


class LineReader:
    """JSON values, one a line, as they come."""

    def __init__(self, chunks: AsyncIterable[bytes]) -> None:
        self._chunks = aiter(chunks)
        self._lines: deque[bytes] = deque()
        self._text = b""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        """Return the next value."""
        while not self._lines:
            *lines, self._text = (self._text + await anext(self._chunks)).split(b"\n")
            self._lines.extend(lines)
        return json.loads(self._lines.popleft())


def is_in_lines(headers: Headers) -> bool:
    """Whether deferred values follow the payload of a response."""
    return headers.get("content-type") == PAYLOAD_LINES.decode()


def page_data(status: int, payload: dict[str, Any]) -> PageData:
    """Return what a payload says."""
    props = payload.get("props", {})
    return PageData(
        status,
        props.get("data", {}),
        props.get("layoutData", {}),
        payload.get("head", []),
        payload.get("error", ""),
        payload.get("redirect", ""),
        payload,
    )


def deferred_result(line: Any) -> DeferredResult:
    """Return what a line says: `[name, value, failed]`."""
    name, value, failed = line
    place, _, key = name.partition(":")
    layout = None if place == "page" else int(place)
    return DeferredResult(key, None if failed else value, value if failed else None, layout)
