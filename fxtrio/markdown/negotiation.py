"""The `Accept` header → whether the client would rather have Markdown than HTML.

Pure. Called by the routing of pages for every `GET` when ``llms`` is enabled.
Source: RFC 9110, sections 5.6.6 (parameters), 12.4.2 (weights) and 12.5.1 (Accept).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAMETER = re.compile(rf'[ \t]*+;[ \t]*+(?:({_TOKEN})=({_TOKEN}|"(?:[^"\\]|\\.)*+"))?')
_MEDIA_RANGE = re.compile(rf"({_TOKEN})/({_TOKEN})")
_WEIGHT = re.compile(r"0(?:\.\d{0,3})?|1(?:\.0{0,3})?")
_SPEAKS = re.compile(r"text/(?:markdown|\*|html[ \t]*;)", re.IGNORECASE)
"""Without any of these HTML wins: its weight is 1 where it is named, else a wildcard's,
and so is that of Markdown. Browsers send none of them, and parsing costs 20 µs."""

_LONGEST = 1024
"""Characters; browsers send 150."""

_TO_NEXT = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*+(?:"|\\?\Z))*+')


@attrs.frozen
class MediaRange:
    """One element of an `Accept` header, names in lower case."""

    type: str
    subtype: str
    quality: float
    parameters: bool
    """Whether it asks for more than a type, such as ``;variant=GFM``."""


def parse_accept(header: str) -> Iterator[MediaRange]:
    """Yield the media ranges of ``header`` in order; what does not parse is left out."""
    position = 0
    while position < len(header):
        stop = _TO_NEXT.match(header, position).end()  # type: ignore[union-attr]  # matches ""
        found = _read_range(header[position:stop].strip(" \t"))
        if found is not None:
            yield found
        position = stop + 1


def _read_range(text: str) -> MediaRange | None:
    name = _MEDIA_RANGE.match(text)
    if name is None:
        return None
    quality, parameters, position = 1.0, False, name.end()
    while position < len(text):
        parameter = _PARAMETER.match(text, position)
        if parameter is None:
            return None
        position = parameter.end()
        key = (parameter[1] or "").lower()
        if key == "q":
            if not _WEIGHT.fullmatch(parameter[2]):
                return None
            quality = float(parameter[2])
        elif key and (key, parameter[2].strip('"').lower()) != ("charset", "utf-8"):
            parameters = True
    return MediaRange(name[1].lower(), name[2].lower(), quality, parameters)


def prefers_markdown(accept: str | None) -> bool:
    """Whether a client that sends ``accept`` is better served by Markdown than by HTML.

    That is so when `text/markdown` weighs more than `text/html`, or as much while
    it is named: who names it wants it, and browsers never do. ``*/*``, no header and
    a header that does not parse mean HTML.
    """
    if not accept or len(accept) > _LONGEST or not _SPEAKS.search(accept):
        return False
    ranges = list(parse_accept(accept))
    markdown, named = _weight(ranges, "markdown")
    html, _ = _weight(ranges, "html")
    return markdown > html or (named and markdown == html > 0)


def _weight(ranges: list[MediaRange], subtype: str) -> tuple[float, bool]:
    """Return the quality of ``text/<subtype>``, and whether the header names it.

    The most specific range decides. One with parameters decides only where no plain
    one stands, as there is one form of each page; of equals the highest counts.
    """
    best, rank = 0.0, -1
    for found in ranges:
        if (found.type, found.subtype) == ("text", subtype):
            specific = 2 if found.parameters else 3
        elif (found.type, found.subtype) == ("text", "*"):
            specific = 1
        elif (found.type, found.subtype) == ("*", "*"):
            specific = 0
        else:
            continue
        if specific > rank:
            best, rank = found.quality, specific
        elif specific == rank:
            best = max(best, found.quality)
    return best, rank >= 2
