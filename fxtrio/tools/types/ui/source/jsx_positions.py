"""Places in a UI half: exports, brackets, elements and their attributes. Pure.

The scanner of the compiler walks over the text once; it knows strings, comments and JSX.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import attrs

from fxtrio.compile.source import SourceText, read_text
from fxtrio.compile.split.brackets import BracketKind
from fxtrio.compile.split.scanner import Scanner, Stop

_ATTRIBUTE = re.compile(
    r"""\s++(?:(?P<name>[A-Za-z_][\w:.-]*+)(?:\s*+=\s*+(?P<value>"[^"]*+"|'[^']*+'"""
    r"""|\{\s*+"[^"\n]*+"\s*+\}|\{\s*+'[^'\n]*+'\s*+\}|\{))?|(?P<spread>\{))"""
)
_NAME = re.compile(r"<\s*+[\w$.:-]*+(?:<[^>]*+>)?")
_MOST_AROUND = 200
"""Brackets and elements around an element that are looked at."""


@attrs.frozen
class Attribute:
    """An attribute of an element."""

    name: str
    value: str | None
    """Its text; None when it is not known: an expression."""

    offset: int
    value_offset: int
    """Where its text begins, behind the quote; that of the name without one."""


@attrs.frozen
class Element:
    """An opening tag."""

    name: str
    offset: int
    inside: tuple[int, ...]
    """Offsets of the elements around it, innermost last."""

    attributes: tuple[Attribute, ...]
    spread_offsets: tuple[int, ...] = ()
    """Offsets of the brackets around values that are spread."""

    @property
    def spreads(self) -> bool:
        """Whether there are attributes that cannot be seen here."""
        return bool(self.spread_offsets)

    def attribute(self, name: str) -> Attribute | None:
        """Return an attribute; None when the element does not have it."""
        return next((one for one in self.attributes if one.name == name), None)


@attrs.frozen(eq=False)
class UiPlaces:
    """What `read_places` has found."""

    source: SourceText
    exports: tuple[int, ...]
    """Offsets of the word ``export`` outside of brackets."""

    pairs: dict[int, int]
    """Offset of an opening bracket to that of its closing one."""

    elements: tuple[Element, ...]


def read_places(text: str) -> UiPlaces:
    """Read the UI half of a page file."""
    source = read_text(text, "")
    scanner = _PlaceScanner(source)
    stop: Stop | None = scanner.next_line()
    while stop is not None:
        stop = scanner.next_line()
    elements = tuple(
        Element(name, offset, inside, *_attributes(text, offset, scanner.pairs))
        for name, offset, inside in scanner.tags
    )
    return UiPlaces(source, tuple(scanner.exports), scanner.pairs, elements)


@attrs.define
class _PlaceScanner(Scanner):
    """Writes down what it passes."""

    pairs: dict[int, int] = attrs.field(init=False, factory=dict)
    tags: list[tuple[str, int, tuple[int, ...]]] = attrs.field(init=False, factory=list)

    def enter(self, kind: BracketKind, offset: int, name: str = "") -> None:
        """Open something."""
        if kind is BracketKind.TAG:
            inner = islice(reversed(self.stack), _MOST_AROUND)
            around = [one.offset for one in inner if one.kind is BracketKind.CHILDREN]
            self.tags.append((name, offset, tuple(reversed(around))))
        super().enter(kind, offset, name)

    def _close(self, bracket: str, offset: int) -> bool:
        if self.stack and self.stack[-1].kind.closer == bracket:
            self.pairs[self.stack[-1].offset] = offset
        return super()._close(bracket, offset)


def _attributes(
    text: str, offset: int, pairs: dict[int, int]
) -> tuple[tuple[Attribute, ...], tuple[int, ...]]:
    """Return the attributes of the tag at ``offset``, and where values are spread."""
    found = tuple(_found(text, offset, pairs))
    attributes = tuple(_attribute(one) for one in found if one["name"] is not None)
    return attributes, tuple(one.start("spread") for one in found if one["spread"])


def _attribute(found: re.Match[str]) -> Attribute:
    name, value = found["name"], found["value"]
    start = found.start("name")
    known = value is None or value[0] in "\"'" or value.endswith("}")
    inner = (value or "").strip("{} \t\n")[1:-1] if value is not None and known else None
    quote = found.start("value") + (value or "").find(inner) if inner else start
    return Attribute(name, inner, start, quote)


def _found(text: str, offset: int, pairs: dict[int, int]) -> Iterator[re.Match[str]]:
    name = _NAME.match(text, offset)
    at = name.end() if name is not None else offset
    while (found := _ATTRIBUTE.match(text, at)) is not None:
        yield found
        at = found.end()
        opened = found.start("value") if found["value"] == "{" else found.start("spread")
        if found["value"] == "{" or found["spread"]:
            if opened not in pairs:
                return
            at = pairs[opened] + 1
