"""Places in a text as editors count them: lines and UTF-16 units, both from 0. Pure.

pygls has the same, and takes a form feed for the end of a line, as no editor does.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any

import attrs

from fxtrio.lsp.rpc import INVALID_PARAMS, RequestRefused

_LINE_END = re.compile(r"\r\n|\n|\r")

Position = dict[str, int]
"""``{"line": …, "character": …}``."""

Range = dict[str, Position]
"""``{"start": …, "end": …}``; the end is behind the last character."""


def units(text: str) -> int:
    """Return how many UTF-16 units ``text`` has."""
    return len(text) + sum(char > "\uffff" for char in text)


@attrs.frozen(eq=False)
class Places:
    """The lines of one text."""

    text: str
    _starts: list[int]

    @property
    def count(self) -> int:
        """How many lines there are; the one behind the last line end counts."""
        return len(self._starts)

    def offset(self, position: Position) -> int:
        """Return the offset of a position; one behind the end of its line is the line's end.

        Raises RequestRefused for what is no position.
        """
        line, character = _two_numbers(position)
        if line >= len(self._starts):
            return len(self.text)
        start = self._starts[line]
        content = self.line(line)
        if content.isascii():
            return start + min(character, len(content))
        for index, char in enumerate(content):
            if character <= 0:
                return start + index
            character -= 2 if char > "\uffff" else 1
        return start + len(content)

    def position(self, offset: int) -> Position:
        """Return the position of an offset."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._starts, offset) - 1
        return {"line": line, "character": units(self.text[self._starts[line] : offset])}

    def range(self, start: int, end: int) -> Range:
        """Return the range between two offsets."""
        return {"start": self.position(start), "end": self.position(end)}

    def line(self, number: int) -> str:
        """Return a line (0-based) without its end; "" when there is none."""
        if not 0 <= number < len(self._starts):
            return ""
        after = number + 1
        end = self._starts[after] if after < len(self._starts) else len(self.text)
        return self.text[self._starts[number] : end].rstrip("\r\n")


def places_of(text: str) -> Places:
    """Return the places of ``text``."""
    return Places(text, [0, *(found.end() for found in _LINE_END.finditer(text))])


def edited(text: str, changes: list[dict[str, Any]]) -> str:
    """Return ``text`` after the changes of one ``textDocument/didChange``, made in their order.

    A change without a range is the whole text. Raises RequestRefused for what is no change.
    """
    for change in changes:
        new = change.get("text") if isinstance(change, dict) else None
        if not isinstance(new, str):
            raise RequestRefused(INVALID_PARAMS, "a change has no text")
        place = change.get("range")
        if place is None:
            text = new
            continue
        places = places_of(text)
        start, end = places.offset(place.get("start")), places.offset(place.get("end"))
        text = text[:start] + new + text[max(start, end) :]
    return text


def position_in(params: Any) -> Position:
    """Return the position that a request is about. Raises RequestRefused without one."""
    line, character = _two_numbers(params.get("position") if isinstance(params, dict) else None)
    return {"line": line, "character": character}


def _two_numbers(position: object) -> tuple[int, int]:
    if isinstance(position, dict):
        line, character = position.get("line"), position.get("character")
        if isinstance(line, int) and isinstance(character, int) and line >= 0:
            return line, character
    raise RequestRefused(INVALID_PARAMS, f"{position!r} is no position")
