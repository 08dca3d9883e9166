"""Statements of UI code that have been read before: an edit of a long page changes one of them.

Reading takes 30 microseconds a line, and an editor and `fx dev` have a page divided after each
edit. What `Scanner` makes of a statement follows from its text and from what stands in front of
it, so a statement that ends where one mostly does is read by itself, and that is remembered.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from fxtrio.compile.source import read_text
from fxtrio.compile.split.scanner import Scanner, Stop

_CLOSES = re.compile(r"\n[)}\]]++;?+[ \t]*+\n(?:[ \t]*+\n)*+")
"""The last line of most statements of several lines, with the blank lines behind it."""

_LONGEST = 16_000  # characters
_LONGEST_LINE = 200  # of closing brackets
_MOST = 256  # statements: two thousand lines of components, before and after an edit


class _Known(NamedTuple):
    """What `Scanner` is left with behind a statement."""

    exports: tuple[int, ...]
    operand: bool
    last: str
    within_expression: bool


class StatementReader:
    """Reads the statements of one text with its ``scanner``, or knows them."""

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner
        self._end = 0
        """The first end of a statement behind `_looked`, as `_CLOSES` finds it; 0 for none."""

        self._is_useless = False
        """Whether `_end` is not where a statement ends: it is tried once, in linear time."""

        self._looked = 0
        """Where to look for the next one. It only moves on, which keeps the time linear."""

    def next_line(self) -> Stop | None:
        """Do what `Scanner.next_line` does at a line start outside of brackets."""
        scanner, text = self._scanner, self._scanner.source.text
        offset = scanner.offset
        first = text[offset : max(text.find("\n", offset), offset)].strip()
        opens = first.endswith(("(", "{", "[")) and not first.startswith("//")
        end = self._end_behind(offset) if opens else None
        known = None if end is None else _read(text[offset:end], scanner.operand, scanner.last)
        if end is None or known is None:
            self._is_useless = self._is_useless or end is not None
            return scanner.next_line()
        scanner.exports += [offset + export for export in known.exports]
        scanner.offset, scanner.operand, scanner.last = end, known.operand, known.last
        return Stop(end, known.within_expression)

    def _end_behind(self, offset: int) -> int | None:
        if self._end <= offset:
            limit = offset + _LONGEST
            self._looked = max(self._looked, offset)
            found = _CLOSES.search(self._scanner.source.text, self._looked, limit)
            if found is None:
                self._looked = max(self._looked, limit - _LONGEST_LINE)
                return None
            self._end, self._looked = found.end(), found.start() + 1
            line_end = self._scanner.source.text.find("\n", self._end)
            # A blank line behind the limit is not part of what was found, but of the statement.
            self._is_useless = line_end >= 0 and not found.string[self._end : line_end].strip(" \t")
        return None if self._is_useless or self._end - offset > _LONGEST else self._end


@lru_cache(maxsize=_MOST)
def _read(text: str, operand: bool, last: str) -> _Known | None:
    """Return what comes of a statement; None where its text alone does not say it."""
    scanner = Scanner(read_text(text, ""))
    scanner.operand, scanner.last = operand, last
    stop = scanner.next_line()
    is_whole = stop is not None and stop.offset == len(text) and not scanner.stack
    if not is_whole or stop is None or scanner.problems or scanner.looked_beyond:
        return None
    return _Known(tuple(scanner.exports), scanner.operand, scanner.last, stop.within_expression)
