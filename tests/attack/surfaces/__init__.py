"""What is attacked: each surface makes cases from dice, the same ones from the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from ..cases import Case
from . import cookies, forms, http1, http2, json_bodies, markdown, proxied, query, websocket

SURFACES: dict[str, Callable[[random.Random], Case]] = {
    "http1": http1.make,
    "http2": http2.make,
    "forms": forms.make,
    "json": json_bodies.make,
    "query": query.make,
    "cookies": cookies.make,
    "websocket": websocket.make,
    "markdown": markdown.make,
    "proxied": proxied.make,
}


def make_cases(seed: int, names: Sequence[str] = tuple(SURFACES)) -> Iterator[Case]:
    """Return cases without an end, the surfaces in turn."""
    number = 0
    while True:
        for name in names:
            yield SURFACES[name](random.Random(f"{seed} {name} {number}"))
        number += 1
