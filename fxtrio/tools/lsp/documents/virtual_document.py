"""The half of a page as a file of its own language, for the servers of that language. Pure.

Text has the same place as in the page, except behind insertions; places go
back and forth through `Projection`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import attrs

from fxtrio.compile.check.names.auto_imports import WITH_ACTION, WITH_LOADER
from fxtrio.tools.lsp.documents.page import ParsedPage
from fxtrio.tools.lsp.documents.positions import Position, Range, units
from fxtrio.tools.lsp.project_index import KnownProject
from fxtrio.tools.types.ui.client_types import module_name
from fxtrio.tools.types.ui.virtual_project import FOLDER
from fxtrio.tools.types.ui.virtual_ui import Shift, virtual_ui

Language = Literal["python", "typescript"]

_FUTURE = re.compile(r"from __future__ import\b")
_MARK = re.compile(r"@(\w++)")
_TAKES = re.compile(r"(?:async )?def \w++\(\w++(?=[,)])")
_MARKS = frozenset({*WITH_LOADER, *WITH_ACTION, "websocket"})
_REQUESTS = (
    "from starlette.requests import Request as fx__Request; "
    "from starlette.websockets import WebSocket as fx__WebSocket"
)


@attrs.frozen
class Projection:
    """One half, as its servers see it."""

    language: Language
    file: Path
    """Where it seems to stand; nothing is written there."""

    text: str
    added: int | None = None
    """The line (0-based) that was put in; None for none."""

    shifts: tuple[Shift, ...] = ()
    """What was put into lines."""

    @property
    def uri(self) -> str:
        """The URI under which servers know the file."""
        return self.file.as_uri()

    def there(self, position: Position) -> Position:
        """Return the place of a position of the page."""
        line, character = position["line"], position["character"]
        if self.added is not None and line >= self.added:
            line += 1
        for shift in self._shifts(line):
            if character >= shift[0]:
                character += shift[1]
        return {"line": line, "character": character}

    def back(self, position: Position) -> Position | None:
        """Return the place in the page; None for what was put in."""
        line, character = position["line"], position["character"]
        if line == self.added:
            return None
        back = 0
        for start, width in self._shifts(line):
            if start < character < start + width:
                return None
            if character >= start + width:
                back += width
        is_behind = self.added is not None and line > self.added
        return {"line": line - 1 if is_behind else line, "character": character - back}

    def _shifts(self, line: int) -> Iterator[tuple[int, int]]:
        """Yield where something was put into a line of the text, and its width, in UTF-16 units."""
        for shift in self.shifts:
            if shift.line == line + 1:
                content = self.text.split("\n")[line]
                start = units(content[: shift.column - 1])
                yield start, units(content[shift.column - 1 : shift.column - 1 + shift.width])

    def range_back(self, range_: Range) -> Range | None:
        """Return a range in the page; None when it touches what was put in."""
        start, end = self.back(range_["start"]), self.back(range_["end"])
        return None if start is None or end is None else {"start": start, "end": end}


def language_at(page: ParsedPage, line: int) -> Language:
    """Return the language of a line (0-based); a blank one is of the half above it."""
    ui, python = page.checked.ui.split("\n"), page.checked.python.split("\n")
    for number in range(min(line, len(ui) - 1), -1, -1):
        if ui[number].strip():
            return "typescript"
        if python[number].strip() or page.places.line(number).strip():
            return "python"
    return "python"


def project(page: ParsedPage, language: Language, known: KnownProject | None = None) -> Projection:
    """Return a half of a page. Statements that do not parse yet are Python.

    A UI half has the types that are ``known``: it stands among the files that `fx typecheck`
    has written, once it has.
    """
    file = page.root / page.path
    if language == "typescript":
        return _typed(page, known) or Projection(
            language, file.with_name(f"{file.name}.tsx"), page.checked.ui
        )
    ui = page.checked.ui.split("\n")
    lines = [
        "" if number < len(ui) and ui[number].strip() else line
        for number, line in enumerate(page.source.text.split("\n"))
    ]
    future = [number for number, line in enumerate(lines) if _FUTURE.match(line)]
    added = future[-1] + 1 if future else 0
    typed = list(_typed_requests(lines))
    # All of them: a loader that is being written is none yet. What the file defines itself wins.
    imported = f"from fx.runtime import {', '.join((*WITH_LOADER, *WITH_ACTION))}"
    lines.insert(added, f"{imported}; {_REQUESTS}" if typed else imported)
    shifts = tuple(
        Shift(number + (2 if number >= added else 1), column + 1, len(put))
        for number, column, put in typed
    )
    name = file.with_name(f"{file.name}.py")
    return Projection(language, name, "\n".join(lines), added, shifts)


def _typed_requests(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Write types into ``lines`` where loaders and others take a request without one.

    Yields line and column of each, both from 0, and what was put there.
    """
    marks: set[str] = set()
    for number, line in enumerate(lines):
        if found := _MARK.match(line):
            marks.add(found[1])
        elif found := _TAKES.match(line):
            kind = "WebSocket" if "websocket" in marks else "Request"
            if marks & _MARKS:
                put = f": fx__{kind}"
                lines[number] = line[: found.end()] + put + line[found.end() :]
                yield number, found.end(), put
            marks = set()
        elif line.strip() and not line.startswith((" ", "\t", "#", ")")):
            marks = set()


def _typed(page: ParsedPage, known: KnownProject | None) -> Projection | None:
    """Return a UI half with types; None where `fx typecheck` has not written its files."""
    sources = [] if known is None else [one.module.source for one in known.project.pages]
    if page.path not in sources:
        return None
    module = module_name(sources.index(page.path))
    for tier, ending in (("strict", "tsx"), ("loose", "jsx")):
        folder = page.root / FOLDER / tier
        file = folder / f"{page.path}.{ending}"
        if _is_listed(file, folder / "tsconfig.json"):
            virtual = virtual_ui(
                page.checked.ui, page.ui.near_places, module, typed=tier == "strict"
            )
            return Projection("typescript", file, virtual.text, shifts=virtual.shifts)
    return None


def _is_listed(file: Path, settings: Path) -> bool:
    """Whether the settings of a compiler name a file beside them."""
    try:
        files = json.loads(settings.read_text("utf-8"))["files"]
    except (OSError, ValueError, KeyError):
        return False
    return file.relative_to(settings.parent).as_posix() in files
