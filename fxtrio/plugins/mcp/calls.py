"""A request that the app makes of itself for an agent: through its middleware, as any other.

So hooks, limits, deadlines, transactions and validation are those of every other request. Of the
agent's own request it has the address and the headers of `FORWARDED`; it has no cookies.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, unquote

import attrs
import trio
from starlette.types import Message, Scope

from fxtrio.asgi_extensions import IN_PROCESS, ROOT, SAFE_IN_PATHS, root_of

FORWARDED = frozenset(
    {b"authorization", b"host", b"user-agent", b"accept-language", b"traceparent", b"tracestate"}
)
"""Headers of the agent's request that the app sees in its own."""

LARGEST = 1024 * 1024
"""The most of a response that is given to an agent (bytes)."""

_EVENTS = "text/event-stream"

Progress = Callable[[int, str], Awaitable[None]]
"""Takes the number of a value that has been streamed, and its text."""


@attrs.define(eq=False)
class Called:
    """What a request came to."""

    status: int = 0
    media: str = ""
    body: bytearray = attrs.field(factory=bytearray)
    is_cut: bool = False
    """Whether the response is longer than `LARGEST`, and its rest is left out."""

    values: list[Any] = attrs.field(factory=list)
    """What a streamed action has yielded."""

    end: dict[str, Any] | None = None
    """How a streamed action has ended."""

    @property
    def result(self) -> dict[str, Any]:
        """The JSON object of the response; one that says ``ok: false`` for any other response."""
        if self.end is not None or self.values:
            end = self.end or {"ok": False, "error": "The stream ended early."}
            cut = {"cut": True} if self.is_cut else {}
            return {"values": self.values, **cut, **end}
        try:
            found = None if self.is_cut else json.loads(bytes(self.body))
        except ValueError:
            found = None
        is_good = 200 <= self.status < 300
        if isinstance(found, dict):
            return {"ok": is_good, **found}
        if self.is_cut:
            return {"ok": False, "error": f"The response is longer than {LARGEST} bytes."}
        text = bytes(self.body[:2000]).decode(errors="replace") if "text/" in self.media else ""
        return {"ok": is_good, "status": self.status, "text": text}


async def call(
    outer: Scope, method: str, path: str, body: Any = None, progress: Progress | None = None
) -> Called:
    """Request ``path``, which is percent-encoded and below the base URL, and return the response.

    ``outer`` is the scope of the agent's own request. ``body`` is sent as JSON; None is none.
    """
    content = b"" if body is None else json.dumps(body).encode()
    reader = _Reader(progress)
    sent = iter([{"type": "http.request", "body": content, "more_body": False}])

    async def receive() -> Message:
        for message in sent:
            return message
        await trio.sleep_forever()
        raise AssertionError  # the agent cancels by cancelling the call

    await outer["app"](_scope(outer, method, path, content), receive, reader.take)
    return reader.called


def _scope(outer: Scope, method: str, path: str, content: bytes) -> Scope:
    root = root_of(outer)
    headers = [(name, value) for name, value in outer["headers"] if name in FORWARDED]
    headers += [(b"accept", b"application/json"), (b"content-length", b"%d" % len(content))]
    headers += [(b"content-type", b"application/json")] if content else []
    tls = outer.get("extensions", {}).get("tls")
    return {
        "type": "http",
        "asgi": outer["asgi"],
        "http_version": outer["http_version"],
        "method": method,
        "scheme": outer["scheme"],
        "server": outer.get("server"),
        "client": outer.get("client"),
        "root_path": root,
        ROOT: root,
        "path": root + unquote(path),
        "raw_path": quote(root, safe=SAFE_IN_PATHS).encode() + path.encode(),
        "query_string": b"",
        "headers": headers,
        "extensions": {} if tls is None else {"tls": tls},
        IN_PROCESS: True,
    }


class _Reader:
    """Takes a response, and its events as they come. What it stores is bounded by `LARGEST`."""

    def __init__(self, progress: Progress | None) -> None:
        self.called = Called()
        self._progress = progress
        self._count = 0
        self._stored = 0

    async def take(self, message: Message) -> None:
        """Take one ASGI message of the response."""
        called = self.called
        if message["type"] == "http.response.start":
            called.status = message["status"]
            headers = {name.lower(): value for name, value in message.get("headers", ())}
            called.media = headers.get(b"content-type", b"").decode("latin-1")
            return
        data = message.get("body", b"")
        room = LARGEST - len(called.body)
        called.body += data[:room]
        called.is_cut = called.is_cut or len(data) > room
        if called.media.startswith(_EVENTS):
            await self._read_events()

    async def _read_events(self) -> None:
        """Take the events that are complete out of the body."""
        while (end := self.called.body.find(b"\n\n")) >= 0:
            event = bytes(self.called.body[:end]).decode()
            del self.called.body[: end + 2]
            kind, data = "", ""
            for line in event.split("\n"):
                field, _, value = line.partition(":")
                kind = value.strip() if field == "event" else kind
                data = value.removeprefix(" ") if field == "data" else data
            if kind == "end":
                self.called.end = json.loads(data)
            elif data and not kind:
                await self._value(data)

    async def _value(self, data: str) -> None:
        value = json.loads(data)
        self._count += 1
        self._stored += len(data)
        if self._stored <= LARGEST:
            self.called.values.append(value)
        else:
            self.called.is_cut = True
        if self._progress is not None:
            await self._progress(self._count, value if isinstance(value, str) else data)


@attrs.define(eq=False)
class Calls:
    """The calls under way; more than ``most`` are rejected."""

    most: int
    _count: int = 0
    _cancellable: dict[tuple[str, Any], trio.CancelScope] = attrs.field(factory=dict)

    @contextmanager
    def admit(self, client: str, number: Any) -> Iterator[trio.CancelScope]:
        """Run the block as the request ``number`` of a client, which may cancel it.

        Whoever sends no name cannot cancel: the numbers of clients are the same. Raises
        trio.WouldBlock if there are too many calls.
        """
        if self._count >= self.most:
            raise trio.WouldBlock
        key = client, number
        with trio.CancelScope() as scope:
            self._count += 1
            # A client that uses a number twice can cancel only the last one.
            if client:
                self._cancellable[key] = scope
            try:
                yield scope
            finally:
                self._count -= 1
                if self._cancellable.get(key) is scope:
                    del self._cancellable[key]

    def cancel(self, client: str, number: Any) -> None:
        """Cancel a call, if it runs in this process."""
        scope = self._cancellable.get((client, number))
        if scope is not None:
            scope.cancel("the agent has cancelled its call")


def client_of(scope: Scope) -> str:
    """Return the name that a client got when it began, which it sends with each request.

    "" without one.
    """
    found = dict(scope["headers"]).get(b"mcp-session-id", b"")
    return str(found[:200].decode("latin-1"))
