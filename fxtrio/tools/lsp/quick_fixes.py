"""Edits that do what the remedy of a diagnostic says: names that were meant, missing imports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import attrs

from fxtrio.tools.lsp.exporters import python_homes, ui_homes
from fxtrio.tools.lsp.import_edits import python_import, ui_import
from fxtrio.tools.lsp.page import PageView
from fxtrio.tools.lsp.positions import Range

Edit = dict[str, Any]

_MEANT = re.compile(r"(?:Did you mean|Define or import it, or write) '([^']+)'")
_WRITE = re.compile(r"\. Write '([^']+)'")
_PYTHON_IMPORT = re.compile(r"Write '(from [\w.]+ import \w+)'")
_UI_IMPORT = re.compile(r"import \{ ([\w$]+) \} from '([^']+)'")
_UI_MODULE = re.compile(r"Write (import \* as \w+ from )'([^']+)'")
_UNDEFINED = re.compile(r"undefined name '([^']+)'")
_QUOTED = re.compile(r"'([^'\n]+)'")


@attrs.frozen
class _Fix:
    title: str
    edits: list[Edit]


def quick_fixes(
    view: PageView, uri: str, diagnostics: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return code actions for diagnostics of a page, those of each in the order of preference."""
    return [
        {
            "title": fix.title,
            "kind": "quickfix",
            "diagnostics": [one],
            "edit": {"changes": {uri: fix.edits}},
            "isPreferred": number == 0,
        }
        for one in diagnostics
        if one.get("source") == "fx"
        for number, fix in enumerate(_fixes(view, one["message"], one["range"]))
    ]


def _fixes(view: PageView, message: str, place: Range) -> Iterator[_Fix]:
    undefined = _UNDEFINED.search(message)
    name = undefined[1] if undefined is not None else ""
    line = place["start"]["line"]
    if name and view.in_ui(line):
        yield from _ui_imports(view, message, name, place)
    elif name:
        yield from _python_imports(view, message, name)
    meant = _MEANT.search(message)
    written = _WRITE.search(message) if name else None
    if meant is not None:
        yield from _renamed(view, message[: meant.start()], meant[1], place)
    elif written is not None and not written[1].startswith("from "):
        yield from _renamed(view, message[: written.start()], written[1], place)


def _ui_imports(view: PageView, message: str, name: str, place: Range) -> Iterator[_Fix]:
    named, module = _UI_IMPORT.search(message), _UI_MODULE.search(message)
    if module is not None:
        line = f'{module[1]}"{module[2]}";'
        yield _Fix(f"Add {line}", ui_import(view, line))
    if named is not None:
        line = f'import {{ {named[1]} }} from "{named[2]}";'
        edits = ui_import(view, line, named[1], named[2])
        if named[1] != name:
            edits.append({"range": place, "newText": named[1]})
            line = line if len(edits) > 1 else f"'{named[1]}'"
        yield _Fix(f"Write {line}" if named[1] != name else f"Add {line}", edits)
    for specifier, default in ui_homes(view.root, view.path, name):
        line = f'import {name if default else f"{{ {name} }}"} from "{specifier}";'
        edits = ui_import(view, line) if default else ui_import(view, line, name, specifier)
        yield _Fix(f"Add {line}", edits)


def _python_imports(view: PageView, message: str, name: str) -> Iterator[_Fix]:
    told = _PYTHON_IMPORT.search(message)
    lines = [told[1]] if told is not None else python_homes(view.root, name)
    for line in lines:
        edit = python_import(view, line)
        if edit is not None:
            yield _Fix(f"Add '{line}'", [edit])


def _renamed(view: PageView, cause: str, meant: str, place: Range) -> Iterator[_Fix]:
    """Yield the edit that writes what was meant for what the message calls a mistake."""
    number = place["start"]["line"]
    line = view.places.line(number)
    start = view.places.offset(place["start"])
    end_of_line = start - view.places.offset({"line": number, "character": 0})
    for wrong in _QUOTED.findall(cause):
        bounded = rf"(?<![\w$]){re.escape(wrong)}(?![\w$])"
        found = re.compile(bounded).search(line, end_of_line)
        if found is not None and wrong != meant:
            at = start - end_of_line
            range_ = view.places.range(at + found.start(), at + found.end())
            yield _Fix(f"Write {meant!r}", [{"range": range_, "newText": meant}])
            return
