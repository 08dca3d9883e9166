"""What the test client's calls return, and the client's side of a request."""

from __future__ import annotations

import json as stdlib_json
from typing import Any, Self

import attrs
import trio
from starlette.datastructures import Headers
from starlette.types import Message

from fxtrio.errors import PlacedError
from fxtrio.serve.request.client_protocol import PAYLOAD


class AnswerUnreadable(PlacedError):
    """A call of the test client got a response of another kind than it reads."""

    def __init__(self, call: str, status: int, media: str, body: bytes, remedy: str) -> None:
        super().__init__(
            call,
            f"the response has status {status} and is {media}: "
            f"{body[:60].decode(errors='replace')!r}",
            remedy,
        )
        self.call = call
        self.status = status
        self.media = media


class ConnectionLost(ConnectionResetError):
    """The process was killed, or shut down, in the middle of its response.

    Before the response it is a ConnectionResetError.
    """


@attrs.frozen
class TestResponse:
    """A complete response."""

    __test__ = False

    status: int
    headers: Headers
    body: bytes

    @property
    def status_code(self) -> int:
        """The status, by the name that Starlette and httpx have for it."""
        return self.status

    @property
    def text(self) -> str:
        """The body as UTF-8."""
        return self.body.decode()

    def json(self) -> Any:
        """Return the body's JSON."""
        return stdlib_json.loads(self.body)


@attrs.frozen
class ActionResult:
    """The result of an action call."""

    status: int
    ok: bool
    data: dict[str, Any]
    """The keys the action returned, without the envelope."""

    error: str
    fields: dict[str, list[str]]
    headers: Headers
    values: list[Any] = attrs.field(factory=list)
    """What an action that streams yielded."""


def envelope_of(response: TestResponse, call: str, remedy: str) -> dict[str, Any]:
    """Return a JSON object with ``ok``. Raises AnswerUnreadable for anything else."""
    media = response.headers.get("content-type", "without a type")
    payload = response.json() if media.startswith(("application/json", PAYLOAD.decode())) else None
    if not isinstance(payload, dict) or "ok" not in payload:
        raise AnswerUnreadable(call, response.status, media, response.body, remedy)
    return payload


def answered(response: TestResponse) -> dict[str, Any] | None:
    """Return the `useAction` result of a response that an action created itself; else None."""
    if not 200 <= response.status < 300:
        return None
    try:
        payload = response.json()
    except ValueError:
        payload = None
    keys = payload if isinstance(payload, dict) else {}
    return None if isinstance(keys.get("ok"), bool) else {**keys, "ok": True}


@attrs.define(eq=False)
class StreamedResponse:
    """A response whose body is read chunk by chunk. Leaving the block disconnects."""

    status: int
    headers: Headers
    _chunks: trio.MemoryReceiveChannel[bytes | ConnectionLost]
    """The error comes last, since a client learns of it only when it reads on."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        """Return the next chunk. Raises ConnectionLost."""
        try:
            chunk = await self._chunks.receive()
        except trio.EndOfChannel:
            raise StopAsyncIteration from None
        if isinstance(chunk, ConnectionLost):
            raise chunk
        return chunk


@attrs.define(eq=False)
class WholeResponse:
    """The client's side of a request whose response is read to its end."""

    _body: bytes
    start: Message | None = None
    chunks: list[bytes] = attrs.field(factory=list)
    _sent: bool = False
    _complete: trio.Event = attrs.field(factory=trio.Event)

    async def receive(self) -> Message:
        """Return the body, and a disconnect behind the response."""
        if not self._sent:
            self._sent = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self._complete.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Take a message of the app."""
        await trio.lowlevel.checkpoint()  # a response without an end can be cancelled
        if message["type"] == "http.response.start":
            self.start = message
        elif message["type"] == "http.response.body":
            self.chunks.append(message.get("body", b""))
            if not message.get("more_body"):
                self._complete.set()
