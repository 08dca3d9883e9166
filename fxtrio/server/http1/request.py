"""Bytes in, requests out: RFC 9112 on top of llhttp, without I/O or a clock.

`RequestReader.feed` takes what came from the socket; the connection looks at
`RequestReader.requests` and `RequestReader.rejection` afterwards. llhttp checks the
grammar; what it leaves open (Host, versions, transfer codings, targets, every
limit) is decided here.
"""

from __future__ import annotations

import re

import httptools
import msgspec

from fxtrio.errors import Signal
from fxtrio.server.header_fields import ALONE, Header, is_host
from fxtrio.server.http1.known_heads import LONGEST, KnownHead, KnownHeads
from fxtrio.server.http1.limits import ServerLimits

READ_SIZE = 64 * 1024
"""Bytes asked of the socket at once; also what may wait unread behind a request."""

_REQUEST_LINE = 128  # bytes that it may have besides its target, and the ends of lines

_HASH = ord("#")

_QUOTED = 100  # bytes of a field that a rejection quotes in the log

_unknown_method = re.compile(rb"(?:\r?\n)*[!#$%&'*+\-.^_`|~0-9A-Za-z]+ ")
_other_protocol = re.compile(rb" (?:RTSP|ICE)/[0-9.]+\r\n")
_decisive = ALONE | {b"transfer-encoding", b"expect", b"upgrade"}
# llhttp also knows the methods of RTSP and of Icecast.
_foreign_methods = frozenset(
    b"SOURCE DESCRIBE ANNOUNCE SETUP PLAY PAUSE TEARDOWN GET_PARAMETER SET_PARAMETER "
    b"REDIRECT RECORD FLUSH PRI".split()
)

_METHODS = {
    name.encode(): name for name in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
}


class RejectedRequest(msgspec.Struct, frozen=True):
    """Why a request is not taken: the status to answer, and a line for the log."""

    status: int
    reason: str


class _Rejected(Signal):
    """Carries a `RejectedRequest` out of a parser callback."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.rejection = RejectedRequest(status, reason)


def _rejection_in(error: httptools.HttpParserCallbackError) -> RejectedRequest | None:
    """Return what a callback has raised. The frame of the caller is in the error's traceback."""
    cause = error.__context__
    return cause.rejection if isinstance(cause, _Rejected) else None


class Request:
    """One request as far as it has been read. Header names are lower case."""

    # Defaults are the class's: setting them all for every request would cost a microsecond.
    method = ""
    target = b""
    version = "1.1"
    keep_alive = False

    host = b""
    hosts = 0  # Host fields
    expects = False  # the client waits for 100 (Continue)
    upgrade = b""  # the protocols offered, in lower case
    upgrading = False  # Connection says so, too
    alone: tuple[bytes, ...] = ()  # the fields that may come once, and have

    has_body = chunked = False
    length: bytes | None = None  # as content-length has it
    received = 0  # bytes of the body

    size = 0  # bytes of the header fields
    head_done = complete = False

    known: KnownHead | None = None
    """What its head means, if that has come before."""

    def __init__(self) -> None:
        self.headers: list[Header] = []
        self.chunks: list[bytes] = []  # of the body, that nobody has taken yet

    def as_known(self) -> KnownHead | None:
        """Return what the head of this request means; None where that is not all there is to it.

        The request is whole. What it asks of the connection, what it is framed by besides a
        length, and targets other than paths are left to the parser.
        """
        if (
            not self.keep_alive
            or self.chunked
            or self.upgrade
            or self.expects
            or self.hosts != 1
            or self.version != "1.1"
            or self.target[:1] != b"/"
        ):
            return None
        return KnownHead(
            self.method,
            self.target,
            self.host,
            self.headers.copy(),
            self.size,
            self.length,
            self.received,
        )


class KnownRequest(Request):
    """A whole request whose head has come before."""

    keep_alive = head_done = complete = True
    hosts = 1

    def __init__(self, known: KnownHead, body: bytes) -> None:
        self.known = known
        self.method = known.method
        self.target = known.target
        self.host = known.host
        self.headers = known.headers.copy()
        self.size = known.size
        self.length = known.length
        self.chunks = []
        if known.body:
            self.has_body = True
            self.chunks.append(body)
            self.received = known.body


