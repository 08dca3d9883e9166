"""Which decorators are `@server` and `@action`: by injection, import or alias, unless redefined."""

from __future__ import annotations

import ast
from typing import Literal

import attrs

from fxtrio.compile.bindings import names_of

Mark = Literal["server", "action"]

_MODULES = ("fx.runtime", "fxtrio.runtime")
_MARKS: dict[str, Mark] = {"server": "server", "action": "action"}


@attrs.frozen
class Marks:
    """The names of one module that stand for the marks."""

    names: dict[str, Mark]
    """Name (``server``, ``runtime.server``) to mark."""

    bound: frozenset[str]
    """All names that the module defines or imports itself."""

    def of(self, decorator: ast.expr) -> Mark | None:
        """Return the mark that a decorator sets, if it is one: ``@server``, ``@server(…)``."""
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        return self.names.get(_dotted(target))


def read_marks(module: ast.Module) -> Marks:
    """Return the marks of a module; what it binds itself goes before the injected names."""
    bound = names_of(module.body).bound
    names = {name: mark for name, mark in _MARKS.items() if name not in bound}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            _read_import_from(node, names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in _MODULES:
                    prefix = alias.asname or alias.name
                    names.update({f"{prefix}.{name}": mark for name, mark in _MARKS.items()})
    return Marks(names, frozenset(bound))


def _read_import_from(node: ast.ImportFrom, names: dict[str, Mark]) -> None:
    for alias in node.names:
        name = alias.asname or alias.name
        if node.module in _MODULES and alias.name in _MARKS:
            names[name] = _MARKS[alias.name]
        elif node.module in ("fx", "fxtrio") and alias.name == "runtime":
            names.update({f"{name}.{mark}": mark for mark in _MARKS.values()})


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = _dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return ""
