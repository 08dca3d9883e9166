"""Which page a link in UI code leads to. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from fxtrio.routes.pattern import Kind, Segment, parse_pattern, specificity

BLANK = "{}"
"""Stands in a link for what only its run tells."""


def page_of(href: str, patterns: Iterable[str]) -> str | None:
    """Return the pattern of the page that ``href`` leads to; None for none, or another site."""
    if not href.startswith("/") or href.startswith("//"):
        return None
    path = urlsplit(href.replace(BLANK, "\0")).path.replace("\0", BLANK)
    segments = [unquote(one) for one in path.split("/") if one]
    for pattern in sorted(patterns, key=specificity):
        if _matches(parse_pattern(pattern), segments):
            return pattern
    return None


def written_link(pattern: str) -> str:
    """Return the text to write for a link to a page: up to its first parameter."""
    fixed: list[str] = []
    for segment in parse_pattern(pattern):
        if segment.kind is not Kind.LITERAL:
            return "/" + "".join(f"{one}/" for one in fixed)
        fixed.append(segment.text)
    return "/" + "/".join(fixed)


def _matches(pattern: tuple[Segment, ...], segments: list[str]) -> bool:
    for index, expected in enumerate(pattern):
        if expected.kind is Kind.OPTIONAL_REST:
            return True
        if expected.kind is Kind.REST:
            return index < len(segments)
        if index >= len(segments):
            return False
        if expected.kind is Kind.LITERAL and segments[index] != expected.text:
            return False
    return len(segments) == len(pattern)
