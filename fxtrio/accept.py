"""The elements of `Accept` and `Accept-Encoding`, with their weights. Pure.

Source: RFC 9110, sections 5.6.6 (parameters) and 12.4.2 (weights).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_NAME = re.compile(rf"{_TOKEN}(?:/{_TOKEN})?")
_PARAMETER = re.compile(rf'[ \t]*+;[ \t]*+(?:({_TOKEN})=({_TOKEN}|"(?:[^"\\]|\\.)*+"))?')
_WEIGHT = re.compile(r"0(?:\.\d{0,3})?|1(?:\.0{0,3})?")
_TO_NEXT = re.compile(r'(?>(?:[^,"]++|"(?:[^"\\]|\\.)*+(?:"|\\?\Z))*)')


class Element(msgspec.Struct, frozen=True):
    """One element of the list that such a header is. Names and values are in lower case."""

    name: str
    """A type with its subtype, or a token."""

    weight: float | None
    """From 0 (rejected) to 1; None where ``q`` has no such value."""

    parameters: tuple[tuple[str, str], ...]
    """The others, in order; without the quotes of their values."""

    whole: bool
    """Whether all of it could be read."""


def read_elements(header: str) -> Iterator[Element]:
    """Yield the elements of ``header`` in order; what has no name is left out."""
    position = 0
    while position < len(header):
        stop = _TO_NEXT.match(header, position).end()  # type: ignore[union-attr]  # matches ""
        text = header[position:stop].strip(" \t").lower()
        name = _NAME.match(text)
        if name is not None:
            yield _read_parameters(name[0], text, name.end())
        position = stop + 1


def _read_parameters(name: str, text: str, position: int) -> Element:
    weight: float | None = 1.0
    parameters = []
    while position < len(text) and (found := _PARAMETER.match(text, position)) is not None:
        position = found.end()
        if found[1] == "q":
            weight = float(found[2]) if _WEIGHT.fullmatch(found[2]) else None
        elif found[1]:
            parameters.append((found[1], found[2].strip('"')))
    return Element(name, weight, tuple(parameters), position == len(text))
