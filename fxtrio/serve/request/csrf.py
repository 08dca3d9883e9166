"""Cross-site request csrf_failure: does an unsafe request come from the app's own pages?

Browsers say so themselves (`Sec-Fetch-Site`, `Origin`), so pages need no token
and can be cached. A client that sends neither must return a signed token: the
double-submit cookie, ``nonce.mac``, the MAC over the nonce and the session.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from hashlib import blake2b, sha256
from typing import Final

import msgspec

from fxtrio.origin import read_origin

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
HEADER = b"x-csrf-token"
FIELD = "_csrf_token"
COOKIE = "fx-csrf"
SECURE_COOKIE = "__Host-fx-csrf"


class Source(msgspec.Struct, frozen=True):
    """The origin of a request, judged by its headers alone."""

    trusted: bool | None
    """True: from the app's own pages. False: from elsewhere. None: they do not say."""

    reason: str = ""


OWN: Final = Source(True)
"""The app's own pages."""


class CsrfTokens:
    """Signs and verifies tokens. The first key signs; all verify (rotation)."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        # BLAKE2 with a key is itself a MAC. It costs a fifth of HMAC-SHA-256, and to copy one a
        # quarter of making it.
        self._keys = tuple(
            blake2b(key=sha256(key).digest(), digest_size=16, person=b"fx-csrf") for key in keys
        )

    def make(self, nonce: str, binding: str) -> str:
        """Return the token for ``nonce``, bound to the session ``binding`` ("" without one)."""
        return f"{nonce}.{_signature(self._keys[0], nonce, binding)}"

    def holds(self, token: str, binding: str) -> bool:
        """Whether this app issued ``token`` for this session."""
        nonce, separator, signature = token.partition(".")
        if not separator or not nonce or not token.isascii():
            return False
        return any(
            hmac.compare_digest(_signature(key, nonce, binding), signature) for key in self._keys
        )

    def matches(self, cookie: str | None, sent: str | None, binding: str) -> str:
        """Return "" when the sent token matches the cookie and is valid, else the cause."""
        if not cookie:
            return "the token cookie is missing"
        if not sent:
            return "the token is missing"
        if not hmac.compare_digest(cookie.encode(), sent.encode()):
            return "the token is not the one of the cookie"
        if not self.holds(sent, binding):
            return "the token is not valid for this session"
        return ""


def judge_origin(
    headers: Mapping[bytes, bytes], *, scheme: str, trusted_origins: Sequence[str]
) -> Source:
    """Judge by `Origin`, `Sec-Fetch-Site` and `Host` where a request comes from.

    `X-Forwarded-Host` is never read: a client can forge it.
    """
    origin = headers.get(b"origin")
    if origin is not None and origin.decode("latin-1") in trusted_origins:
        return OWN
    site = headers.get(b"sec-fetch-site")
    if site is not None:
        if site in (b"same-origin", b"none"):
            return OWN
        return Source(False, f"the request is {site.decode('latin-1')!r}")
    if origin is None:
        return Source(None, "the request names no origin")
    if _is_this_site(origin.decode("latin-1"), headers.get(b"host"), scheme):
        return OWN
    return Source(False, f"the origin {origin.decode('latin-1')!r} is not this site")


def _is_this_site(origin: str, host: bytes | None, scheme: str) -> bool:
    """Whether an origin of the web has the host and port of the `Host` header.

    Schemes may differ: a proxy that ends TLS need not say so.
    """
    if host is None:
        return False
    sent = read_origin(origin)
    own = read_origin(f"{scheme}://{host.decode('latin-1')}")
    if sent is None or own is None or sent.scheme not in ("http", "https"):
        return False
    return (sent.host, sent.port) == (own.host, own.port)


def cookie_name(scheme: str) -> str:
    """Return the name of the token cookie: bound to the host over HTTPS."""
    return SECURE_COOKIE if scheme in ("https", "wss") else COOKIE


def read_cookie(header: bytes | None, name: str) -> str | None:
    """Return the value of one cookie of a `Cookie` header."""
    if header is None or name.encode() not in header:
        return None
    for part in header.decode("latin-1").split(";"):
        key, separator, value = part.strip().partition("=")
        if separator and key == name:
            return value.strip('"')
    return None


def set_cookie_header(token: str, scheme: str) -> bytes:
    """Return the `Set-Cookie` value; scripts of the page may read it to send it back."""
    secure = "; Secure" if scheme == "https" else ""
    return f"{cookie_name(scheme)}={token}; Path=/; SameSite=Lax{secure}".encode()


def exempt(path: str, prefixes: Sequence[str]) -> bool:
    """Whether ``path`` is one of ``prefixes`` or below one, on segment boundaries."""
    return any(
        path == prefix or path.startswith(prefix if prefix.endswith("/") else prefix + "/")
        for prefix in prefixes
    )


def _signature(key: blake2b, nonce: str, binding: str) -> str:
    mac = key.copy()
    mac.update(f"{nonce}\0{binding}".encode("utf-8", "surrogatepass"))
    return mac.hexdigest()
