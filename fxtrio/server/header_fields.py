"""The rules of single header fields, in every version of HTTP. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

Header = tuple[bytes, bytes]

ALONE = frozenset({b"host", b"origin", b"sec-fetch-site", b"authorization", b"content-length"})
"""Fields by which a request is trusted or framed. Of two, a proxy could believe the one and
the application the other."""

_host = re.compile(
    rb"(?:\[(?:[0-9A-Fa-f:.]+|v[0-9A-Fa-f]+\.[A-Za-z0-9\-._~!$&'()*+,;=:]+)\]"
    rb"|(?:[A-Za-z0-9\-._~!$&'()*+;=]|%[0-9A-Fa-f]{2})+)(?::[0-9]*)?",
    re.IGNORECASE,
)


def repeated(fields: Iterable[Header]) -> bytes | None:
    """Return the name of a field of `ALONE` that comes twice. Names are in lower case."""
    seen = set()
    for name, _ in fields:
        if name in ALONE:
            if name in seen:
                return name
            seen.add(name)
    return None


@lru_cache(maxsize=256)
def is_host(value: bytes) -> bool:
    """Return whether ``value`` is a host, and maybe a port (RFC 9110, 7.2).

    A comma is none of a host's, though the grammar has it: a proxy may take what is joined by
    it for two hosts. Nor is an empty one: every http URL has a host (RFC 9110, 4.2.1).
    """
    return _host.fullmatch(value) is not None
