"""The pages of the documentation as this folder's tests see them.

A fenced block whose info string has a second word is a file of that name:
```` ```jsx pages/index.fxl ````. The files of one page make one project; a block may
replace the file of an earlier one.
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
    text = document.read_text(encoding="utf-8")
    return [
        Block(found[1], found[2] or "", found[3], text.count("\n", 0, found.start()) + 2)
        for found in _FENCE.finditer(text)
    ]


def name(document: Path) -> str:
    return document.relative_to(ROOT).as_posix()


def anchors(document: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    prose = re.sub(r"^```.*?^```$", "", document.read_text("utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.+)$", prose, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
