"""Marks that a merge has left in a file. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText

_MARK = re.compile(r"(?m)^(?:<{7}(?: (?P<ours>[^\n]*+))?|={7}|>{7}(?: (?P<theirs>[^\n]*+))?)$")


def conflicts_in(source: SourceText) -> list[Problem]:
    """Return a problem for each conflict of a merge that stands in a file.

    The same lines may stand in a text that quotes one: ask for files that do not parse.
    """
    return [
        source.syntax_problem(
            line,
            1,
            f"a merge conflict is not resolved: '{ours}' up to line {middle}, then '{theirs}' "
            f"up to line {end}",
            "Keep one side, or join them, and remove the three marks",
        )
        for line, ours, middle, theirs, end in _conflicts(source)
    ]


def _conflicts(source: SourceText) -> Iterator[tuple[int, str, int, str, int]]:
    """Yield the lines of the marks of each conflict, and what its sides are called."""
    begun: re.Match[str] | None = None
    middle = 0
    for found in _MARK.finditer(source.text):
        line = source.line_of(found.start())
        kind = found.group()[0]
        if kind == "<":
            begun, middle = found, 0
        elif kind == "=" and begun is not None:
            middle = line
        elif kind == ">" and begun is not None and middle:
            sides = (begun["ours"] or "ours", found["theirs"] or "theirs")
            yield source.line_of(begun.start()), sides[0], middle, sides[1], line
            begun = None
