r"""Backslashes that Markdown would not miss are taken out of converted text.

The library escapes every character that means something somewhere: `v0\.9\.4`,
`a \-\> b`. A backslash is needed only where CommonMark, or a table, a strikethrough
or a task of GitHub's dialect, would otherwise act; when in doubt it stays. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(
    r"^(?P<indent>[ >]*(?:(?:[-*+]|\d{1,9}[.)]) +)*)(?P<fence>`{3,}|~{3,})[^\n]*\n"
    r".*?(?:^[ >]*(?P=fence)[ ]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
"""A block of code, in which a backslash is a backslash."""

_TOKEN = re.compile(
    r"(?P<code>(`+)(?!`).*?(?<!`)\2(?!`))"
    r"|(?P<ticks>`+)"
    r'|(?P<target>\]\((?:<[^>\n]*>|(?:\\.|[^()\\\s]|\([^()]*\))*)(?:\s+"(?:\\.|[^"\\])*")?\))'
    r"|(?P<auto><[^>\n]*>)"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<bracket>[\[\]])",
    re.DOTALL,
)
_CONTAINERS = r"(?:[ >]|(?:[-*+]|\d{1,9}[.)]) )*"
"""What may stand in a line before its own text: quotes and items of lists."""

_START = re.compile(_CONTAINERS)
_NUMBER = re.compile(_CONTAINERS + r"\d{1,9}")
_ENTITY = re.compile(r"&(?:#[xX]?[0-9a-fA-F]+|\w+);")
_HEADING = re.compile(_CONTAINERS + r"#{1,6} ")


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
    yield from re.split(r"(?<=\n)(?=[ >]*\n)", text)


def _shorten(block: str) -> str:
    if "\\" not in block:
        return block
    tokens = list(_TOKEN.finditer(block))
    if any(token["ticks"] for token in tokens):
        return block  # code without an end: nobody can tell what is text
    escapes = [token for token in tokens if token["escaped"]]
    linked = any(token["bracket"] or token["target"] for token in tokens)
    needs = _Needs(block, brackets=linked or any(_links(block, escape) for escape in escapes))
    parts: list[str] = []
    end = 0
    for token in escapes:
        parts.append(block[end : token.start()])
        parts.append(token[0] if needs.escape(token) else token["escaped"])
        end = token.end()
    parts.append(block[end:])
    return "".join(parts)


class _Needs:
    """Tells which escapes of one block Markdown would miss."""

    def __init__(self, block: str, *, brackets: bool) -> None:
        self._block = block
        self._brackets = brackets
        self._tag = False

    def escape(self, token: re.Match[str]) -> bool:
        """Tell whether an escape is needed. Asked for each in order."""
        char = token["escaped"]
        block = self._block
        before = block[block.rfind("\n", 0, token.start()) + 1 : token.start()]
        after = block[token.end() :].partition("\n")[0]
        starts = _START.fullmatch(before) is not None
        if char in ".)":
            return _ends_word(after) and _NUMBER.fullmatch(before) is not None
        if char == "-":
            line = (before + char + after).replace("\\", "")
            return (starts and (_ends_word(after) or after[:2] == "\\-")) or not line.strip("-|: ")
        if char == "+":
            return starts and _ends_word(after)
        if char == "=":
            return starts
        if char == "#":
            closes = _HEADING.match(before) is not None and not after.replace("\\", "").strip("# ")
            return starts or closes
        if char in "*_":
            return starts or self._emphasises(token)
        if char in "~`":
            return block.count(char) > 1
        if char in "[]":
            return self._brackets
        if char == "<":
            self._tag = self._tag or re.match(r"[A-Za-z/!?]", after.lstrip("\\")) is not None
            return self._tag
        if char == ">":
            return starts or self._tag
        if char == "&":
            return _ENTITY.match("&" + after.replace("\\", "")) is not None
        if char == "\\":
            return not after[:1].isalnum()
        return True

    def _emphasises(self, token: re.Match[str]) -> bool:
        """Tell whether a `*` or `_` could begin or end an emphasis."""
        block, char = self._block, token["escaped"]
        if block.count(char) == 1:
            return False
        start, end = token.span()
        while block[start - 2 : start] == f"\\{char}":
            start -= 2
        while block[end : end + 2] == f"\\{char}":
            end += 2
        before, after = block[start - 1 : start], block[end : end + 1]
        if before.isspace() and (after.isspace() or not after):
            return False
        return char == "*" or not (before.isalnum() and after.isalnum())


def _links(block: str, escape: re.Match[str]) -> bool:
    """Tell whether a bracket could belong to a link, a definition, a footnote or a task."""
    if escape["escaped"] == "]":
        return block[escape.end() :].lstrip("\\")[:1] in {"(", "[", ":"}
    line = block[block.rfind("\n", 0, escape.start()) + 1 : escape.start()]
    return escape["escaped"] == "[" and _START.fullmatch(line) is not None


def _ends_word(after: str) -> bool:
    return not after or after[0].isspace()
