"""Print all pages of examples, docs and starters as JSON, with the half that each line is in."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from fxtrio.compile.split.halves import split

_FENCE = re.compile(r"(?ms)^```(?:fxl|python|jsx|tsx)[^\n]*\n(.*?)^```")


def pages(root: Path) -> dict[str, str]:
    """Return the text of all whole pages, by name."""
    found = {}
    for folder in ("examples", "fxtrio/starter", "benchmarks"):
        for file in sorted((root / folder).rglob("*.fxl")):
            if ".fx" not in file.parts and "node_modules" not in file.parts:
                found[file.relative_to(root).as_posix()] = file.read_text("utf-8")
    for file in sorted((root / "docs").rglob("*.md")):
        for number, fence in enumerate(_FENCE.finditer(file.read_text("utf-8")), 1):
            if "export default" in fence[1]:
                found[f"{file.relative_to(root).as_posix()}#{number}"] = fence[1]
    return found


def halves(text: str, name: str) -> str | None:
    """Return a letter for each line, as in grammar.test.js; None for what is no whole page."""
    sections = split(text, name)
    if sections.problems:
        return None
    python, ui = sections.python.split("\n"), sections.ui.split("\n")
    return "".join(map(_half, text.split("\n"), python, ui))


def _half(line: str, python: str, ui: str) -> str:
    if not line.strip():
        return " "
    return "P" if python.strip() else "U" if ui.strip() else "?"


found = [
    {"path": name, "text": text, "halves": marks}
    for name, text in pages(Path(sys.argv[1])).items()
    if (marks := halves(text, name)) is not None
]
print(json.dumps(found))
