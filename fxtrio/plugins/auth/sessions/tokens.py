"""Session tokens and the cookie that carries them. Pure, but for the random bytes.

The cookie is ``token.signature``. The signature lets a made-up cookie be refused
without asking the storage; the token is what the storage knows, by its hash.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Iterable

import attrs

TOKEN_BYTES = 32
"""256 bits, four times OWASP's minimum (Session Management, "Session ID Entropy")."""

_TOKEN_LENGTH = 43  # 32 bytes in base64url without padding
_LONGEST_COOKIE = 2 * _TOKEN_LENGTH + 1


def new_token() -> str:
    """Return an unguessable token."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def key_of(token: str) -> bytes:
    """Return the storage's key of a session."""
    return hashlib.sha256(token.encode()).digest()


def binding_of(token: str) -> str:
    """Return the value to which CSRF tokens are bound; it does not reveal the token."""
    return hashlib.sha256(b"fx-csrf-binding\0" + token.encode()).hexdigest()


@attrs.frozen
class CookieValue:
    """A token from a cookie whose signature holds."""

    token: str = attrs.field(repr=False)
    current: bool
    """Whether the newest key signed it."""


@attrs.frozen
class CookieSigner:
    """Signs with the first of its keys, and believes all of them."""

    keys: tuple[bytes, ...] = attrs.field(repr=False)

    def sign(self, token: str) -> str:
        """Return the cookie's value for ``token``."""
        return f"{token}.{_signature(self.keys[0], token)}"

    def read(self, value: str | None) -> CookieValue | None:
        """Return the token of a cookie's value; None when no key has signed it."""
        if value is None or len(value) != _LONGEST_COOKIE or not value.isascii():
            return None
        token, separator, signature = value.partition(".")
        if not separator:
            return None
        # Every key is tried, so that the time does not reveal which one matched.
        found = [hmac.compare_digest(_signature(key, token), signature) for key in self.keys]
        return CookieValue(token, found[0]) if any(found) else None


def _signature(key: bytes, token: str) -> str:
    digest = hmac.digest(key, b"fx-session\0" + token.encode(), "sha256")
    return urlsafe_b64encode(digest).rstrip(b"=").decode()


@attrs.frozen
class CookieRules:
    """The name and the attributes of the session cookie."""

    name: str
    always_secure: bool

    def is_secure(self, scheme: str) -> bool:
        """Whether the cookie of a request with this URL scheme is one of HTTPS."""
        return self.always_secure or scheme in ("https", "wss")

    def name_for(self, scheme: str) -> str:
        """Return the cookie's name; browsers keep ``__Host-`` cookies to one host and HTTPS."""
        return f"__Host-{self.name}" if self.is_secure(scheme) else self.name

    def set_header(self, value: str, *, scheme: str, max_age: float | None) -> bytes:
        """Return a `Set-Cookie` value; without ``max_age`` (seconds) it ends with the browser."""
        age = "" if max_age is None else f"; Max-Age={max(0, int(max_age))}"
        secure = "; Secure" if self.is_secure(scheme) else ""
        cookie = f"{self.name_for(scheme)}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{age}"
        return cookie.encode("ascii")

    def clear_header(self, scheme: str) -> bytes:
        """Return the `Set-Cookie` value that deletes the cookie."""
        return self.set_header("", scheme=scheme, max_age=0)

    def read(self, headers: Iterable[tuple[bytes, bytes]], scheme: str) -> str | None:
        """Return the value of the cookie in a request's headers."""
        name = self.name_for(scheme)
        for header, value in headers:
            if header == b"cookie" and name.encode() in value:
                for part in value.decode("latin-1").split(";"):
                    key, separator, text = part.strip().partition("=")
                    if separator and key == name:
                        return text.strip('"')
        return None
