r"""Backslashes that Markdown would not miss are taken out of converted text.

The library escapes every character that means something somewhere: `v0\.9\.4`,
`a \-\> b`. A backslash is needed only where CommonMark, or a table, a strikethrough
or a task of GitHub's dialect, would otherwise act; when in doubt it stays. Pure.

Visitors write the text, so the work is linear in it: what an escape asks of its line,
its block or its neighbours is found out once for all of them, and no pattern goes over
the same characters again for each place where it may begin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

_FENCE = re.compile(
    r"^(?P<indent>[ >]*+(?>(?:(?:[-*+]|\d{1,9}+[.)]) ++)*))(?P<fence>`{3,}+|~{3,}+)[^\n]*+\n"
    r".*?(?:^[ >]*+(?P=fence)[ ]*+$|\Z)",
    re.MULTILINE | re.DOTALL,
)
"""A block of code, in which a backslash is a backslash."""

_TOKEN = re.compile(
    r"(?P<code>(`++).*?(?<!`)\2(?!`))"
    r"|(?P<ticks>`+)"
    r"|(?P<target>\]\((?:<(?:\\.|[^<>\\\n])*+>|(?>(?:\\.|(?!\]\()[^()\\\s]|\([^()]*+\))*))"
    r'(?:\s++"(?:\\.|[^"\\])*+")?\))'
    r"|(?P<auto><[^<>\n]*+>)"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<bracket>[\[\]])",
    re.DOTALL,
)
_START = re.compile(r"(?>(?:[ >]|(?:[-*+]|\d{1,9}+[.)]) )*)")
"""What may stand in a line before its own text: quotes and items of lists."""

_NUMBER = 9
"""Digits of the longest number of a list."""

_HEADING = re.compile(r"#{1,6} ")
_TAG = re.compile(r"\\*+[A-Za-z/!?]")
_LINK = re.compile(r"\\*+[(\[:]")
_ENTITY = re.compile(r"\\*+(?:#\\*+[xX]?(?:\\*+[0-9a-fA-F])++|(?:\\*+\w)++)\\*+;")


def drop_needless(markdown: str) -> str:
    """Return ``markdown`` without the backslashes that change nothing.

    It is what the library makes with all its escapes: text has them, code has none.
    """
    if "\\" not in markdown:
        return markdown
    parts: list[str] = []
    end = 0
    for fence in _FENCE.finditer(markdown):
        parts += map(_shorten, _blocks(markdown[end : fence.start()]))
        parts.append(fence[0])
        end = fence.end()
    parts += map(_shorten, _blocks(markdown[end:]))
    return "".join(parts)


def _blocks(text: str) -> Iterator[str]:
    """Split ``text`` after blank lines: no inline mark reaches beyond them."""
    yield from re.split(r"(?<=\n)(?=[ >]*+\n)", text)


def _shorten(block: str) -> str:
    if "\\" not in block:
        return block
    escapes: list[re.Match[str]] = []
    linked = False
    for token in _TOKEN.finditer(block):
        if token["escaped"]:
            escapes.append(token)
        elif token["ticks"]:
            return block  # code without an end: where text begins again is unknown
        elif token["bracket"] or token["target"]:
            linked = True
    needs = _Needs(block, escapes, linked=linked)
    parts: list[str] = []
    end = 0
    for index, token in enumerate(escapes):
        parts.append(block[end : token.start()])
        parts.append(token[0] if needs.escape(index) else token["escaped"])
        end = token.end()
    parts.append(block[end:])
    return "".join(parts)


class _Line:
    """What the escapes of one line have in common."""

    def __init__(self, block: str, position: int) -> None:
        start = block.rfind("\n", 0, position) + 1
        end = block.find("\n", position)
        self._text = block[start : end if end != -1 else len(block)]
        self.start = start
        self.end = start + len(self._text)
        self.own = start + _START.match(self._text).end()  # type: ignore[union-attr]  # matches ""
        """Where its own text begins."""

    @cached_property
    def rules_only(self) -> bool:
        """Whether it could be the row below a table's head, or underline a heading."""
        return not self._text.replace("\\", "").strip("-|: ")

    @cached_property
    def closing(self) -> int:
        """Where a heading may be closed by further `#`; its end and more in other lines."""
        if _HEADING.match(self._text, self.own - self.start) is None:
            return self.end + 1
        return self.start + len(self._text.rstrip("\\# "))


