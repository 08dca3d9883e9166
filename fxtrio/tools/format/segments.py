"""A page file as runs of lines of one language, and back. No I/O.

The half of a page is formatted as a whole, as it is compiled as a whole. Comments stand in it
for what lies between its runs, so that it can be cut there again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import attrs

from fxtrio.compile.source import SourceText
from fxtrio.compile.split.halves import Sections
from fxtrio.errors import Signal

Half = Literal["python", "ui"]
HALVES: tuple[Half, ...] = ("python", "ui")

_COMMENT = {"python": "# ", "ui": "// "}
_DEFINITION = re.compile(r"@|(?:async\s+)?def\b|class\b")
_MOST_BLANK = 2  # lines, and as many around definitions (pycodestyle E302, E305)


class BordersLost(Signal):
    """A formatter has moved or dropped the comments between the runs of a half.

    ``line`` is where a run begins that cannot be distinguished from the one before (1-based).
    """

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


@attrs.frozen
class Lines:
    """Lines of one half that stand together."""

    half: Half | None
    """None for a line ``# --- ui ---``."""

    text: str
    """Without blank lines at its ends, and without a line break behind the last line."""

    line: int
    """Its first line in the file (1-based)."""

    blank: int = 0
    """Blank lines in front of it (count)."""


@attrs.frozen
class WholeHalf:
    """The whole of a half, with a comment wherever the other half stands between."""

    text: str
    lines: tuple[int, ...]
    """Of each line of `text`, the line of the file that it comes from (1-based)."""


def runs_of(source: SourceText, sections: Sections) -> list[Lines]:
    """Return the runs of a page file, in their order; ``sections`` are its halves."""
    lines = source.text.split("\n")
    halves = zip(sections.python.split("\n"), sections.ui.split("\n"), strict=True)
    spans: list[tuple[Half | None, int, int]] = []  # the half, its first line, the line behind it
    for number, (python, ui) in enumerate(halves):
        if not lines[number].strip():
            continue  # part of a run when the same half goes on behind it
        half: Half | None = "python" if python.strip() else "ui" if ui.strip() else None
        if spans and half is not None and spans[-1][0] == half:
            spans[-1] = half, spans[-1][1], number + 1
        else:
            spans.append((half, number, number + 1))
    ends = [0, *(end for _, _, end in spans)]
    return [
        Lines(half, "\n".join(lines[start:end]), start + 1, start - before)
        for (half, start, end), before in zip(spans, ends, strict=False)
    ]


def join(runs: Sequence[Lines], half: Half) -> WholeHalf:
    """Return the half of ``runs``; an empty text when there is none."""
    wanted = [run for run in runs if run.half == half]
    mark = _mark(runs, half)
    texts: list[str] = []
    lines: list[int] = []
    for number, run in enumerate(wanted):
        if number:
            texts.append(f"{mark}{number}")
            lines.append(run.line)
        texts.append(run.text)
        lines += range(run.line, run.line + run.text.count("\n") + 1)
    return WholeHalf("".join(f"{text}\n" for text in texts), tuple(lines))


def cut(runs: Sequence[Lines], half: Half, formatted: str) -> list[Lines]:
    """Return ``runs`` with the texts of a half as they are in ``formatted``.

    Raises BordersLost when they cannot be found.
    """
    mark = _mark(runs, half)
    wanted = [run for run in runs if run.half == half]
    pieces: list[list[str]] = [[]]
    for line in formatted.split("\n"):
        if len(pieces) < len(wanted) and line == f"{mark}{len(pieces)}":
            pieces.append([])
        else:
            pieces[-1].append(line)
    if len(pieces) < len(wanted) or any(mark in line for piece in pieces for line in piece):
        raise BordersLost(wanted[min(len(pieces), len(wanted) - 1)].line)
    texts = iter("\n".join(piece).strip("\n") for piece in pieces)
    replaced = [attrs.evolve(run, text=next(texts)) if run.half == half else run for run in runs]
    return [run for run in replaced if run.text]


def assemble(runs: Sequence[Lines]) -> str:
    """Return the text of a page file, with one or two blank lines where the language changes."""
    text = ""
    runs = _merged(runs)
    for before, run in zip([None, *runs], runs, strict=False):
        if before is not None:
            text += "\n" * (1 + _blank_lines(before, run))
        text += run.text
    return f"{text}\n" if text else ""


def _merged(runs: Sequence[Lines]) -> list[Lines]:
    """Return ``runs`` with those as one between which nothing is left of the other half.

    As in the formatted file: what stands before such a run decides on the blank lines behind it.
    """
    merged: list[Lines] = []
    for run in runs:
        if merged and run.half is not None and merged[-1].half == run.half:
            before = merged.pop()
            gap = "\n" * (1 + _blank_lines(before, run))
            run = attrs.evolve(before, text=f"{before.text}{gap}{run.text}")
        merged.append(run)
    return merged


def _blank_lines(before: Lines, run: Lines) -> int:
    """Return how many blank lines stand between two runs."""
    first = run.text.partition("\n")[0]
    if before.half == "python" and _ends_in_definition(before.text):
        return _MOST_BLANK
    if run.half == "python" and _DEFINITION.match(first):
        return _MOST_BLANK
    last = before.text.rpartition("\n")[2]
    least = 0 if first.startswith("#") or last.startswith("#") else 1
    return min(max(run.blank, least), _MOST_BLANK)


def _ends_in_definition(python: str) -> bool:
    """Whether the last statement of Python code that is formatted is a function or a class."""
    last = [line for line in python.split("\n") if line[:1] not in ("", " ", "\t", ")", "#")]
    return bool(last) and _DEFINITION.match(last[-1]) is not None


def _mark(runs: Sequence[Lines], half: Half) -> str:
    """Return the beginning of a comment that nothing else in the half begins with."""
    token = "fx-border-"
    while any(token in run.text for run in runs):
        token = f"{token}-"
    return _COMMENT[half] + token