class RequestReader:
    """The requests of one connection, in the order in which they came.

    ``requests`` holds the ones not answered yet; only the last can be incomplete.
    After a ``rejection`` nothing more is read: the requests before it still count.
    ``rest`` is not None when the last request offers an upgrade: the bytes after it.
    """

    def __init__(self, limits: ServerLimits, heads: KnownHeads | None = None) -> None:
        """``heads`` are those that readers with the same limits know."""
        self.requests: list[Request] = []
        self.rejection: RejectedRequest | None = None
        self.rest: bytearray | None = None
        self._limits = limits
        self._heads = KnownHeads() if heads is None else heads
        self._parser = self._new_parser(self)
        self._request: Request | None = None
        self._data = b""
        self._found: tuple[KnownHead, int] | None = None
        """What the head of ``_data`` means, if that is one whole request that all may know.

        So a connection on which the same comes over and over need not look for it.
        """

        self._overhead = 0  # bytes of the message being read that are not body

    def feed(self, data: bytes) -> None:
        """Take what was read. Never raises: see ``rejection``."""
        if self.rejection is not None:
            return
        found = self._found
        if found is not None and data == self._data:  # nothing but that request came since
            self._take_known(found[0], data[found[1] :])
            return
        if self.rest is not None:
            self.rest += data
            return
        request, before = self._request, len(self.requests)
        fresh = request is None or request.complete
        # The parser is between two messages: it need not see one that it has seen before.
        between = request is None or (fresh and request.keep_alive)
        if between:
            found = self._heads.find(data, self)
            if found is not None:
                self._data, self._found = data, found if found[0].shared else None
                self._take_known(found[0], data[found[1] :])
                return
        self._data, self._found = data, None
        received = 0 if request is None else request.received
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self.rest = bytearray(data[upgrade.args[0] :])
            self._data = b""  # which would stay as long as what the connection is upgraded to
            return
        except httptools.HttpParserCallbackError as error:
            rejection = _rejection_in(error)
            if rejection is None:
                raise
            self.rejection = rejection
            return
        except httptools.HttpParserInvalidMethodError as error:
            # Readable but unknown; only told apart when it is at the beginning of a read.
            unknown = len(self.requests) == before + 1 and _unknown_method.match(data)
            self.rejection = RejectedRequest(501 if unknown else 400, str(error))
            return
        except httptools.HttpParserError as error:
            self.rejection = RejectedRequest(400, str(error))
            return
        last = self._request
        if last is None:
            self._count(last, len(data))
        elif last.complete and not last.chunked:
            pass
        elif last is request:
            self._count(last, len(data) - (last.received - received))
        elif fresh and len(self.requests) == before + 1:
            self._count(last, len(data) - last.received)
        # Else other messages came in the same read: what there is of this one is not counted.
        if between and last is not None and last.complete and len(self.requests) == before + 1:
            known_now = last.as_known() if len(data) <= LONGEST else None
            if known_now is not None:
                self._heads.keep(data, known_now, self)

    def _take_known(self, known: KnownHead, body: bytes) -> None:
        self._request = request = KnownRequest(known, body)
        self.requests.append(request)

    def close(self) -> None:
        """Let go of the parser, which refers back: without this only the cycle collector can."""
        self._heads.forget(self)
        del self._parser

    def waiting(self) -> int:
        """Return how many requests came after the one being answered."""
        return len(self.requests) - 1

    def _new_parser(self, target: object) -> httptools.HttpRequestParser:
        parser = httptools.HttpRequestParser(target)
        # Which versions are spoken is decided here: llhttp refuses 1.2, which is read like 1.1.
        parser.set_dangerous_leniencies(lenient_version=True)
        return parser

    def _count(self, last: Request | None, more: int) -> None:
        # Bounds what llhttp swallows without telling: empty lines, a header without end,
        # chunk extensions, trailers.
        self._overhead += more
        limits = self._limits
        if last is None or not last.head_done:
            target = 0 if last is None else len(last.target)
            if self._overhead > limits.head + target + _REQUEST_LINE:
                self.rejection = RejectedRequest(431, "the head does not end")
        elif self._overhead > (
            # A chunk of one byte has six bytes around it; 16 leaves room for long sizes.
            limits.chunk_overhead
            + last.size
            + len(last.target)
            + _REQUEST_LINE
            + 16 * last.received
        ):
            self.rejection = RejectedRequest(413, "chunk extensions or trailers are too long")
            last.complete = False  # what is complete would be answered first

    # What follows is called by llhttp, in the order of the message.

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._request = request = Request()
        self.requests.append(request)
        self._overhead = 0

    def on_url(self, part: bytes) -> None:
        """Take the target, in pieces where reads cut it."""
        request = self._request
        assert request is not None
        request.target += part
        if len(request.target) > self._limits.request_line:
            raise _Rejected(414, "the request target is too long")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take one header field; trailers are dropped (RFC 9110, 6.5.1)."""
        request = self._request
        assert request is not None
        if request.head_done:
            return
        name = name.lower()
        value = value.strip(b" \t")
        request.size = size = request.size + len(name) + len(value) + 4
        if size > self._limits.head:
            raise _Rejected(431, "the head is too long")
        if name in _decisive:
            _note(request, name, value)
        request.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Decide whether the request can be taken at all."""
        request = self._request
        assert request is not None
        parser = self._parser
        request.version = version = parser.get_http_version()
        method = parser.get_method()
        known = _METHODS.get(method)
        request.method = known or method.decode("ascii")
        request.keep_alive = parser.should_keep_alive()
        if request.hosts != 1 or version != "1.1":
            self._check_version(request)
        if request.hosts and not is_host(request.host):
            raise _Rejected(400, f"the Host header is not valid: {request.host[:_QUOTED]!r}")
        if len(request.headers) > self._limits.headers:
            raise _Rejected(431, "too many header fields")
        if known is None:
            if method in _foreign_methods:
                raise _Rejected(501, f"unknown method: {method!r}")
            if method == b"CONNECT":
                raise _Rejected(501, "CONNECT is not supported")
        if _HASH in request.target:
            raise _Rejected(400, "the request target has a fragment")
        if request.has_body:
            self._check_body(request)
        if parser.should_upgrade():
            request.upgrading = True
        request.head_done = True

    def on_body(self, part: bytes) -> None:
        """Take a piece of the body."""
        request = self._request
        assert request is not None
        request.chunks.append(part)
        request.received += len(part)
        limit = self._limits.body
        if limit is not None and request.received > limit:
            raise _Rejected(413, "the body is too long")

    def on_message_complete(self) -> None:
        """End the request."""
        assert self._request is not None
        self._request.complete = True

    def _check_version(self, request: Request) -> None:
        if not request.version.startswith("1."):
            raise _Rejected(505, f"HTTP/{request.version} is not supported")
        if request.hosts > 1:
            raise _Rejected(400, "more than one Host header")
        if request.version != "1.0":
            request.version = "1.1"  # RFC 9110, 2.5: a higher minor version is read like ours
            if request.hosts == 0:
                raise _Rejected(400, "no Host header")
        else:
            request.expects = False  # RFC 9110, 10.1.1 and 7.8: neither is for an old client
            request.upgrade = b""
            if request.keep_alive:  # llhttp does not see a "close" next to it
                request.keep_alive = not any(
                    name == b"connection" and b"close" in _members(value)
                    for name, value in request.headers
                )
            if _other_protocol.search(self._data):
                raise _Rejected(400, "not HTTP")

    def _check_body(self, request: Request) -> None:
        if request.chunked and request.version == "1.0":
            # RFC 9112, 6.1: such a message cannot be framed safely.
            raise _Rejected(400, "Transfer-Encoding in HTTP/1.0")
        limit = self._limits.body
        # llhttp has seen to it that it is a number of 64 bits, but not how many zeros begin it:
        # int() refuses thousands.
        if limit is not None and int((request.length or b"").lstrip(b"0") or b"0") > limit:
            raise _Rejected(413, "the body is too long")

    def decline_upgrade(self) -> None:
        """Read on in HTTP/1.1 after an offer to upgrade (RFC 9110, 7.8: it may be ignored).

        llhttp takes what follows such a request for the other protocol, body included:
        a new parser is told the framing again and reads it.
        """
        request, rest = self._request, self.rest
        assert request is not None and rest is not None
        self.rest = None
        self._parser = self._new_parser(_Resumed(self) if request.has_body else self)
        if request.has_body:
            request.complete = False
            framing = (
                b"transfer-encoding: chunked"
                if request.length is None
                else b"content-length: " + request.length
            )
            self._parser.feed_data(b"POST / HTTP/1.1\r\n%b\r\n\r\n" % framing)
        if rest:
            self.feed(bytes(rest))