class _Needs:
    """Tells which escapes of one block Markdown would miss."""

    def __init__(self, block: str, escapes: Sequence[re.Match[str]], *, linked: bool) -> None:
        self._block = block
        self._escapes = escapes
        self._lines = self._read_lines()
        self._runs = self._read_runs()
        self._counts: dict[str, int] = {}
        self._tag = False
        self._brackets = linked or any(map(self._links, range(len(escapes))))

    def escape(self, index: int) -> bool:
        """Return whether an escape is needed. Called for each in order."""
        token, line = self._escapes[index], self._lines[index]
        char, end, block = token["escaped"], token.end(), self._block
        starts = token.start() == line.own
        if char in ".)":
            number = block[line.own : min(token.start(), line.own + _NUMBER + 1)]
            return self._ends_word(end) and len(number) <= _NUMBER and number.isdecimal()
        if char == "-":
            return (starts and (self._ends_word(end) or block.startswith("\\-", end))) or (
                line.rules_only
            )
        if char == "+":
            return starts and self._ends_word(end)
        if char == "=":
            return starts
        if char == "#":
            return starts or end >= line.closing
        if char in "*_":
            return starts or self._emphasises(index)
        if char in "~`":
            return self._count(char) > 1
        if char in "[]":
            return self._brackets
        if char == "<":
            self._tag = self._tag or _TAG.match(block, end) is not None
            return self._tag
        if char == ">":
            return starts or self._tag
        if char == "&":
            return _ENTITY.match(block, end) is not None
        if char == "\\":
            return not block[end : end + 1].isalnum()
        return True

    def _read_lines(self) -> list[_Line]:
        """Return the line of each escape."""
        lines: list[_Line] = []
        for token in self._escapes:
            known = lines and token.start() < lines[-1].end
            lines.append(lines[-1] if known else _Line(self._block, token.start()))
        return lines

    def _read_runs(self) -> list[tuple[int, int]]:
        """Return for each escape where the run of equal ones begins and ends that it is in."""
        runs: list[tuple[int, int]] = []
        first = 0
        for index, token in enumerate(self._escapes):
            after = self._escapes[index + 1] if index + 1 < len(self._escapes) else None
            if after is None or (after.start(), after[0]) != (token.end(), token[0]):
                run = (self._escapes[first].start(), token.end())
                runs += [run] * (index + 1 - first)
                first = index + 1
        return runs

    def _emphasises(self, index: int) -> bool:
        """Tell whether a `*` or `_` could begin or end an emphasis."""
        char = self._escapes[index]["escaped"]
        if self._count(char) == 1:
            return False
        start, end = self._runs[index]
        before, after = self._block[start - 1 : start], self._block[end : end + 1]
        if before.isspace() and (after.isspace() or not after):
            return False
        return char == "*" or not (before.isalnum() and after.isalnum())

    def _links(self, index: int) -> bool:
        """Tell whether a bracket could belong to a link, a definition, a footnote or a task."""
        token = self._escapes[index]
        if token["escaped"] == "]":
            return _LINK.match(self._block, token.end()) is not None
        return token["escaped"] == "[" and token.start() == self._lines[index].own

    def _count(self, char: str) -> int:
        """Return how often the block has ``char``."""
        if char not in self._counts:
            self._counts[char] = self._block.count(char)
        return self._counts[char]

    def _ends_word(self, end: int) -> bool:
        return not self._block[end : end + 1].strip()
