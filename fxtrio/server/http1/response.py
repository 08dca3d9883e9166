"""ASGI response messages in, bytes out: RFC 9112 framing without I/O or a clock.

One `Response` per request. `encode` joins the head with the first part of the
body, so that an ordinary answer is one piece.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from functools import lru_cache
from http import HTTPStatus
from typing import Any

Message = MutableMapping[str, Any]

NOTHING, STARTED, HEAD_SENT, DONE = range(4)
"""How far a response is: no message yet; the start is held; the head is out; complete."""

CLIENT_LEFT = 499
"""Status in the access log, as nginx has it, of a request whose client left before its answer."""

SENDS_AFTER_DISCONNECT = 16
"""Parts of an answer that may go nowhere. An application that listens for the disconnect
has ended by then in its own way; one that only sends is ended by an error."""

_status_lines = {
    status.value: b"HTTP/1.1 %d %b\r\n" % (status.value, status.phrase.encode())
    for status in HTTPStatus
}
_token = frozenset(b"!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")
_framing = frozenset({b"content-length", b"transfer-encoding", b"connection", b"date", b"server"})


_LARGE = 32 * 1024
"""Bytes from which copying a body costs more than a second part does."""


class BadResponse(RuntimeError):
    """The application broke the ASGI protocol or HTTP; the connection cannot go on."""


def status_line(status: int) -> bytes:
    """Return the first line of a response."""
    return _status_lines.get(status) or b"HTTP/1.1 %d \r\n" % status


@lru_cache(maxsize=2048)
def checked_name(name: bytes) -> bytes:
    """Return a header name in lower case. Raises BadResponse when it is none."""
    lowered = bytes(name).lower()
    if not lowered or not _token.issuperset(lowered):
        raise BadResponse(f"{name!r} is not a header name.")
    return lowered


_repeating = frozenset(
    b"content-type cache-control vary link x-content-type-options x-frame-options "
    b"referrer-policy".split()
)
_MOST_LINES = 1024
_lines: dict[tuple[bytes, bytes], bytes] = {}
"""Lines of headers whose values repeat in most responses, at most `_MOST_LINES`."""


def header_lines(headers: Iterable[tuple[bytes, bytes]]) -> bytes | None:
    """Return the lines of ``headers`` for `Response.encode_whole`.

    None if one of them frames the message or is the server's own. Raises BadResponse for one
    that no response can have.
    """
    lines = []
    for header in headers:
        line = _lines.get(header)
        if line is None:
            name = checked_name(header[0])
            if name in _framing:
                return None
            line = b"%b: %b\r\n" % (name, header[1])
            if line.count(b"\n") != 1 or line.count(b"\r") != 1 or 0 in line:
                raise BadResponse("a response header has control characters.")
            if name in _repeating and len(_lines) < _MOST_LINES:
                _lines[header] = line
        lines.append(line)
    return b"".join(lines)


class Response:
    """The answer to one request, as far as the application has sent it.

    ``keep_alive`` says whether the connection can serve another request after it.
    """

    stage = NOTHING
    sent = 0
    """Bytes of the body."""

    _start: Message | None = None
    _chunked = _bodyless = False
    _left = -1  # bytes that the content-length still promises; -1: none was given

    def __init__(self, keep_alive: bool) -> None:
        self.keep_alive = keep_alive

    @property
    def status(self) -> int | None:
        """The status of the application's response; None before it."""
        return None if self._start is None else self._start["status"]

    @property
    def ends_with_connection(self) -> bool:
        """Whether the end of the connection is all that tells a client where the body ends."""
        return not (self._chunked or self._bodyless or self._left >= 0)

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """The headers of the application's response."""
        return [] if self._start is None else list(self._start.get("headers", ()))

    def start(self, message: Message) -> None:
        """Hold ``http.response.start`` until the first part of the body is known."""
        if self.stage != NOTHING:
            raise BadResponse("http.response.start was sent twice.")
        if not 200 <= message["status"] <= 999:
            raise BadResponse(f"{message['status']!r} is not the status of a response.")
        self._start = message
        self.stage = STARTED

    def encode_whole(
        self,
        status: int,
        lines: Iterable[bytes],
        body: bytes,
        method: str,
        version: str,
        common: bytes,
    ) -> bytes | tuple[bytes, ...]:
        """Return the bytes of a complete response with a body, as `encode` returns them.

        ``lines`` are its header lines in pieces, which the caller has checked.
        """
        if self.stage != NOTHING:
            raise BadResponse("http.response.start was sent twice.")
        self._start = {"status": status}
        self.stage = DONE
        size = len(body)
        if not self.keep_alive:
            common = b"connection: close\r\n" + common
        elif version == "1.0":
            common = b"connection: keep-alive\r\n" + common
        start = _status_lines.get(status) or status_line(status)
        # Joining takes half as long as a format with as many parts.
        parts = [start, *lines, b"content-length: ", b"%d" % size, b"\r\n", common, b"\r\n"]
        if method == "HEAD":
            return b"".join(parts)
        self.sent = size
        if size >= _LARGE:
            return b"".join(parts), body
        parts.append(body)
        return b"".join(parts)

    def encode(
        self, body: bytes, more: bool, *, method: str, version: str, common: bytes
    ) -> bytes | tuple[bytes, ...]:
        """Return the bytes for one ``http.response.body``; ``common`` ends the head.

        A large body is not copied: it comes as one of several parts.

        Raises BadResponse when the application breaks what it promised, and leaves
        the response as it was: one whose head is not out can still become an error.
        """
        if type(body) is not bytes:
            body = _as_bytes(body)
        if self.stage == HEAD_SENT:
            head = b""
        elif self.stage == STARTED:
            head = self._head(body, more, method, version, common)
        elif self.stage == NOTHING:
            raise BadResponse("http.response.body was sent before http.response.start.")
        else:
            raise BadResponse("http.response.body was sent after the end of the response.")
        size = len(body)
        if self._left >= 0:
            left = self._left - size
            if left < 0:
                raise BadResponse("the body is longer than its content-length.")
            if left and not more:
                raise BadResponse("the body is shorter than its content-length.")
            self._left = left
        # Nothing below fails: whoever sent something wrong is where he was before.
        self.stage = HEAD_SENT if more else DONE
        if self._bodyless:
            return head
        self.sent += size
        before, after = head, b""
        if self._chunked:
            if size:
                before = b"%b%x\r\n" % (head, size)
                after = b"\r\n" if more else b"\r\n0\r\n\r\n"
            elif not more:
                after = b"0\r\n\r\n"
        if size >= _LARGE:
            return before, body, after
        return b"%b%b%b" % (before, body, after)

    def _head(self, body: bytes, more: bool, method: str, version: str, common: bytes) -> bytes:
        start = self._start
        assert start is not None
        status = start["status"]
        lines = [status_line(status)]
        length: bytes | None = None
        options: list[bytes] = []
        for name, value in start.get("headers") or ():
            name = checked_name(name)
            if name in _framing:
                if name == b"content-length":
                    length = self._note_length(length, value)
                    continue
                if name == b"transfer-encoding":
                    continue  # the framing is ours to choose
                if name == b"connection":
                    options += self._note_options(value)
                    continue
                common = _without(common, name)
            lines.append(b"%b: %b\r\n" % (name, value))
        if status in (204, 205, 304) or method == "HEAD":
            self._bodyless = True
            # RFC 9110, 8.6 and 15.3.6: none in a 204, 0 in a 205; else what the body would have.
            if status in (204, 205):
                length = None if status == 204 else b"0"
            elif length is None and body and not more:
                length = b"%d" % len(body)
        elif length is not None:
            self._left = int(length)
        elif not more:
            length = b"%d" % len(body)
        elif version == "1.1":
            self._chunked = True
            lines.append(b"transfer-encoding: chunked\r\n")
        else:
            self.keep_alive = False  # HTTP/1.0: the body ends with the connection
        if length is not None:
            lines.append(b"content-length: %b\r\n" % length)
        if not self.keep_alive:
            options.append(b"close")
        elif version == "1.0":
            options.append(b"keep-alive")
        if options:
            lines.append(b"connection: %b\r\n" % b", ".join(options))
        head = b"".join(lines)
        # Every line ends in one CR LF of ours: more of either came from the application.
        count = len(lines)
        if head.count(b"\n") != count or head.count(b"\r") != count or 0 in head:
            raise BadResponse("a response header has control characters.")
        return b"%b%b\r\n" % (head, common)

    def _note_options(self, value: bytes) -> list[bytes]:
        """Return the options of a Connection header but those that are ours to choose."""
        options = [option for part in value.split(b",") if (option := part.strip())]
        if any(option.lower() == b"close" for option in options):
            self.keep_alive = False
        return [option for option in options if option.lower() not in (b"close", b"keep-alive")]

    def _note_length(self, known: bytes | None, value: bytes) -> bytes:
        if not value.isdigit() or (known is not None and known != value):
            raise BadResponse(f"content-length: {value!r} is not one length.")
        return bytes(value)


def _as_bytes(body: object) -> bytes:
    if not isinstance(body, bytes | bytearray | memoryview):
        raise BadResponse(f"the body is {type(body).__name__}, not bytes.")
    return bytes(body)


def _without(common: bytes, name: bytes) -> bytes:
    """Return the lines of ``common`` but the one called ``name``: the application has its own."""
    return b"".join(
        line for line in common.splitlines(keepends=True) if not line.startswith(name + b":")
    )


def reject(status: int, common: bytes) -> bytes:
    """Return a whole answer without a body, after which the connection closes."""
    options = b"close"
    if status == 426:  # RFC 9110, 15.5.22: says to what; RFC 6455, 4.4: in which version
        options = b"close, upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13"
    return b"%bcontent-length: 0\r\nconnection: %b\r\n%b\r\n" % (
        status_line(status),
        options,
        common,
    )