class _Resumed:
    """Hides the head that `RequestReader.decline_upgrade` repeats from the reader."""

    def __init__(self, reader: RequestReader) -> None:
        self._reader = reader
        self._repeated = True
        self.on_body = reader.on_body
        self.on_message_complete = reader.on_message_complete

    def on_message_begin(self) -> None:
        if not self._repeated:
            self._reader.on_message_begin()

    def on_url(self, part: bytes) -> None:
        if not self._repeated:
            self._reader.on_url(part)

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._repeated:
            self._reader.on_header(name, value)

    def on_headers_complete(self) -> None:
        if not self._repeated:
            self._reader.on_headers_complete()
        self._repeated = False


def _note(request: Request, name: bytes, value: bytes) -> None:
    """Keep what decides about framing and protocol."""
    if name == b"host":
        request.hosts += 1
        request.host = value
    elif name == b"content-length":
        request.has_body = value.strip(b"0") != b""
        request.length = value
    elif name == b"transfer-encoding":
        if request.chunked or value.lower() != b"chunked":
            # RFC 9112, 6.3: without chunked at its end, nobody knows where the body ends.
            framed = not request.chunked and _members(value)[-1:] == [b"chunked"]
            status = 501 if framed else 400
            raise _Rejected(status, f"unknown transfer coding: {value[:_QUOTED]!r}")
        request.has_body = request.chunked = True
    elif name == b"upgrade":
        request.upgrade = b",".join(filter(None, (request.upgrade, value.lower())))
    elif name == b"expect":
        members = _members(value)
        if any(member != b"100-continue" for member in members):
            raise _Rejected(417, f"unknown expectation: {value[:_QUOTED]!r}")
        request.expects = request.expects or bool(members)
    else:
        if name in request.alone:
            raise _Rejected(400, f"more than one {name.decode()} header")
        request.alone += (name,)


def _members(value: bytes) -> list[bytes]:
    """Return the members of a list (RFC 9110, 5.6.1) in lower case."""
    return [member for part in value.lower().split(b",") if (member := part.strip(b" \t"))]
