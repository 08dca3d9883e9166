"""What a name of a module stands for: by its annotation, its value, or its one assignment.

A name that is bound twice, or by a function, may stand for anything. What a list or dict of a
module holds is believed as long as nothing in that module, or in the code that reads it, puts
something else into it.
"""

from __future__ import annotations

import ast
import datetime
import decimal
import sys
import types
import uuid
from collections.abc import Mapping
from typing import Any

from fxtrio.tools.types.inference.members import known
from fxtrio.tools.types.inference.scope import Reader, Scope, root_of
from fxtrio.tools.types.inference.values import (
    NONE,
    Dict,
    Entry,
    List,
    Live,
    Unknown,
    Value,
    fork,
    spoil,
)
from fxtrio.tools.types.python.classes import class_keys, hints_of
from fxtrio.tools.types.python.sources import Module

_SIMPLE = (
    *(str, int, float, bool, bytes),
    *(datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, uuid.UUID),
)
_CHANGING = frozenset(
    [
        "append",
        "add",
        "insert",
        "extend",
        "update",
        "setdefault",
        "pop",
        "popitem",
        "remove",
        "clear",
        "discard",
        "appendleft",
    ]
)


def named(node: ast.expr, scope: Scope) -> Value:
    """Return what a name of the scope's module, or ``module.name``, stands for."""
    if isinstance(node, ast.Attribute):
        owner = scope.live(node.value)
        if not isinstance(owner, types.ModuleType):
            return scope.unknown(node, f"the type of '.{node.attr}' is unknown")
        return _of_module(vars(owner), node.attr, node, scope)
    if isinstance(node, ast.Name) and node.id in scope.namespace:
        return _of_module(scope.namespace, node.id, node, scope)
    return scope.unknown(node, "the name is unknown")


def _of_module(namespace: Mapping[str, Any], name: str, node: ast.expr, scope: Scope) -> Value:
    reader = scope.reader
    key = id(namespace), name
    if key not in reader.constants:
        reader.constants[key] = Unknown(f"{name!r} refers to itself")  # while it is being read
        reader.constants[key] = _read(namespace, name, reader)
    value = fork({"it": reader.constants[key]})["it"]
    if isinstance(value, (Dict, List)) and scope.module is not None:
        wanted = ast.unparse(node)
        if any(_is_changed(one, wanted) for one in ast.walk(scope.module.tree)):
            spoil(value, scope.unknown(node, f"{wanted} is changed in this file"))
        _forget_changed_keys(value, scope.module)
    return value


def _read(namespace: Mapping[str, Any], name: str, reader: Reader) -> Value:
    module = reader.sources.of_file(namespace.get("__file__"))
    annotated = _annotation(namespace, name)
    if annotated is not None:
        return known(annotated)
    bindings = [] if module is None else _bindings(module, name)
    if module is not None and len(bindings) == 1 and isinstance(bindings[0], ast.ImportFrom):
        return _imported(bindings[0], name, reader)
    live = namespace.get(name)
    place = None if module is None or not bindings else module.place(bindings[0])
    remedy = f"Annotate {name!r} where it is defined"
    if module is None or len(bindings) != 1 or _is_global(module, name):
        return Unknown(f"{name!r} may be reassigned", place, remedy)
    if type(live) in _SIMPLE or class_keys(type(live)) is not None:
        return known(type(live))
    [binding] = bindings
    if not isinstance(binding, ast.Assign):
        return Unknown(f"{name!r} has no annotation", place, remedy)
    if any(_is_changed(one, name) for one in ast.walk(module.tree)):
        return Unknown(f"the value of {name!r} is unknown", place, remedy)
    value = reader.evaluate(binding.value, Scope(reader, namespace, module))
    if isinstance(value, Unknown) and _is_own(live):
        return known(type(live))
    _forget_changed_keys(value, module)
    return value


def _is_own(live: Any) -> bool:
    """Whether a value is an instance of a plain class of the project or a library."""
    kind = type(live)
    return kind.__module__ != "builtins" and not isinstance(live, types.ModuleType | type)


def _annotation(namespace: Mapping[str, Any], name: str) -> Any:
    if name not in namespace.get("__annotations__", {}):
        return None
    module = sys.modules.get(str(namespace.get("__name__")))
    return None if module is None else hints_of(module).get(name)


def _imported(node: ast.ImportFrom, name: str, reader: Reader) -> Value:
    module = sys.modules.get(node.module or "")
    original = next(one.name for one in node.names if (one.asname or one.name) == name)
    if module is None or node.level:
        return Unknown(f"the origin of {name!r} is unknown")
    found = vars(module).get(original)
    if isinstance(found, type | types.ModuleType):
        return Live(found)
    return _read(vars(module), original, reader)


def _bindings(module: Module, name: str) -> list[ast.stmt]:
    """Return the statements of a module, outside of functions, that bind a name."""
    found: list[ast.stmt] = []
    waiting: list[ast.stmt] = list(module.tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name == name:
                found.append(node)
            continue
        if _binds(node, name):
            found.append(node)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                waiting.append(child)
            elif isinstance(child, ast.ExceptHandler | ast.match_case):
                waiting += child.body
    return found


def _binds(node: ast.stmt, name: str) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return any((one.asname or one.name.partition(".")[0]) == name for one in node.names)
    parts = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]
    return any(
        isinstance(one, ast.Name) and one.id == name and not isinstance(one.ctx, ast.Load)
        for part in parts
        for one in ast.walk(part)
    )


def _is_global(module: Module, name: str) -> bool:
    return any(isinstance(one, ast.Global) and name in one.names for one in ast.walk(module.tree))


def changed_by_methods(node: ast.AST) -> set[str]:
    """Return the names of what methods that are called in ``node`` put something into."""
    return {
        root_of(one.func.value)
        for one in ast.walk(node)
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)
        if one.func.attr in _CHANGING
    }


def _is_changed(node: ast.AST, name: str) -> bool:
    """Whether a node puts something into what ``name`` stands for, or takes it out."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _CHANGING:
            return _begins(node.func.value, name)
        return False
    if isinstance(node, ast.AugAssign):
        return _begins(node.target, name)
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        deep = isinstance(node.value, ast.Subscript) and isinstance(_key(node), str)
        return _begins(node, name) and not deep  # one key deep inside: see `_forget`
    return False


def _key(node: ast.Subscript) -> object:
    return node.slice.value if isinstance(node.slice, ast.Constant) else None


def _begins(node: ast.expr, name: str) -> bool:
    if root_of(node) != name.partition(".")[0]:
        return False
    text = ast.unparse(node)
    return text == name or text.startswith((f"{name}[", f"{name}."))


def _forget_changed_keys(value: Value, module: Module) -> None:
    """Forget the keys that code of a module assigns to, in whatever dict."""
    changed = {
        key
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)
        for key in (_key(node),)
        if isinstance(key, str)
    }
    if changed:
        _forget(value, changed)


def _forget(value: Value | None, keys: set[str]) -> None:
    if isinstance(value, Dict):
        for one in value.values():
            _forget(one, keys)
        for name in keys if value.others is None else ():
            entry = value.entries.setdefault(name, Entry(NONE, optional=True))
            entry.value = Unknown(f"{name!r} is assigned elsewhere", entry.place)
    elif isinstance(value, List):
        _forget(value.item, keys)
