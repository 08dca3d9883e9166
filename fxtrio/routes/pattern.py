"""URL patterns: names of files and folders → segments, and their order. Pure.

A pattern is written like the files it comes from, without groups: ``/blog/[id]``.
"""

from __future__ import annotations

import re
import unicodedata
from enum import IntEnum

import msgspec

_PARAM = re.compile(r"(\[\[\.\.\.|\[\.\.\.|\[)([A-Za-z_][A-Za-z0-9_-]*)(\]\]|\])")
_REJECTED = re.compile(r"[\x00-\x1f\x7f\[\]()%?#\\/]")


class Kind(IntEnum):
    """What a segment matches; lower is more specific."""

    LITERAL = 0
    """Exactly its text."""

    PARAM = 1
    """``[x]``: any one segment."""

    REST = 2
    """``[...x]``: one or more segments, to the end."""

    OPTIONAL_REST = 3
    """``[[...x]]``: zero or more segments, to the end."""


class Segment(msgspec.Struct, frozen=True):
    """One part of a pattern between slashes."""

    kind: Kind

    text: str
    """The literal text (Unicode NFC), or the name of the parameter."""

    def __str__(self) -> str:
        """Return the segment as it is written in a pattern."""
        opening = ("", "[", "[...", "[[...")[self.kind]
        closing = ("", "]", "]", "]]")[self.kind]
        return f"{opening}{self.text}{closing}"


def parse_segment(name: str) -> Segment:
    """Return the segment that the file or folder ``name`` (no extension) stands for.

    Raises ValueError with a cause and a remedy when it stands for none.
    """
    found = _PARAM.fullmatch(name) if name[:1] == "[" else None
    if found:
        opening, text, closing = found.groups()
        if (opening, closing) == ("[", "]"):
            return Segment(Kind.PARAM, text)
        if (opening, closing) == ("[...", "]"):
            return Segment(Kind.REST, text)
        if (opening, closing) == ("[[...", "]]"):
            return Segment(Kind.OPTIONAL_REST, text)
    if "[" in name or "]" in name:
        raise ValueError(
            "is not a parameter. Write [name], [...name] or [[...name]], alone in its segment, "
            "with a name of ASCII letters, digits, '_' and '-'"
        )
    rejected = _REJECTED.search(name)
    if rejected or not name:
        invalid = repr(rejected[0]) if rejected else "nothing"
        raise ValueError(f"holds {invalid}, which a URL segment cannot contain. Rename it")
    text = name if name.isascii() else unicodedata.normalize("NFC", name)
    return Segment(Kind.LITERAL, text)


def check_segments(segments: tuple[Segment, ...]) -> None:
    """Raise ValueError when the segments cannot make one pattern."""
    for segment in segments[:-1]:
        if segment.kind >= Kind.REST:
            raise ValueError(f"has {segment} before the end. It takes all that follows: move it")
    names = [segment.text for segment in segments if segment.kind is not Kind.LITERAL]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"has two parameters named {name!r}. Rename one")


def parse_pattern(pattern: str) -> tuple[Segment, ...]:
    """Return the segments of ``pattern``; none for ``/``. Raises ValueError."""
    if not pattern.startswith("/"):
        raise ValueError(f"{pattern!r} does not begin with a slash")
    if pattern == "/":
        return ()
    segments = tuple(parse_segment(name) for name in pattern[1:].split("/"))
    if "[" in pattern:
        check_segments(segments)
    return segments


def join_pattern(segments: tuple[Segment, ...]) -> str:
    """Return the pattern of the segments."""
    return "/" + "/".join(map(str, segments))


def specificity(pattern: str) -> tuple[tuple[int, ...], str]:
    """Return the sort key of ``pattern``: of all that match a path, the least answers."""
    return tuple(segment.kind for segment in parse_pattern(pattern)), pattern


def shape(segments: tuple[Segment, ...]) -> tuple[tuple[int, str], ...]:
    """Return what two patterns share exactly when they match the same paths."""
    return tuple(
        (segment.kind, segment.text if segment.kind is Kind.LITERAL else "") for segment in segments
    )
