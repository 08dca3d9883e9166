"""Links in Markdown of an app below a path: those that begin with a slash are its own.

Pure. In HTML it is the same (`fxtrio/js/client/view/base/`).
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"((?>(?:[ \t>]|[-+*][ \t]|\d{1,9}+[.)][ \t])*))(`{3,}+(?=[^`]*$)|~{3,}+)")
"""The start of a block of code, behind the marks of the list items and quotes that it is in."""

_MARGIN = re.compile(r"[ \t>]*+")
_TICKS = re.compile(r"(`+)")
_PATH = re.compile(r"(\]\(<?|^ {0,3}\[[^\]]{1,200}\]: <?)(/(?!/)[^\s)>]*)")


def with_base(path: str, base_url: str) -> str:
    """Return a path of the app with the base in front of it, unless it has it."""
    inside = re.split(r"[?#]", path, maxsplit=1)[0]
    below = inside == base_url or inside.startswith(base_url + "/")
    return path if below else base_url + path


def based_links(markdown: str, base_url: str) -> str:
    """Return Markdown whose links and images have the base; code stays as it is."""
    if not base_url:
        return markdown
    lines = []
    before = fence = ""
    for line in markdown.split("\n"):
        mark = _FENCE.match(line)
        if fence and _has_left(line, before):
            fence = ""
        if fence:
            if mark and mark[2].startswith(fence) and line.strip(" \t\r>") == mark[2]:
                fence = ""
        elif mark is not None:
            before, fence = mark[1], mark[2]
        else:
            line = _based(line, base_url)
        lines.append(line)
    return "\n".join(lines)


def _has_left(line: str, before: str) -> bool:
    """Return whether a line is outside of the quote or item that ``before``, a fence, stands in."""
    margin = _MARGIN.match(line)
    assert margin is not None  # it may be empty
    if margin[0].count(">") < before.count(">"):
        return True
    is_item = before.strip(" \t>") != ""
    is_blank = margin.end() == len(line.rstrip())
    return is_item and not is_blank and _width(margin[0]) < _width(before)


def _width(margin: str) -> int:
    return len(margin.expandtabs(4))


def _based(line: str, base_url: str) -> str:
    """Return a line with the base in the links of its text; odd parts are runs of backticks."""
    parts = _TICKS.split(line)
    last = {run: index for index, run in enumerate(parts) if index % 2}
    at = 0
    while at < len(parts):
        if at % 2 and last[parts[at]] > at:
            at = parts.index(parts[at], at + 1)
        elif at % 2 == 0:
            parts[at] = _PATH.sub(lambda found: found[1] + with_base(found[2], base_url), parts[at])
        at += 1
    return "".join(parts)
