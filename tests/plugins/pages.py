"""Pages of the documentation as projects: their code blocks, written to files and run."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def write_project(page: str, root: Path) -> dict[str, str]:
    """Write the blocks of ``docs/<page>`` that name a file below ``root``.

    Return the others, by language.
    """
    rest: dict[str, str] = {}
    for language, name, text in BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
        if not name:
            rest[language] = text
            continue
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return rest


def rows(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading, without its head."""
    text = (DOCS / page).read_text(encoding="utf-8").partition(f"## {heading}\n")[2]
    table = re.search(r"(?:^\|.*\|$\n?)+", text, re.MULTILINE)
    assert table is not None, heading
    lines = table[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
