"""Decides which responses may be encoded: text whose size cannot reveal a secret.

The size of an encoded body depends on its repetitions. An attacker who can put text into a
response and observe its size can recover its other content byte by byte (BREACH). Personal
responses are therefore not encoded, unless the settings allow it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import msgspec

Header = tuple[bytes, bytes]

LEAST = 500
"""Smaller bodies fit into one packet as they are (bytes)."""

_TEXT = frozenset(
    {
        b"application/javascript",
        b"application/json",
        b"application/ndjson",
        b"application/vnd.ms-fontobject",
        b"application/wasm",
        b"application/x-javascript",
        b"application/x-ndjson",
        b"application/xml",
        b"font/otf",
        b"font/ttf",
    }
)
_TEXT_ENDINGS = (b"+json", b"+json-lines", b"+xml", b"+text")

_DIGESTS = frozenset({b"content-digest", b"repr-digest", b"digest", b"content-md5"})


@lru_cache(maxsize=256)
def is_text(media: bytes) -> bool:
    """Whether a `Content-Type` is text, or else becomes much smaller."""
    kind = media.partition(b";")[0].strip().lower()
    return kind.startswith(b"text/") or kind in _TEXT or kind.endswith(_TEXT_ENDINGS)


class Described(msgspec.Struct):
    """The headers of a response that decide about its coding."""

    media: bytes | None = None
    size: int | None = None
    """Bytes of the body, where they are known before."""

    policy: bytes = b""
    """All of its `Cache-Control`."""

    cookies: list[bytes] = msgspec.field(default_factory=list)
    fixed: bool = False
    """Whether the body is encoded, or signed, as it is."""

    @property
    def may_change(self) -> bool:
        """Whether an intermediary may change the body."""
        return not self.fixed and b"no-transform" not in self.policy

    @property
    def shared(self) -> bool:
        """Whether the response is said to be the same for everybody."""
        policy = self.policy
        return b"public" in policy and b"private" not in policy and b"no-store" not in policy


def describe(headers: Iterable[Header]) -> Described:
    """Read the headers of a response."""
    found = Described()
    for name, value in headers:
        name = name.lower()
        if name == b"content-type":
            found.media = value
        elif name == b"content-length":
            found.size = int(value) if value.isdigit() else None
        elif name == b"cache-control":
            found.policy += b"," + value.lower()
        elif name == b"set-cookie":
            found.cookies.append(value)
        elif name in _DIGESTS or (name == b"content-encoding" and value.lower() != b"identity"):
            found.fixed = True
    return found


class Visitor(msgspec.Struct, frozen=True):
    """Whether a response may be one visitor's own."""

    known: bool
    """Whether the request or the response identifies the visitor: credentials, or a cookie."""

    tokens: tuple[bytes, ...] = ()
    """Cookies that everybody gets, and that are a secret where a body repeats them."""


def visitor_of(
    request: Iterable[Header], set_cookies: Iterable[bytes], *, common: frozenset[bytes]
) -> Visitor:
    """Return what a request says of its visitor; cookies named in ``common`` identify nobody."""
    tokens: list[bytes] = []
    for name, value in request:
        if name == b"authorization":
            return Visitor(True)
        if name == b"cookie":
            for part in value.split(b";"):
                cookie, _, token = part.strip().partition(b"=")
                if cookie and cookie not in common:
                    return Visitor(True)
                if token:
                    tokens.append(token)
    known = any(each.partition(b"=")[0].strip() not in common for each in set_cookies)
    return Visitor(known, tuple(tokens))
