"""The tree of all paths of an app, for declarations: see `fxtrio/js/types/paths.d.ts`. Pure.

A path is looked up part by part, so the compiler does as much for a link as its path has parts.
A union of the paths of all pages made it compare each link with all of them, once for each page
that has a form: a project of 120 pages took 20 times as long as one of 20.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

import attrs

from fxtrio.routes.pattern import Kind, Segment, parse_pattern, specificity
from fxtrio.tools.types.gather.page_types import PageTypes

_UNCHANGED = re.compile(r"[\w.~-]*", re.ASCII)
"""Text that is not encoded in URLs."""

_SAFE = ("", "!'()*", "!$&'()*+,;=:@")
"""What `quote`, `encodeURIComponent` and `encodeURI` leave besides."""


@attrs.define(eq=False)
class _Place:
    """The paths behind a part of a path."""

    page: int | None = None
    next: dict[str, _Place] = attrs.field(factory=dict)
    any: _Place | None = None
    rest: int | None = None


def routes_module(pages: Sequence[PageTypes], others: Iterable[str]) -> str:
    """Return the declarations of the paths of pages, by their numbers, and of ``others``.

    These are patterns, or paths that end in ``/*``.
    """
    own = {number: one.pattern for number, one in enumerate(pages) if one.pattern}
    of_pages = _Place()
    for number in sorted(own, key=lambda one: specificity(own[one])):
        _add(of_pages, parse_pattern(own[number]), number)
    beside = _Place()
    for one in sorted(set(others)):
        _add(beside, _segments(one), 0)
    return "\n".join(
        [
            'import type { Leaf } from "fx/paths";',
            *_declared(of_pages, "Pages"),
            *_declared(beside, "Beside"),
            "",
        ]
    )


def _segments(path: str) -> tuple[Segment, ...]:
    """Return the parts of a path, which are text where it is no pattern: ``/a (1).pdf``."""
    text = path.removesuffix("/*")
    try:
        parts = parse_pattern(text or "/")
    except ValueError:
        parts = tuple(Segment(Kind.LITERAL, one) for one in text.split("/")[1:])
    return parts if text == path else (*parts, Segment(Kind.OPTIONAL_REST, "rest"))


def _add(place: _Place, segments: Iterable[Segment], page: int) -> None:
    """Put a page where its path ends, unless a more specific one is there."""
    for segment in segments:
        if segment.kind is Kind.LITERAL:
            place = _put(place.next, segment.text)
        elif segment.kind is Kind.PARAM:
            place.any = place = place.any or _Place()
        else:
            place.rest = page if place.rest is None else place.rest
            if segment.kind is Kind.REST:
                return
    place.page = page if place.page is None else place.page


def _put(places: dict[str, _Place], text: str) -> _Place:
    """Return the place behind a text, which is found as it is, and as links encode it."""
    place = places.setdefault(text, _Place())
    if not _UNCHANGED.fullmatch(text):
        for safe in _SAFE:
            places.setdefault(quote(text, safe=safe, errors="surrogateescape"), place)
    return place


def _declared(root: _Place, name: str) -> Iterator[str]:
    """Yield the declarations of a place and of all behind it."""
    names = {id(root): name}
    left = [root]
    while left:
        place = left.pop()
        behind = [*place.next.values(), *([place.any] if place.any is not None else [])]
        for one in behind:
            if id(one) in names:
                continue
            if one.next or one.any is not None or one.rest is not None:
                names[id(one)] = f"{name}{len(names)}"
                left.append(one)
            else:
                names[id(one)] = f"Leaf<{one.page}>"
        known = "; ".join(f"{json.dumps(key)}: {names[id(one)]}" for key, one in place.next.items())
        follows = "null" if place.any is None else names[id(place.any)]
        yield (
            f"export interface {names[id(place)]} {{ page: {_page(place.page)}; "
            f"next: {{ {known} }}; any: {follows}; rest: {_page(place.rest)} }}"
        )


def _page(number: int | None) -> str:
    return "null" if number is None else str(number)
