"""Assignments to names, items and attributes."""

from __future__ import annotations

import ast

from fxtrio.tools.types.inference.containers import add_to
from fxtrio.tools.types.inference.members import item, iterated
from fxtrio.tools.types.inference.scope import Scope, constant_of, path_of
from fxtrio.tools.types.inference.values import Dict, Entry, List, Value, alike, parts_of, spoil


def bind(target: ast.expr, value: Value, scope: Scope) -> None:
    """Give the names of a target to a value."""
    if isinstance(target, ast.Name):
        scope.bind(target.id, value)
    elif isinstance(target, ast.Starred):
        bind(target.value, scope.unknown(target, "the remaining items are unknown"), scope)
    elif isinstance(target, ast.Tuple | ast.List):
        starred = any(isinstance(one, ast.Starred) for one in target.elts)
        for index, one in enumerate(target.elts):
            bind(one, iterated(value) if starred else item(value, index), scope)
    elif isinstance(target, ast.Subscript):
        _put(target, value, scope)
    elif isinstance(target, ast.Attribute):
        scope.reader.evaluate(target.value, scope)
        spoil(value, scope.unknown(target, "it is stored elsewhere"))
        path = path_of(target)
        if path:
            scope.bind(path, value)


def _put(target: ast.Subscript, value: Value, scope: Scope) -> None:
    """Put a value under a key of a dict."""
    key = constant_of(target.slice)
    scope.names.pop(path_of(target), None)
    for owner in parts_of(scope.reader.evaluate(target.value, scope)):
        if isinstance(owner, Dict) and isinstance(key, str) and owner.others is None:
            owner.entries[key] = Entry(value, place=scope.place(target.slice))
        elif isinstance(owner, Dict) and not owner.entries and owner.spoiled is None:
            owner.others = alike([value] if owner.others is None else [owner.others, value])
        elif isinstance(owner, List):
            add_to(owner, value)
        else:
            spoil(owner, scope.unknown(target, "keys are added to it"))
            spoil(value, scope.unknown(target, "it is stored elsewhere"))
