"""Code of other files in fenced blocks: whole, by lines or by a region. Pure.

```` ```python file="examples/load.py" region="load" ```` shows what is between the lines
``# region load`` and ``# endregion`` of the file, so that examples are code that tests run.
"""

from __future__ import annotations

import re
from textwrap import dedent

import attrs

from fxtrio.errors import Signal

_SETTING = re.compile(r'\b(\w++)="([^"\n]*+)"')
_LINES = re.compile(r"(\d{1,7})(?:-(\d{1,7}))?")
_MARK = re.compile(r"^[ \t]*+(?://|#|--|/\*|<!--|\{/\*)[ \t]*+#?(end)?region\b[ \t]*+([^\n]*+)$")
_ENDINGS = ("*/}", "*/", "-->")
"""What ends a comment in its line."""


class NotIncluded(Signal):
    """A fenced block asks for code that is not there. ``cause`` and ``remedy`` say why."""

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__(cause)
        self.cause = cause
        self.remedy = remedy


def no_file(named: str) -> NotIncluded:
    """Return the error for a link to ``named``, relative to the project folder."""
    return NotIncluded("leads to no file", f"Add {named}, or correct the path")


@attrs.frozen
class Fence:
    """The first line of a fenced block."""

    language: str
    file: str = ""
    """Relative to the project folder; "" for a block with its own code."""

    region: str = ""
    lines: str = ""


def read_fence(info: str) -> Fence:
    """Return what the text behind the backticks says. Unknown settings are left to others."""
    language = info.split(maxsplit=1)[0] if info.strip() else ""
    known = {"file": "", "region": "", "lines": ""}
    for name, value in _SETTING.findall(info):
        if name in known:
            known[name] = value
    return Fence("" if "=" in language else language, **known)


def cut(text: str, fence: Fence) -> str:
    """Return the part of a file's text that a block asks for. Raises NotIncluded."""
    lines = text.splitlines()
    if fence.region:
        lines = _region(lines, fence)
    elif fence.lines:
        found = _LINES.fullmatch(fence.lines)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= first <= last <= len(lines):
            cause = f"{fence.file} has no lines {fence.lines!r}"
            raise NotIncluded(cause, f"Write 'first-last', up to {len(lines)}")
        lines = lines[first - 1 : last]
    visible = [line for line in lines if _MARK.match(line) is None]
    return dedent("\n".join(visible)).strip("\n") + "\n"


def _region(lines: list[str], fence: Fence) -> list[str]:
    """Return the lines of a region, with those of regions in it."""
    names: list[str] = []
    started = None
    for number, line in enumerate(lines):
        mark = _MARK.match(line)
        if mark is None:
            continue
        if mark[1] is None:
            name = mark[2].rstrip()
            for ending in _ENDINGS:
                name = name.removesuffix(ending).rstrip()
            names.append(name)
            if name == fence.region and started is None:
                started, depth = number + 1, len(names)
        elif names:
            if started is not None and len(names) == depth:
                return lines[started:number]
            names.pop()
    cause = f"{fence.file} has no region {fence.region!r}"
    if started is not None:
        cause = f"the region {fence.region!r} of {fence.file} has no end"
    raise NotIncluded(cause, f"Write '# region {fence.region}' and '# endregion' around the code")
