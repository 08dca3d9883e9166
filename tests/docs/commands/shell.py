"""What a page shows for a shell: its blocks, their lines, and the commands of a line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import attrs

_SHELL = re.compile(r"^( *)```(?:sh|console)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_INNER = re.compile(r"\$\(([^()]*)\)")
_ROW = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
_HEAD = re.compile(r"^\| Command \|.*\n", re.MULTILINE)


@attrs.frozen
class ShellBlock:
    """One block of commands, or the table of commands of a page of the starter."""

    lines: tuple[str, ...]
    """The lines that are not empty: a continued one is one line, without its prompt."""

    line: int
    """1-based, where the block begins."""


def shell_blocks(page: Path) -> list[ShellBlock]:
    """Return the blocks of a page, in its order."""
    text = page.read_text("utf-8")
    found = [(match.start(), match[2]) for match in _SHELL.finditer(text)]
    for head in _HEAD.finditer(text) if "starter" in page.parts else ():
        table = text[head.end() :].partition("\n\n")[0]
        found.append((head.start(), "\n".join(_ROW.findall(table))))
    return [
        ShellBlock(tuple(filter(None, _lines(block))), text.count("\n", 0, start) + 1)
        for start, block in sorted(found)
    ]


def shell_lines(page: Path) -> Iterator[str]:
    """Yield the lines of all blocks of a page."""
    for block in shell_blocks(page):
        yield from block.lines


def _lines(block: str) -> Iterator[str]:
    for line in block.replace("\\\n", " ").splitlines():
        yield line.strip().removeprefix("$ ")


def commands(line: str) -> Iterator[list[str]]:
    """Yield the commands of a line of a shell, inner ones too, without assignments."""
    for inner in _INNER.findall(line):
        yield from commands(inner)
    lexer = shlex.shlex(_INNER.sub("X", line), posix=True, punctuation_chars="&|;<>")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if set(word) <= set("&|;"):
            while words and (words[0] == "export" or re.match(r"\w+=", words[0])):
                words = words[1:]
            if words:
                yield words
            words = []
        else:
            words.append(word)
