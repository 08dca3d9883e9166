"""Projects of the corpus: many page files in one text, with marks where mistakes are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import attrs

MARK = "⟦"
CORPUS = Path(__file__).parent / "corpus"


@attrs.frozen
class Written:
    """A project that was written, and where its marks were."""

    root: Path
    marks: Mapping[str, tuple[int, int]]
    """Source to line and column."""

    pages: int
    """How many `.fxl` files there are (count)."""


def write_project(name: str, root: Path) -> Written:
    """Write the files of a text of the corpus; what pages import comes along."""
    marks = {}
    pages = 0
    (root / "notes.py").write_text((CORPUS / "notes.py.txt").read_text("utf-8"), "utf-8")
    for part in ("\n" + (CORPUS / name).read_text("utf-8")).split("\n=== ")[1:]:
        path, _, text = part.partition("\n")
        before, mark, after = text.partition(MARK)
        if mark:
            line = before.count("\n") + 1
            marks[path] = line, len(before) - before.rfind("\n")
        pages += path.endswith(".fxl")
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"{before}{after}\n", "utf-8")
    return Written(root, marks, pages)
