"""Field names that Python code gives to the errors of actions, besides those of bodies."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs

from fxtrio.tools.types.python.sources import Module, Sources

_ERRORS = frozenset({"ActionError", "ValidationActionError"})


@attrs.frozen
class RaisedFields:
    """What the errors of a page's actions may name."""

    names: frozenset[str] = frozenset()
    known: bool = True
    """Whether ``names`` are all."""


def raised_fields(module: Module | None) -> RaisedFields:
    """Return the names that a module gives to errors."""
    names: set[str] = set()
    known = module is not None
    for node in ast.walk(module.tree) if module is not None else ():
        if isinstance(node, ast.Call) and _name(node.func) in _ERRORS:
            for one in node.keywords:
                found = _keys(one.value) if one.arg == "fields" else set()
                known = known and found is not None and one.arg is not None
                names |= found or set()
    return RaisedFields(frozenset(names), known)


def joined(found: Iterator[RaisedFields]) -> RaisedFields:
    """Return what several modules name."""
    names, known = frozenset[str](), True
    for one in found:
        names, known = names | one.names, known and one.known
    return RaisedFields(names, known)


def project_modules(root: Path, sources: Sources) -> Iterator[Module]:
    """Yield the imported modules of a project that are no page files."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not file.endswith(".py"):
            continue
        path = Path(file)
        if path.is_relative_to(root) and "site-packages" not in path.parts:
            found = sources.of_file(file)
            if found is not None:
                yield found


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _keys(node: ast.expr) -> set[str] | None:
    """Return the keys of a dict display; None for anything else."""
    if isinstance(node, ast.Constant) and node.value is None:
        return set()
    if not isinstance(node, ast.Dict):
        return None
    found = set()
    for key in node.keys:
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        found.add(key.value)
    return found
