"""Response types, and the headers that every response carries."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import lru_cache
from struct import Struct

import msgspec
from starlette.responses import Response

from fxtrio.errors import Redirect
from fxtrio.serve.request.client_protocol import NAVIGATION, PAYLOAD

Header = tuple[bytes, bytes]

HTML = b"text/html; charset=utf-8"
JSON = b"application/json"

NO_STORE: Header = (b"cache-control", b"no-store")
UNBUFFERED: Header = (b"x-accel-buffering", b"no")
"""Read by nginx, which otherwise holds back small parts, and all that it compresses itself."""

PRIVATE: Header = (b"cache-control", b"private, no-cache")

_GOOD = frozenset({200, 203, 206, 304})

_MAX_AGE = re.compile(rb"(?<![\w-])max-age=(\d{1,10})", re.IGNORECASE)
_UNSHARED = re.compile(r"\b(?:private|no-store)\b", re.IGNORECASE)


class Reply(msgspec.Struct):
    """A complete response, ready to be sent."""

    status: int
    body: bytes
    media: bytes
    own_headers: list[Header] | None = msgspec.field(default_factory=list)
    lines: bytes | None = None
    """All of its headers, the type included, as they are sent; None once they are in a list."""

    @property
    def headers(self) -> list[Header]:
        """The headers besides the type and the length, to be read and changed."""
        if self.lines is not None:
            self.own_headers = headers_of(self.lines)[1:]
            self.lines = None
        assert self.own_headers is not None
        return self.own_headers


def headers_of(lines: bytes) -> list[Header]:
    """Return the headers of encoded lines, each of which ends in CR LF."""
    found = []
    for line in lines.split(b"\r\n")[:-1]:
        name, _, value = line.partition(b": ")
        found.append((name, value))
    return found


class Nothing(msgspec.Struct, frozen=True):
    """A response that was already sent."""


NOTHING = Nothing()
"""It was sent in parts already, or its client has left."""


Answer = Reply | Response | Nothing


def keep_private(headers: list[Header]) -> None:
    """Exclude a representation without a URL of its own from shared caches.

    A cache that ignores `Vary` would send it to every client that requests the page. The
    browser's `max-age` is left as it is.
    """
    for index in range(len(headers) - 1, -1, -1):
        name, value = headers[index][0].lower(), headers[index][1]
        if name == b"cache-control":
            headers[index] = (name, _private(value))
        elif name != b"cache-control" and name.endswith((b"cache-control", b"surrogate-control")):
            del headers[index]


_BY_US = b"public, max-age=0,"
"""What `Cache-Control` begins with where the runtime lets shared caches keep a page."""


def with_cookies_private(headers: Iterable[Header]) -> Iterable[Header]:
    """Return a response's headers, by which no shared cache keeps a page with a cookie.

    Whoever asks such a cache next would get a cookie that middleware has set for somebody. A
    policy of the application's is left as it is.
    """
    if all(name.lower() != b"set-cookie" for name, _ in headers):
        return headers
    found = [(bytes(name).lower(), bytes(value)) for name, value in headers]
    if any(name == b"cache-control" and value.startswith(_BY_US) for name, value in found):
        keep_private(found)
    return found


@lru_cache(256)
def _private(policy: bytes) -> bytes:
    """Return a `Cache-Control` without the directives that allow shared caching."""
    if _UNSHARED.search(policy.decode("latin-1")):
        return policy
    age = _MAX_AGE.search(policy)
    seconds = int(age[1]) if age else 0
    return b"private, max-age=%d" % seconds if seconds else PRIVATE[1]


def not_read(method: str) -> Response:
    """Return a page's response to methods other than GET and HEAD."""
    status = 204 if method == "OPTIONS" else 405
    return Response(status_code=status, headers={"allow": "GET, HEAD, OPTIONS"})


def redirected(answer: Response | Redirect, *, navigation: bool) -> Answer:
    """Return the response of a hook or loader; the client router follows redirects itself."""
    if isinstance(answer, Response):
        return answer
    if navigation:
        body = msgspec.json.encode({"ok": True, "redirect": answer.url})
        return Reply(200, body, PAYLOAD, [NO_STORE, (b"vary", NAVIGATION)])
    return Response(status_code=answer.status, headers={"location": answer.url})


