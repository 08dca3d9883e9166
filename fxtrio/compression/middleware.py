"""Encodes what an ASGI app sends: `Compression(…).sending(scope, send)` is the new ``send``.

It wraps all middleware, which therefore sees bodies unencoded. For a request without
`Accept-Encoding` it costs only one look at the headers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal
from weakref import WeakSet

from starlette.types import Message, Scope, Send

from fxtrio.asgi_extensions import SAME_FOR_ALL
from fxtrio.compression.accept_encoding import Accepted, Coding, read_accepted
from fxtrio.compression.codings import Encoder, available, encode_whole, open_encoder
from fxtrio.compression.eligibility import LEAST, Described, Header, describe, is_text, visitor_of
from fxtrio.compression.gzip_splice import STORED, StoredBody
from fxtrio.compression.threads import Threads

_WITHOUT_BODY = frozenset({204, 205, 206, 304})
"""Statuses of responses that have no body, or a part of one."""


MOST_OPEN = 200
"""Bodies that are encoded part by part at a time: each holds up to 0.8 MB for as long as it
lasts, and event streams last for hours. More of them are sent as they are (count)."""


class Compression:
    """Encodes the responses of one app."""

    def __init__(self, mode: Literal["safe", "all"], *, common_cookies: frozenset[bytes]) -> None:
        """``common_cookies`` are the names of cookies that do not identify a visitor."""
        self.everything = mode == "all"
        self.common_cookies = common_cookies
        self.threads = Threads()
        self.encoders: WeakSet[Encoder] = WeakSet()
        """Those of responses that are under way."""

    def sending(self, scope: Scope, send: Send) -> Send:
        """Return a ``send`` for one request, which encodes if the client takes that."""
        headers = scope["headers"]
        for name, _ in headers:
            if name == b"accept-encoding":
                break
        else:  # neither requested nor offered
            return send
        accept_encoding = [value for name, value in headers if name == b"accept-encoding"]
        return EncodingSend(self, scope, send, read_accepted(b",".join(accept_encoding)))


class EncodingSend:
    """The ``send`` of one response. Its head waits for the first part of its body."""

    def __init__(self, owner: Compression, scope: Scope, send: Send, accepted: Accepted) -> None:
        self._owner = owner
        self._scope = scope
        self._send = send
        self._accepted = accepted
        self._head: Message | None = None
        self._tokens: tuple[bytes, ...] = ()
        self._personal = False
        """Whether only a stored body may be encoded."""

        self._live = False
        """Whether parts are sent as they arrive, since the length is unknown."""

        self._encoder: Encoder | None = None

    @property
    def inner(self) -> Send:
        """The ``send`` that it passes encoded messages to."""
        return self._send

    @property
    def is_identity(self) -> bool:
        """Whether the parts of a body that has begun are passed on as they are."""
        return self._encoder is None and self._head is None

    async def __call__(self, message: Message) -> None:
        """Send one message of the app."""
        kind = message["type"]
        if kind == "http.response.start":
            await self._start(message)
        elif kind == "http.response.body" and self._encoder is not None:
            await self._part(message)
        elif kind == "http.response.body" and self._head is not None:
            await self._first(self._head, message)
        else:
            await self._forward(message)

    async def _forward(self, message: Message) -> None:
        """Send a message as it is, and the head before it if that still waits."""
        head, self._head = self._head, None
        if head is not None:
            await self._send(head)
        await self._send(message)

    async def encode(
        self, status: int, headers: list[Header], body: bytes
    ) -> tuple[list[Header], bytes]:
        """Return the headers and the body of a complete response as this client gets them.

        ``headers`` need not have the length of the body, and have none of an encoded one.
        """
        found = describe(headers)
        found.size = len(body)
        if not self._may_encode(status, found):
            return headers, body
        if self._accepted.best(available()) is None:
            return varying(headers), body
        encoded = await self._encode_whole(body)
        if encoded is None:
            return headers, body
        return _encoded(headers, self._coding, None), encoded

    async def encode_lines(
        self, status: int, lines: bytes, body: bytes, headers: Mapping[bytes, bytes]
    ) -> tuple[bytes, bytes] | None:
        """Return the header lines and the body of a complete response, as `encode` does.

        It is text of the runtime's own: no cache may share it, and its cookies identify nobody.
        ``headers`` are those of the request. None if `encode` has to look at the lines.
        """
        if status in _WITHOUT_BODY or (len(body) < LEAST and not self._accepted.rejects_identity):
            return lines, body
        if b"accept-encoding" not in lines or self._accepted.best(available()) is None:
            return None
        is_known = b"cookie" in headers or b"authorization" in headers
        if is_known and not self._is_open(Described()):
            return lines, body
        encoded = await self._encode_whole(body)
        if encoded is None:
            return lines, body
        return b"%bcontent-encoding: %b\r\n" % (lines, self._coding.encode()), encoded

    def _may_encode(self, status: int, found: Described) -> bool:
        """Whether the head of a response lets its body be encoded."""
        if status < 200 or status in _WITHOUT_BODY:
            return False
        identity_rejected = self._accepted.rejects_identity
        wanted = identity_rejected or (found.media is not None and is_text(found.media))
        if not wanted or not found.may_change or not self._is_open(found):
            return False
        return identity_rejected or found.size is None or found.size >= LEAST

    async def _start(self, message: Message) -> None:
        """Decide by the head; hold back the head of an eligible response."""
        headers = list(message.get("headers", ()))
        found = describe(headers)
        if self._encoder is not None or not self._may_encode(message["status"], found):
            return await self._send(message)
        coding = self._accepted.best(available())
        if coding is None:
            return await self._send({**message, "headers": varying(headers)})
        self._live = found.size is None
        if self._scope["method"] == "HEAD" and not (
            self._live and (self._personal or self._tokens)
        ):
            # Only encoding the body would give its length (RFC 9110, 9.3.2).
            return await self._send({**message, "headers": _encoded(headers, self._coding, None)})
        self._head = {**message, "headers": headers}
        return None

    @property
    def _stored(self) -> StoredBody | None:
        stored = self._scope.get(STORED)
        return stored if isinstance(stored, StoredBody) else None

    @property
    def _coding(self) -> Coding:
        """The coding of this response: there is one that is acceptable."""
        codings = available()
        # gzip first for a stored body: it is deflated already.
        coding = self._accepted.best(codings if self._stored is None else codings[::-1])
        assert coding is not None
        return coding

    def _is_open(self, found: Described) -> bool:
        """Whether nothing in the body can be one visitor's secret."""
        scope = self._scope
        if self._owner.everything or SAME_FOR_ALL in scope or found.shared:
            return True
        visitor = visitor_of(scope["headers"], found.cookies, common=self._owner.common_cookies)
        self._tokens = visitor.tokens
        self._personal = visitor.known
        stored = self._stored
        return not visitor.known or (stored is not None and stored.public)

    async def _first(self, head: Message, message: Message) -> None:
        """Send the head after the final decision, by a complete body or its first part."""
        body = message.get("body", b"")
        if message.get("more_body", False):
            if self._personal or self._tokens:  # further parts may hold secrets
                return await self._forward(message)
            if len(self._owner.encoders) >= MOST_OPEN:
                self._head = {**head, "headers": varying(head["headers"])}
                return await self._forward(message)
            coding = self._coding
            self._encoder = open_encoder(coding)
            self._owner.encoders.add(self._encoder)
            self._head = None
            await self._send({**head, "headers": _encoded(head["headers"], coding, None)})
            return await self._part(message)
        encoded = await self._encode_whole(body)
        if encoded is None:
            return await self._forward(message)
        self._head = None
        headers = _encoded(head["headers"], self._coding, len(encoded))
        await self._send({**head, "headers": headers})
        return await self._send({**message, "body": encoded})

    async def _encode_whole(self, body: bytes) -> bytes | None:
        """Return a complete body in this response's coding; None if it is sent as it is."""
        stored = self._stored
        if stored is not None and stored.body is not body:  # some middleware has changed it
            stored = None
        least = 1 if self._accepted.rejects_identity else LEAST
        public = stored is not None and stored.public
        leaks = not public and (self._personal or any(token in body for token in self._tokens))
        if len(body) < least or leaks:
            return None
        coding = self._coding
        if stored is not None and coding == "gzip":
            return stored.gzip()
        return await self._owner.threads.run(len(body), encode_whole, coding, body)

    async def _part(self, message: Message) -> None:
        """Send one part; a streamed body is flushed with each part."""
        body = message.get("body", b"")
        more = message.get("more_body", False)
        encoded = await self._owner.threads.run(len(body), self._encode, body, more)
        await self._send({**message, "body": encoded})

    def _encode(self, body: bytes, more: bool) -> bytes:
        assert self._encoder is not None
        encoded = self._encoder.feed(body, flush=self._live and more) if body else b""
        return encoded if more else encoded + self._encoder.end()


def varying(headers: list[Header]) -> list[Header]:
    """Return headers that say that the body depends on `Accept-Encoding`."""
    for index, (name, value) in enumerate(headers):
        if name.lower() == b"vary":
            listed = {part.strip() for part in value.lower().split(b",")}
            if not listed & {b"*", b"accept-encoding"}:
                headers[index] = (name, value + b", accept-encoding")
            return headers
    headers.append((b"vary", b"accept-encoding"))
    return headers


def _encoded(headers: list[Header], coding: Coding, size: int | None) -> list[Header]:
    """Return the headers of an encoded body of ``size`` bytes, None for an unknown size.

    The entity tag becomes weak: the bytes differ from those of the original.
    """
    result: list[Header] = []
    for name, value in headers:
        lower = name.lower()
        if lower in (b"content-length", b"accept-ranges", b"content-encoding"):
            continue
        if lower == b"etag" and not value.startswith(b"W/"):
            value = b"W/" + value
        result.append((name, value))
    result.append((b"content-encoding", coding.encode()))
    if size is not None:
        result.append((b"content-length", b"%d" % size))
    return varying(result)
