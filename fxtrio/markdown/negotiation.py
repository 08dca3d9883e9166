"""The `Accept` header → whether the client would rather have Markdown than HTML.

Pure. Called by the routing of pages for every `GET` when ``llms`` is enabled.
Source: RFC 9110, section 12.5.1.
"""

from __future__ import annotations

import re
from functools import lru_cache

from fxtrio.accept import Element, read_elements

_SPEAKS = re.compile(r"text/(?:markdown|\*|html[ \t]*;)", re.IGNORECASE)
"""Without any of these HTML wins: its weight is 1 where it is named, else a wildcard's,
and so is that of Markdown. Browsers send none of them, and parsing costs 20 µs."""

_LONGEST = 1024
"""Characters; browsers send 150."""

_CACHED = 128
"""Headers that are remembered; each browser has one for pages."""


def prefers_markdown(accept: str | None) -> bool:
    """Whether a client that sends ``accept`` is better served by Markdown than by HTML.

    That is so when `text/markdown` weighs more than `text/html`, or as much while
    it is named: who names it wants it, and browsers never do. ``*/*``, no header and
    a header that does not parse mean HTML.
    """
    return accept is not None and len(accept) <= _LONGEST and _prefers_markdown(accept)


@lru_cache(_CACHED)
def _prefers_markdown(accept: str) -> bool:
    if not _SPEAKS.search(accept):
        return False
    ranges = list(read_elements(accept))
    markdown, named = _weight(ranges, "markdown")
    html, _ = _weight(ranges, "html")
    return markdown > html or (named and markdown == html > 0)


def _weight(ranges: list[Element], subtype: str) -> tuple[float, bool]:
    """Return the quality of ``text/<subtype>``, and whether the header names it.

    The most specific range decides. One with parameters decides only where no plain
    one stands, as there is one form of each page; of equals the highest counts.
    """
    best, rank = 0.0, -1
    for found in ranges:
        if found.weight is None or not found.whole:
            continue
        if found.name == f"text/{subtype}":
            specific = 2 if set(found.parameters) - {("charset", "utf-8")} else 3
        elif found.name == "text/*":
            specific = 1
        elif found.name == "*/*":
            specific = 0
        else:
            continue
        if specific > rank:
            best, rank = found.weight, specific
        elif specific == rank:
            best = max(best, found.weight)
    return best, rank >= 2
