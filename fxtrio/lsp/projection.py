"""The half of a page as a file of its own language, for the servers of that language. Pure.

What is written stands where it stands in the page, but for what had to be put in; places go
back and forth through `Projection`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import attrs

from fxtrio.compile.inject import WITH_ACTION, WITH_LOADER
from fxtrio.lsp.page import PageView
from fxtrio.lsp.places import Position, Range

Language = Literal["python", "typescript"]

_FUTURE = re.compile(r"from __future__ import\b")


@attrs.frozen
class Projection:
    """One half, as its servers see it."""

    language: Language
    file: Path
    """Where it seems to stand; nothing is written there."""

    text: str
    added: int | None = None
    """The line (0-based) that was put in; None for none."""

    @property
    def uri(self) -> str:
        """The file as servers are told of it."""
        return self.file.as_uri()

    def there(self, position: Position) -> Position:
        """Return the place of a position of the page."""
        if self.added is None or position["line"] < self.added:
            return position
        return {**position, "line": position["line"] + 1}

    def back(self, position: Position) -> Position | None:
        """Return the place in the page; None for what was put in."""
        line = position["line"]
        if self.added is None or line < self.added:
            return position
        return None if line == self.added else {**position, "line": line - 1}

    def range_back(self, range_: Range) -> Range | None:
        """Return a range in the page; None when it touches what was put in."""
        start, end = self.back(range_["start"]), self.back(range_["end"])
        return None if start is None or end is None else {"start": start, "end": end}


def language_at(view: PageView, line: int) -> Language:
    """Return the language of a line (0-based); a blank one is of the half above it."""
    ui, python = view.checked.ui.split("\n"), view.checked.python.split("\n")
    for number in range(min(line, len(ui) - 1), -1, -1):
        if ui[number].strip():
            return "typescript"
        if python[number].strip() or view.places.line(number).strip():
            return "python"
    return "python"


def project(view: PageView, language: Language) -> Projection:
    """Return a half of a page. Statements that do not parse yet are Python."""
    file = view.root / view.path
    if language == "typescript":
        return Projection(language, file.with_name(f"{file.name}.tsx"), view.checked.ui)
    ui = view.checked.ui.split("\n")
    lines = [
        "" if number < len(ui) and ui[number].strip() else line
        for number, line in enumerate(view.source.text.split("\n"))
    ]
    future = [number for number, line in enumerate(lines) if _FUTURE.match(line)]
    added = future[-1] + 1 if future else 0
    # All of them: a loader that is being written is none yet. What the file defines itself wins.
    lines.insert(added, f"from fx.runtime import {', '.join((*WITH_LOADER, *WITH_ACTION))}")
    return Projection(language, file.with_name(f"{file.name}.py"), "\n".join(lines), added)
