"""The Markdown that editors show when the pointer rests on a symbol. Pure."""

from __future__ import annotations

import ast
import re

from fxtrio.compile.split.python_statements import Broken, parse_module
from fxtrio.tools.lsp.answers.symbols import ActionThing, KeyThing, LinkThing, Setting, Thing
from fxtrio.tools.lsp.documents.page import ParsedPage
from fxtrio.tools.lsp.documents.positions import Places, Position
from fxtrio.tools.types.gather.page_types import PageTypes
from fxtrio.tools.types.python.shapes import Key, Named
from fxtrio.tools.types.ui.typescript import Printer

_SIDES = {"data": "loader", "layoutData": "loaders around it", "params": "path"}


STARTING = "fxtrio is still reading the types of this project. Try again in a moment."
"""Shown instead of nothing until the types are known."""

SERVER_STARTING = "The language server for this half is still starting. Try again in a moment."
"""Shown instead of nothing when that does not answer."""

_NAME = re.compile(r"[\w$]")


def word_at(places: Places, position: Position) -> bool:
    """Whether a position is in a name, or right behind it."""
    offset = places.offset(position)
    return _NAME.search(places.text, max(offset - 1, 0), offset + 1) is not None


def hover_text(setting: Setting, thing: Thing, page: ParsedPage | None = None) -> str | None:
    """Return Markdown about a thing; None when nothing is known of it.

    ``page`` is the file that has the action, or the page that a link leads to.
    """
    if isinstance(thing, KeyThing):
        return _key_text(setting.types, thing)
    if isinstance(thing, LinkThing):
        return f"`{thing.pattern}` is the page `{thing.source}`."
    return None if page is None else _action_text(thing, page)


def _key_text(types: PageTypes, thing: KeyThing) -> str | None:
    if not thing.keys:
        return None
    printer = Printer()
    lines = dict.fromkeys(_declared(key) for key in thing.keys)
    parts = [_code("ts", "\n".join(lines))]
    side = _side(thing)
    places = {f"`{key.place.path}:{key.place.line}`": None for key in thing.keys if key.place}
    if side:
        parts.append(f"From the {side}{', ' if places else ''}{', '.join(places)}.")
    elif places:
        parts.append(f"Written in {', '.join(places)}.")
    mentioned = {one.shape.name for one in thing.keys if isinstance(one.shape, Named)}
    named = [one for one in types.definitions if one.name in mentioned]
    if named:
        parts.insert(1, _code("ts", printer.definitions(named).strip()))
    return "\n\n".join(parts)


def _declared(key: Key) -> str:
    return f"{key.name}{'?' if key.optional else ''}: {Printer().type(key.shape)}"


def _side(thing: KeyThing) -> str:
    if thing.origin[:1] == ("action",) and len(thing.origin) > 2:
        gives = "result" if thing.origin[2] == "data" else "body"
        return f"{gives} of the action `{thing.origin[1]}`"
    return _SIDES.get(thing.origin[0], "") if thing.origin else ""


def _action_text(thing: ActionThing, page: ParsedPage) -> str | None:
    module = parse_module(page.checked.python)
    if isinstance(module, Broken):
        return None
    for node in module.body:
        if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef) and node.name == thing.name:
            returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            async_ = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
            head = f"@action\n{async_}def {node.name}({ast.unparse(node.args)}){returns}"
            text = ast.get_docstring(node)
            return _code("python", head) + (f"\n\n{text}" if text else "")
    return None


def _code(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"
