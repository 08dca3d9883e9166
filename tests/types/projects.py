"""Projects of the corpus: many page files in one text, with marks where mistakes are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import attrs

MARK = "⟦"
CORPUS = Path(__file__).parent / "corpus"
THEMES = Path(__file__).parent / "themes"


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
    (root / "notes.py").write_text((CORPUS / "notes.py.txt").read_text("utf-8"), "utf-8")
    return _write_all([CORPUS / name], root)


def write_themes(root: Path) -> Written:
    """Write the files of all themes into one project, so that the compiler runs once."""
    (root / "shop.py").write_text((THEMES / "shop.py.txt").read_text("utf-8"), "utf-8")
    return _write_all((one for one in sorted(THEMES.glob("*.txt")) if one.stem != "shop.py"), root)


def _write_all(texts: Iterable[Path], root: Path) -> Written:
    marks = {}
    pages = 0
    for part in (one for text in texts for one in _parts(text)):
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


def _parts(text: Path) -> Iterable[str]:
    return ("\n" + text.read_text("utf-8")).split("\n=== ")[1:]
