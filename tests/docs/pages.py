"""The pages of the documentation as this folder's tests see them.

A fenced block whose info string has a second word is a file of that name:
```` ```jsx pages/index.fxl ````. The files of one page make one project; a block may
replace the file of an earlier one. A block ```` ```diff pages/index.fxl ```` changes it.
"""

from __future__ import annotations

import re
from pathlib import Path

import attrs

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@attrs.frozen
class Block:
    """One fenced block."""

    language: str
    file: str
    """The name of the file it is; "" for a fragment."""

    text: str
    line: int
    """1-based, of its first line of content."""


def documents() -> list[Path]:
    return sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])


def blocks(document: Path) -> list[Block]:
    """Return the blocks of a page in order; that of a change is the whole file after it."""
    text = document.read_text(encoding="utf-8")
    files: dict[str, tuple[str, str]] = {}
    result = []
    for found in _FENCE.finditer(text):
        language, file, code = found[1], found[2] or "", found[3]
        if language == "diff" and file:
            language, before = files[file]
            code = changed(before, code)
        files[file] = language, code
        result.append(Block(language, file, code, text.count("\n", 0, found.start()) + 2))
    return result


def changed(text: str, change: str) -> str:
    """Apply a change: hunks between lines ``@@``, each of which fits in one place only."""
    for hunk in re.split(r"^@@\n", change, flags=re.MULTILINE):
        lines = [line or " " for line in hunk.splitlines()]
        old = "".join(f"{line[1:]}\n" for line in lines if line[0] != "+")
        new = "".join(f"{line[1:]}\n" for line in lines if line[0] != "-")
        assert f"\n{text}".count(f"\n{old}") == 1, hunk
        text = f"\n{text}".replace(f"\n{old}", f"\n{new}")[1:]
    return text


def name(document: Path) -> str:
    return document.relative_to(ROOT).as_posix()


def anchors(document: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    prose = re.sub(r"^```.*?^```$", "", document.read_text("utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.+)$", prose, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
