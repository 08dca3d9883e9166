"""Statuses that Python code writes down and no response can have. Pure.

Called by `python_declarations` for results of loaders, and by `project` for raised errors.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from fxtrio.compile.split.python_statements import nodes_of
from fxtrio.errors import REDIRECT_STATUS
from fxtrio.status import as_status

STATUS_REMEDY = "Give an int from 200 to 599, such as 404"
_REDIRECT_REMEDY = f"Give one of {', '.join(map(str, sorted(REDIRECT_STATUS)))}"

_POSITIONS: dict[str, int | None] = {
    "LoaderError": 1,
    "ActionError": 1,
    "ValidationActionError": None,
    "HTTPException": 0,
    "redirect": 1,
}
"""Where calls have a status, if not by its name."""

_NAMES = ("status_code", "status")
_SOURCES = frozenset({"fx", "fxtrio", "starlette"})
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def wrong_returned(
    function: ast.FunctionDef | ast.AsyncFunctionDef,
) -> Iterator[tuple[ast.expr, object]]:
    """Yield each literal in the place of a status that a loader itself returns."""
    unread: list[ast.AST] = [*function.body]
    while unread:
        node = unread.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            for value in _choices(node.value):
                if isinstance(value, ast.Tuple) and len(value.elts) == 2:
                    yield from _wrong(value.elts[1])
        elif not isinstance(node, _SCOPES):
            unread += ast.iter_child_nodes(node)


def wrong_raised(module: ast.Module) -> Iterator[tuple[ast.expr, str, str]]:
    """Yield each wrong literal in calls of errors and of `redirect`: node, message, remedy."""
    foreign = set(_foreign(module))
    for node in nodes_of(module):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        name = node.func.id
        if name not in _POSITIONS or name in foreign:
            continue
        position = _POSITIONS[name]
        statuses = [each.value for each in node.keywords if each.arg in _NAMES]
        if position is not None and not any(isinstance(each, ast.Starred) for each in node.args):
            statuses += node.args[position : position + 1]
        for argument in statuses:
            for value, status in _wrong(argument, redirects=name == "redirect"):
                remedy = _REDIRECT_REMEDY if name == "redirect" else STATUS_REMEDY
                yield value, f"{name}: the status is {status!r:.40}", remedy


def _wrong(node: ast.expr, *, redirects: bool = False) -> Iterator[tuple[ast.expr, object]]:
    for choice in _choices(node):
        try:
            value: Any = ast.literal_eval(choice)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue  # only known when it runs
        status = as_status(value)
        if status is None or (redirects and status not in REDIRECT_STATUS):
            yield choice, value


def _choices(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what an expression may be, where it says ``a if x else b``."""
    unread = [node]
    while unread:
        value = unread.pop()
        if isinstance(value, ast.IfExp):
            unread += [value.orelse, value.body]
        else:
            yield value


def _foreign(module: ast.Module) -> Iterator[str]:
    """Yield the names that stand for something else than ours or Starlette's."""
    for node in nodes_of(module):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.ImportFrom):
            root = "" if node.level else (node.module or "").partition(".")[0]
            for alias in node.names if root not in _SOURCES else ():
                yield alias.asname or alias.name
