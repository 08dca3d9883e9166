"""Encoded password hashes: those of the plugin, and those of imported accounts.

The plugin creates Argon2id hashes. Other variants of Argon2, and bcrypt, are verified for
accounts of `import_user`; the next login replaces them.
"""

from __future__ import annotations

import re
import secrets
from base64 import b64encode
from typing import TYPE_CHECKING, Final

from fxtrio.errors import ExtraMissing

if TYPE_CHECKING:
    from argon2 import PasswordHasher as Argon2

KINDS: Final = "Argon2 ($argon2id$, $argon2i$, $argon2d$) and bcrypt ($2a$, $2b$, $2y$)"
"""Supported hashes, for messages."""

_ARGON2 = re.compile(r"\$argon2(?:id|i|d)\$(?:v=\d{1,3}\$)?m=\d{1,10},t=\d{1,10},p=\d{1,8}\$")
_ARGON2_END = re.compile(r"[A-Za-z0-9+/]{8,128}\$[A-Za-z0-9+/]{8,512}")
_BCRYPT = re.compile(r"\$2[aby]\$\d\d\$")
_BCRYPT_END = re.compile(r"[./A-Za-z0-9]{53}")
_BCRYPT_BYTES = 72  # of a password: bcrypt looks at no more

_VERSION = 19
"""Of Argon2's algorithm, as all of its releases since 2016 have it."""

_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_OF_BCRYPT = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def cost_of(encoded: str) -> str:
    """Return the start of a hash, up to its salt; "" for an unknown kind of hash."""
    for beginning, end in ((_ARGON2, _ARGON2_END), (_BCRYPT, _BCRYPT_END)):
        found = beginning.match(encoded)
        if found is not None and end.fullmatch(encoded, found.end()):
            return found[0]
    return ""


def cost_of_new(argon2: Argon2) -> str:
    """Return what `cost_of` returns of the hashes that ``argon2`` makes, without making one.

    One takes some 50 ms of CPU time and 64 MiB, which each start of an app would pay.
    """
    kind = argon2.type.name.lower()
    memory, time, threads = argon2.memory_cost, argon2.time_cost, argon2.parallelism
    return f"$argon2{kind}$v={_VERSION}$m={memory},t={time},p={threads}$"


def is_cost(text: str) -> bool:
    """Whether a text is the beginning of a hash that is known, as `cost_of` returns it."""
    return bool(_ARGON2.fullmatch(text) or _BCRYPT.fullmatch(text))


def dummy_hash(cost: str) -> str:
    """Return a hash that took nothing to make, and takes as much to check as any of that cost."""
    if is_bcrypt(cost):
        text = b64encode(secrets.token_bytes(16))[:22] + b64encode(secrets.token_bytes(23))[:31]
        return cost + text.decode().translate(str.maketrans(_BASE64, _OF_BCRYPT))
    salt, value = (b64encode(secrets.token_bytes(size)).rstrip(b"=") for size in (16, 32))
    return f"{cost}{salt.decode()}${value.decode()}"


def is_bcrypt(encoded: str) -> bool:
    """Whether a hash, or the beginning of one, is of bcrypt."""
    return encoded.startswith("$2")


def require_library(encoded: str) -> None:
    """Raise ExtraMissing if the package that verifies such hashes is not installed."""
    if is_bcrypt(encoded):
        try:
            import bcrypt  # noqa: F401  # optional
        except ImportError as error:
            raise ExtraMissing("bcrypt hashes of the auth plugin", "bcrypt", "bcrypt") from error


def matches(argon2: Argon2, encoded: str, password: str) -> bool:
    """Whether ``encoded`` is a hash of ``password``. Takes its time, and lets other threads run."""
    if is_bcrypt(encoded):
        return _bcrypt_matches(encoded, password)
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        return argon2.verify(encoded, password)
    except (VerificationError, InvalidHashError):
        return False


def _bcrypt_matches(encoded: str, password: str) -> bool:
    import bcrypt

    try:
        return bcrypt.checkpw(password.encode()[:_BCRYPT_BYTES], encoded.encode())
    except ValueError:  # a salt that cannot be one, or a NUL in an old release
        return False
