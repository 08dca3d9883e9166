"""What names stand for, as far as the marks `@server`, `@action` and `@stream` are concerned.

`Marks` follows a module from top to bottom, as Python does when it runs it: a
name the file imports or defines itself takes the place of the injected one.
"""

from __future__ import annotations

import ast
from typing import Literal

import attrs

Mark = Literal["server", "action", "stream"]

_RUNTIME = "fx.runtime"
_MARKS: dict[str, Mark] = {
    f"{_RUNTIME}.server": "server",
    f"{_RUNTIME}.action": "action",
    f"{_RUNTIME}.stream": "stream",
}


@attrs.define
class Marks:
    """The module-level names so far. Names that are not here have not been bound."""

    _targets: dict[str, str] = attrs.field(
        factory=lambda: {mark: name for name, mark in _MARKS.items()}
    )
    """Name to its meaning, in dotted form; "" for a name that is not of `fx`."""

    def of(self, decorator: ast.expr) -> Mark | None:
        """Return the mark that a decorator sets, if it is one: ``@server``, ``@server(…)``."""
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        return _MARKS.get(self._resolve(target))

    def bind(self, name: str, value: ast.expr | None = None) -> None:
        """Note that a name now has a value; None for a value of any other kind."""
        self._targets[name] = "" if value is None else self._resolve(value)

    def bind_import(self, node: ast.Import | ast.ImportFrom) -> list[str]:
        """Note what an import binds, and return the names."""
        names = []
        for alias in node.names:
            if alias.name == "*":
                if _module(node) == _RUNTIME:
                    self._targets.update({mark: name for name, mark in _MARKS.items()})
                continue
            name = alias.asname or alias.name.partition(".")[0]
            if isinstance(node, ast.ImportFrom):
                self._targets[name] = _part_of_fx(f"{_module(node)}.{alias.name}")
            else:
                self._targets[name] = _part_of_fx(alias.name if alias.asname else name)
            names.append(name)
        return names

    def _resolve(self, node: ast.expr) -> str:
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        target = self._targets.get(node.id, "")
        return ".".join([target, *reversed(attributes)]) if target else ""


def _module(node: ast.Import | ast.ImportFrom) -> str:
    if isinstance(node, ast.Import) or node.level or node.module is None:
        return ""
    return _part_of_fx(node.module)


def _part_of_fx(dotted: str) -> str:
    """Return a dotted name of the framework as ``fx.…``; "" for any other."""
    root, _, rest = dotted.partition(".")
    if root not in ("fx", "fxtrio"):
        return ""
    return f"fx.{rest}" if rest else "fx"
