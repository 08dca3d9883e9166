"""Heads of requests that have come before: what they mean is looked up in place of parsed again.

Most requests begin with bytes that the server has read already: a browser that polls, a client
of an API, a load balancer. What a head means depends on its bytes alone, so one that is equal to
a head that was parsed and accepted is accepted, too, and means the same. No I/O.

Only whole requests of HTTP/1.1 are kept here whose connection goes on, and whose framing is the
plainest: no body, or a ``content-length``. A head is kept when it comes for the second time, and
a bounded number of them, for all connections of a worker. One that may have a secret in it is
kept for its own connection alone, which has one such head at most, and forgets it at its end.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from fxtrio.server.header_fields import Header

K = TypeVar("K")
V = TypeVar("V")

_END = b"\r\n\r\n"

LONGEST = 4096
"""Bytes of the longest request that is looked up: to look for a long one costs time, too."""

_MOST = 256
"""Heads that are kept for all connections, and for single ones. The oldest go first (count)."""

_MOST_SEEN = 1024
"""Heads of which is known that they have come once (count)."""

_OPEN = frozenset(
    b"host connection user-agent accept accept-charset accept-encoding accept-language "
    b"cache-control pragma priority dnt upgrade-insecure-requests content-length content-type "
    b"origin sec-fetch-site sec-fetch-mode sec-fetch-user sec-fetch-dest sec-ch-ua "
    b"sec-ch-ua-mobile sec-ch-ua-platform sec-gpc save-data x-fx-navigation".split()
)
"""Fields that say nothing that only one client knows."""


class KnownHead(msgspec.Struct, eq=False):
    """What the head of a request means. Requests share it: nobody changes what is in it."""

    method: str
    target: bytes
    host: bytes
    headers: list[Header]
    size: int
    """Of the header fields (bytes)."""

    length: bytes | None
    """The ``content-length``, if there is one."""

    body: int
    """Bytes of the body."""

    shared: bool = False
    """Whether all readers may know it."""

    scope: dict[str, Any] | None = None
    """What the scopes of all requests with this head have in common, once one was opened."""


class KnownHeads:
    """The heads that one worker knows."""

    def __init__(self) -> None:
        self._shared: dict[bytes, KnownHead] = {}
        self._own: dict[object, tuple[bytes, KnownHead]] = {}
        self._seen: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self._shared) + len(self._own)

    def find(self, data: bytes, reader: object) -> tuple[KnownHead, int] | None:
        """Return the head that ``data`` begins with, and its length in bytes.

        None if ``reader`` does not know it, and unless ``data`` is one whole request.
        """
        size = len(data)
        if size > LONGEST:
            return None
        end = data.find(_END) + 4
        head = data if end == size else data[:end]
        known = self._shared.get(head)
        if known is None:
            own = self._own.get(reader)
            if own is None or own[0] != head:
                return None
            known = own[1]
        return (known, end) if known.body == size - end else None

    def keep(self, data: bytes, known: KnownHead, reader: object) -> None:
        """Keep what ``data``, which is one whole request, has been found to mean.

        The first time that its head comes, only this is noted.
        """
        end = data.find(_END) + 4
        if len(data) - end != known.body:  # an empty line is before it or behind it
            return
        head = data[:end]
        mark = hash(head)  # of two heads with one hash, one is kept too early
        if mark not in self._seen:
            _put(self._seen, mark, None, _MOST_SEEN)
        elif b"?" not in known.target and all(name in _OPEN for name, _ in known.headers):
            known.shared = True
            _put(self._shared, head, known, _MOST)
        else:
            _put(self._own, reader, (head, known), _MOST)

    def forget(self, reader: object) -> None:
        """Forget what only ``reader`` knows: its connection ends."""
        self._own.pop(reader, None)


def _put(heads: dict[K, V], key: K, value: V, most: int) -> None:
    """Put ``value`` in; what has been there for longest goes when there are more than ``most``."""
    heads[key] = value
    if len(heads) > most:
        del heads[next(iter(heads))]
