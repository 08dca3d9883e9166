"""Links in Markdown of an app below a path: those that begin with a slash are its own.

Pure. In HTML it is the same (`fxtrio/js/client/view/base/`).
"""

from __future__ import annotations

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
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
    fence = ""
    for line in markdown.split("\n"):
        mark = _FENCE.match(line)
        if not fence and mark is None:
            line = _based(line, base_url)
        elif mark is not None and not fence:
            fence = mark[1]
        elif mark is not None and mark[1].startswith(fence) and mark[1] == line.strip():
            fence = ""
        lines.append(line)
    return "\n".join(lines)


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
