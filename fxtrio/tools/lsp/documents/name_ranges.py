"""Where a name stands in a text that may have been edited since its place was found. Pure."""

from __future__ import annotations

import ast
import re

import attrs

from fxtrio.compile.split.python_statements import Broken, parse_module
from fxtrio.tools.lsp.documents.page import ParsedPage
from fxtrio.tools.lsp.documents.positions import Places, Range, units
from fxtrio.tools.types.python.shapes import Key, Place

_OPENING = r"(?:[rRuUbBfF]{0,2}(?:\"\"\"|'''|[\"']))?"


@attrs.frozen
class Spot:
    """A name in a file."""

    path: str
    """As in `Place`: relative to the project folder, or absolute."""

    range: Range
    """Of the name alone."""

    quoted: bool = False
    """Whether it is the key of a dict: text, and no name of Python."""


def key_spot(key: Key, places: Places, before: str | None = None) -> Spot | None:
    """Return where a key is written; None when it is not there any more.

    ``places`` are those of the file as it is now, ``before`` is the text that its place is of.
    """
    return _spot(key.place, key.attribute or key.name, places, before)


def _spot(place: Place | None, name: str, places: Places, before: str | None) -> Spot | None:
    if place is None:
        return None
    line = place.line - 1
    if before is not None:
        found = _moved_line(before, line, places)
        if found is None:
            return None
        line = found
    content = places.line(line)
    found_name = re.compile(rf"{_OPENING}({re.escape(name)})\b").match(content, place.column - 1)
    if found_name is None:
        return None
    start, end = found_name.span(1)
    return Spot(place.path, _range(line, content, start, end), start > place.column - 1)


def _moved_line(before: str, line: int, places: Places) -> int | None:
    """Return where a line of ``before`` is now: the nearest that is equal; None for none."""
    lines = before.split("\n")
    if line >= len(lines):
        return None
    content = lines[line]
    equal = (number for number in range(places.count) if places.line(number) == content)
    return min(equal, key=lambda number: abs(number - line), default=None)


def action_spots(page: ParsedPage, name: str) -> list[Spot]:
    """Return where the Python half of a page names one of its functions, the definition first."""
    module = parse_module(page.checked.python)
    if isinstance(module, Broken):
        return []
    definitions, others = [], []
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            offset = page.source.offset_of(node.lineno, node.col_offset)
            start = page.source.text.find(name, offset + len("def"))
            if start >= 0:
                definitions.append(_at(page, start, name))
        elif isinstance(node, ast.Name) and node.id == name:
            others.append(_at(page, page.source.offset_of(node.lineno, node.col_offset), name))
    return [*definitions, *others]


def data_subscripts(page: ParsedPage, name: str) -> list[Spot]:
    """Return where the `HEAD` function of a file reads the key ``name`` of its loader's data."""
    module = parse_module(page.checked.python)
    if isinstance(module, Broken):
        return []
    heads = [
        node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "HEAD"
    ]
    spots = []
    for head in heads:
        parameters = [*head.args.posonlyargs, *head.args.args]
        if not parameters:
            continue
        for node in ast.walk(head):
            key = _key_read(node, parameters[0].arg)
            if key is not None and key.value == name:
                offset = page.source.offset_of(key.lineno, key.col_offset)
                start = page.source.text.find(name, offset)
                spots.append(_at(page, start, name))
    return spots


def is_typed_dict(python: str, line: int) -> bool:
    """Whether a line (0-based) of Python code is within a class that is a TypedDict."""
    module = parse_module(python)
    if isinstance(module, Broken):
        return False
    classes = {node.name: node for node in ast.walk(module) if isinstance(node, ast.ClassDef)}
    for node in classes.values():
        if node.lineno <= line + 1 <= (node.end_lineno or node.lineno):
            waiting = [node]
            for one in waiting:
                for base in map(ast.unparse, one.bases):
                    if base.rpartition(".")[2] == "TypedDict":
                        return True
                    if base in classes and classes[base] not in waiting:
                        waiting.append(classes[base])
    return False


def _key_read(node: ast.AST, variable: str) -> ast.Constant | None:
    """Return the key of ``variable["key"]`` or ``variable.get("key")``."""
    key: ast.expr | None = None
    of: ast.expr | None = None
    if isinstance(node, ast.Subscript):
        of, key = node.value, node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        of, key = (node.func.value, node.args[0]) if node.func.attr == "get" else (None, None)
    if isinstance(of, ast.Name) and of.id == variable and isinstance(key, ast.Constant):
        return key if isinstance(key.value, str) else None
    return None


def _at(page: ParsedPage, offset: int, name: str) -> Spot:
    return Spot(page.path, page.places.range(offset, offset + len(name)))


def _range(line: int, content: str, start: int, end: int) -> Range:
    return {
        "start": {"line": line, "character": units(content[:start])},
        "end": {"line": line, "character": units(content[:end])},
    }
