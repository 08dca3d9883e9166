"""Projects of the corpus: many page files in one text, with marks where mistakes are.

A file begins with ``=== path``, behind which ` · ` and a reason may follow. Each page is one
program; the mark ``⟦`` says where its mistake is, a program without one is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import attrs

MARK = "⟦"
CORPUS = Path(__file__).parent / "corpus"
BASICS = CORPUS / "basics"


@attrs.frozen
class Written:
    """A project that was written, and where its marks were."""

    root: Path
    marks: Mapping[str, tuple[int, int]]
    """Source to line and column."""

    pages: int
    """How many `.fxl` files there are (count)."""


def write_project(name: str, root: Path) -> Written:
    """Write the files of a text of the basics; what pages import comes along."""
    (root / "notes.py").write_text((BASICS / "notes.py.txt").read_text("utf-8"), "utf-8")
    return _write_all([BASICS / "shared.txt", BASICS / name], root)


def write_corpus(root: Path) -> Written:
    """Write the files of all texts into one project, so that the compiler runs once."""
    modules = list(CORPUS.rglob("*.py.txt"))
    for one in modules:
        (root / one.stem).write_text(one.read_text("utf-8"), "utf-8")
    return _write_all(sorted({*CORPUS.rglob("*.txt")} - {*modules}), root)


def _write_all(texts: Iterable[Path], root: Path) -> Written:
    marks = {}
    pages = 0
    for part in (one for text in texts for one in _parts(text)):
        head, _, text = part.partition("\n")
        path = head.partition(" · ")[0]
        before, mark, after = text.partition(MARK)
        if mark:
            line = before.count("\n") + 1
            marks[path] = line, len(before) - before.rfind("\n")
        pages += path.endswith(".fxl")
        target = root / path
        assert not target.exists(), f"two programs have the path {path}"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"{before}{after}\n", "utf-8")
    return Written(root, marks, pages)


def _parts(text: Path) -> Iterable[str]:
    return ("\n" + text.read_text("utf-8")).split("\n=== ")[1:]
