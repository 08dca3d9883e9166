"""Places in a text as editors count them: lines and UTF-16 units, both from 0. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right

import attrs
from lsprotocol import types

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
        """Return the offset of a position; one behind the end of its line is the line's end."""
        line, character = position["line"], position["character"]
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


def edited(text: str, range_: Range, new: str) -> str:
    """Return ``text`` with ``new`` in the place of a range."""
    places = places_of(text)
    start, end = places.offset(range_["start"]), places.offset(range_["end"])
    return text[:start] + new + text[max(start, end) :]


def position_in(position: types.Position) -> Position:
    """Return a position of the protocol."""
    return {"line": position.line, "character": position.character}
