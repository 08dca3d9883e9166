"""HTTP/1.1: requests that are framed wrong, and headers that no browser sends."""

from __future__ import annotations

import random

from ...http1.mutations import AWKWARD, HTTP
from ..cases import Case, Message, as_user, cut
from ..mutate import mutate
from ..seeds import ENDPOINTS, GUARDED_PAGES, HEADERS, PAGES

_METHODS = (b"GET", b"GET", b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"TRACE",
            b"PATCH", b"CONNECT", b"PROPFIND", b"get", b"GET\0")  # fmt: skip
_TOKENS = (*AWKWARD, *(b"%b: %b\r\n" % header for header in HEADERS), *PAGES, *GUARDED_PAGES,
           *_METHODS, b"HTTP/1.0", b"HTTP/2.0", b"HTTP/9.9", b" \r\n", b"\r\n x")  # fmt: skip


def make(dice: random.Random) -> Case:
    """Return some requests, one after the other, with damage anywhere."""
    data = b"".join(_request(dice) for _ in range(dice.randint(1, 4)))
    return Case("http1", cut(mutate(data, dice, _TOKENS), dice))


def _request(dice: random.Random) -> bytes:
    if dice.random() < 0.2:
        return dice.choice(HTTP)
    headers = (*dice.sample(HEADERS, dice.randint(0, 4)), *as_user(dice))
    target, method = dice.choice(PAGES + GUARDED_PAGES + ENDPOINTS), dice.choice(_METHODS)
    body = b"hello" if method not in (b"GET", b"HEAD") or dice.random() < 0.1 else None
    return Message(target, method, headers, body).to_bytes()