class ResponseDraft(Response):
    """``request.state.response``: headers and cookies for whatever the request ends in.

    It has ``headers``, ``set_cookie`` and ``delete_cookie`` of a Starlette
    response, and nothing else of it is sent.
    """

    policy: bytes | None = None
    """`Cache-Control` by the settings of the route, where code sets none."""

    tags: tuple[str, ...] = ()
    """The names that loaders have given to `fx.cache.tags`."""

    revalidated: list[str] | None = None
    """What an action has revalidated, among URLs; None where the browser is not notified."""

    def __init__(self) -> None:
        self.raw_headers: list[Header] = []

    def revalidate(self, named: str) -> None:
        """Let the browser drop its data, if the response can say so."""
        if self.revalidated is not None and named not in self.revalidated:
            self.revalidated.append(named)

    def take_revalidated(self) -> list[str]:
        """Return what was revalidated since the last call."""
        if not self.revalidated:
            return []
        taken, self.revalidated = self.revalidated, []
        return taken

    def settle(self, status: int) -> None:
        """Apply the cache policy for a response with ``status``: errors are not cached."""
        if self.policy is not None and status in _GOOD and "cache-control" not in self.headers:
            self.raw_headers.append((b"cache-control", self.policy))

    @property
    def shared(self) -> bool:
        """Whether the application lets shared caches keep the response (RFC 9111, section 3)."""
        policy = self.headers.get("cache-control") if self.raw_headers else None
        if policy is None and self.policy is not None:
            policy = self.policy.decode()
        return policy is not None and not _UNSHARED.search(policy)


_DRAWN = Struct("16s" * 64)
"""Random strings that are read together."""


class Entropy:
    """Random hex strings, cut from one larger read of the system's generator."""

    def __init__(self) -> None:
        self._pool: list[str] = []

    def hex(self) -> str:
        """Return 32 random hex characters (128 bits)."""
        if not self._pool:
            self._pool = list(map(bytes.hex, _DRAWN.unpack(os.urandom(_DRAWN.size))))
        return self._pool.pop()


class StandardHeaders(msgspec.Struct, frozen=True):
    """The headers of every response: security, request id."""

    fixed: tuple[Header, ...]
    """Those that are the same for all."""

    csp_name: bytes | None
    csp: bytes
    """The policy of HTML responses, ``%s`` where the nonce goes, and ``%%`` for a ``%``."""

    lines: bytes
    """Those of ``fixed``, encoded."""

    def html_lines(self, vary: Header, llms_link: Header | None) -> tuple[bytes, ...]:
        """Return the lines of HTML responses, the type included, without ``fixed``.

        The nonce goes between each two parts of them.
        """
        lines = encoded([(b"content-type", HTML), PRIVATE, vary])
        if self.csp_name is not None:
            lines += encoded([(self.csp_name, self.csp % b"\0")])
        return tuple((lines + encoded([llms_link] if llms_link else [])).split(b"\0"))

    def missing(self, present: list[Header], request_id: bytes | None) -> list[Header]:
        """Return the standard headers that ``present`` does not set itself."""
        names = {name.lower() for name, _ in present}
        added = [header for header in self.fixed if header[0] not in names]
        if request_id is not None and b"x-request-id" not in names:
            added.append((b"x-request-id", request_id))
        return added


def encoded(headers: Iterable[Header]) -> bytes:
    """Return the lines of headers that are safe."""
    return b"".join(b"%b: %b\r\n" % header for header in headers)


def _as_value(url: str) -> str:
    """Return a URL for a policy, with the characters encoded that would end a directive."""
    return url.replace(";", "%3B").replace(",", "%2C").replace("%", "%%")


def policy_of_document(scripts: str) -> str:
    """Return the part of the policy that documents can have as well.

    ``scripts`` are the sources of scripts besides the app's own files.
    """
    script_sources = f"script-src 'self' {scripts}".rstrip()
    return (
        f"default-src 'self'; {script_sources}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob: https:; font-src 'self' data:; connect-src 'self' ws: wss:; "
        "object-src 'none'; base-uri 'self'; form-action 'self'"
    )


def standard_headers(*, csp: str, base_url: str) -> StandardHeaders:
    """Return the headers for an app; ``csp`` is ``report-only``, ``enforce`` or ``off``."""
    policy = (
        policy_of_document("'nonce-%s'") + "; frame-ancestors 'self'; "
        f"report-uri {_as_value(base_url)}/api/__csp-report"
    )
    names = {
        "report-only": b"content-security-policy-report-only",
        "enforce": b"content-security-policy",
        "off": None,
    }
    fixed = (
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"SAMEORIGIN"),
        (b"referrer-policy", b"strict-origin-when-cross-origin"),
    )
    return StandardHeaders(
        fixed=fixed, csp_name=names[csp], csp=policy.encode(), lines=encoded(fixed)
    )
