"""Origins: scheme, host and port of whoever sends a request (RFC 6454).

One parser for all that compares them: the check of unsafe requests, and
`origin_allowed` for WebSockets. Pure.
"""

from __future__ import annotations

import re

import msgspec

_ORIGIN = (
    r"([A-Za-z][A-Za-z0-9+.-]*)://"
    r"([A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])"
    r"(?::([0-9]{1,5}))?"
)
_LAST_PORT = 65535
_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


class Origin(msgspec.Struct, frozen=True):
    """An origin, so that equal ones are equal."""

    scheme: str
    """In lower case."""

    host: str
    """In lower case; an IPv6 address in brackets."""

    port: int | None
    """The scheme's own where none is written; None for schemes without one."""


def read_origin(text: str) -> Origin | None:
    """Return the origin that ``text`` is, None when it is none.

    Nothing stands before or after it: no user, path, query or space. ``null``, an opaque
    origin, is nobody's.
    """
    found = re.fullmatch(_ORIGIN, text)
    if found is None:
        return None
    scheme, host, port = found[1].lower(), found[2].lower(), found[3]
    if port is None:
        return Origin(scheme, host, _DEFAULT_PORTS.get(scheme))
    return Origin(scheme, host, int(port)) if int(port) <= _LAST_PORT else None


def is_allowed_form(text: str) -> bool:
    """Whether ``text`` may be listed as an allowed origin: there are no wildcards."""
    return "*" not in text and read_origin(text.removesuffix("/")) is not None
