"""What pages and components declare: the outline of a page, and a search through a project."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import trio

from fxtrio.compile.split.python_statements import Broken, parse_module
from fxtrio.tools.lsp.answers.project_texts import CLIENT_CODE, texts_of
from fxtrio.tools.lsp.documents.page import ParsedPage
from fxtrio.tools.lsp.documents.page_cache import PageCache, read_text_of
from fxtrio.tools.lsp.documents.positions import Range
from fxtrio.tools.lsp.processes.ui_analysis import Analyst

Symbol = dict[str, Any]

MOST_FOUND = 500
"""Symbols that a search returns (count)."""

_MODULE, _CLASS, _METHOD, _FIELD, _FUNCTION, _VARIABLE = 2, 5, 6, 8, 12, 13
_UI_KINDS = {"function": _FUNCTION, "class": _CLASS, "variable": _VARIABLE, "type": 11}


async def document_symbols(page: ParsedPage, analyst: Analyst) -> list[Symbol]:
    """Return the outline of a page: both halves, by place."""
    found = [*python_symbols(page), *map(_ui_symbol, await analyst.symbols(page))]
    return sorted(found, key=lambda one: int(one["range"]["start"]["line"]))


def _ui_symbol(one: dict[str, Any]) -> Symbol:
    return {
        "name": one["name"],
        "kind": _UI_KINDS[one["kind"]],
        "detail": "export" if one["exported"] else "",
        "range": one["whole"],
        "selectionRange": one["range"],
    }


def python_symbols(page: ParsedPage) -> list[Symbol]:
    """Return what the Python half of a page declares; nothing while it does not parse."""
    module = parse_module(page.checked.python)
    return [] if isinstance(module, Broken) else list(_declared(page, module.body, inner=False))


def _declared(page: ParsedPage, body: list[ast.stmt], *, inner: bool) -> Iterator[Symbol]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            children = list(_declared(page, node.body, inner=True))
            yield {**_symbol(page, node, node.name, _CLASS), "children": children}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            marks = [f"@{ast.unparse(one)}" for one in node.decorator_list]
            found = _symbol(page, node, node.name, _METHOD if inner else _FUNCTION)
            yield {**found, "detail": " ".join(marks)}
        else:
            yield from _assigned(page, node, _FIELD if inner else _VARIABLE)


def _assigned(page: ParsedPage, node: ast.stmt, kind: int) -> Iterator[Symbol]:
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    for target in targets:
        if isinstance(target, ast.Name):
            yield {**_symbol(page, node, target.id, kind), "selectionRange": _range(page, target)}


def _symbol(page: ParsedPage, node: ast.stmt, name: str, kind: int) -> Symbol:
    whole = _range(page, node)
    head = whole["start"]["line"]
    column = page.places.line(head).find(name)
    start = page.source.line_starts[head] + max(column, 0)
    decorators = getattr(node, "decorator_list", [])
    if decorators:
        whole = {**whole, "start": {"line": decorators[0].lineno - 1, "character": 0}}
    selection = _span(page, start, start + len(name))
    return {"name": name, "kind": kind, "range": whole, "selectionRange": selection}


def _range(page: ParsedPage, node: ast.stmt | ast.expr) -> Range:
    source = page.source
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    start = source.offset_of(node.lineno, node.col_offset)
    return _span(page, start, source.offset_of(end_line, end_column))


def _span(page: ParsedPage, start: int, end: int) -> Range:
    return page.places.range(start, end)


async def project_symbols(
    query: str, sources: dict[str, ParsedPage], analyst: Analyst, patterns: dict[str, str]
) -> list[Symbol]:
    """Return what pages declare whose names have the letters of ``query``, in its order.

    ``patterns`` are those of the pages, by source; each is a symbol, too.
    """
    found: list[Symbol] = []
    for source, page in sources.items():
        if source in patterns:
            top = _span(page, 0, 0)
            module = {"name": patterns[source], "kind": _MODULE, "selectionRange": top}
            found += _located(page.uri, source, [module], query)
        found += _located(page.uri, source, await document_symbols(page, analyst), query)
    return found[:MOST_FOUND]


def module_symbols(query: str, root: Path, modules: Mapping[str, list[Symbol]]) -> list[Symbol]:
    """Return the same of components and other ``modules``, whose symbols are by source."""
    found: list[Symbol] = []
    for source, symbols in modules.items():
        found += _located((root / source).as_uri(), source, symbols, query)
    return found[:MOST_FOUND]


def _located(uri: str, source: str, symbols: Iterable[Symbol], query: str) -> Iterator[Symbol]:
    for one in symbols:
        if _matches(query, one["name"]):
            location = {"uri": uri, "range": one["selectionRange"]}
            name, kind = one["name"], one["kind"]
            yield {"name": name, "kind": kind, "location": location, "containerName": source}
        yield from _located(uri, source, one.get("children", []), query)


def _matches(query: str, name: str) -> bool:
    letters = iter(name.lower())
    return all(one in letters for one in query.lower())


class SavedFiles:
    """Files of projects as they lie on the disk, read again where they have changed."""

    def __init__(self, pages: PageCache) -> None:
        self._pages = pages
        self._cached: dict[str, tuple[str, ParsedPage]] = {}
        self._modules: dict[Path, dict[str, tuple[str, list[Symbol]]]] = {}

    async def pages_of(self, root: Path, sources: Iterable[str]) -> dict[str, ParsedPage]:
        """Return pages, parsed, by source; open ones as they are saved."""
        found = {}
        for source in sources:
            file = root / source
            text = await read_text_of(file)
            key = str(file)
            if self._cached.get(key, ("",))[0] != text:
                self._cached[key] = text, await self._pages.look(file, text)
            if key in self._cached:
                found[source] = self._cached[key][1]
        return found

    async def modules_of(self, root: Path, analyst: Analyst) -> dict[str, list[Symbol]]:
        """Return what components and other modules of a project declare, by source."""
        before, known = self._modules.get(root, {}), dict[str, tuple[str, list[Symbol]]]()
        for file, text in await trio.to_thread.run_sync(list, texts_of(root, CLIENT_CODE)):
            source = file.relative_to(root).as_posix()
            known[source] = before.get(source, ("", []))
            if known[source][0] != text:
                declared = await analyst.symbols_of_module(root, source, text)
                if declared is not None:  # else Node has ended, and the next search asks again
                    known[source] = text, [_ui_symbol(one) for one in declared]
        self._modules[root] = known
        return {source: symbols for source, (_, symbols) in known.items()}
