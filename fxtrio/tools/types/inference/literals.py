"""Dicts, lists, tuples and comprehensions, as they are written. Called by `expressions`."""

from __future__ import annotations

import ast
import enum

from fxtrio.tools.types.inference.assignment import bind
from fxtrio.tools.types.inference.containers import add_to, merge_into
from fxtrio.tools.types.inference.members import class_of, iterated, known
from fxtrio.tools.types.inference.narrowing import narrow
from fxtrio.tools.types.inference.scope import Scope, fixed_of, located
from fxtrio.tools.types.inference.values import (
    Dict,
    Entry,
    Known,
    List,
    Live,
    Tuple,
    Value,
    alike,
    parts_of,
    spoil,
)
from fxtrio.tools.types.python.classes import class_keys


def read_dict(node: ast.Dict, scope: Scope) -> Value:
    """Return a dict; of one whose keys are not known, what its values are."""
    literal = Dict({}, scope.place(node))
    others: list[Value] = []
    for key, value_node in zip(node.keys, node.values, strict=True):
        value = scope.reader.evaluate(value_node, scope)
        if key is None:
            _merge_one_of(literal, parts_of(value))
        elif isinstance(key, ast.Constant) and isinstance(key.value, str):
            fixed = fixed_of(value_node)
            literal.entries[key.value] = Entry(value, place=scope.place(key), fixed=fixed)
        else:
            scope.reader.evaluate(key, scope)
            others.append(value)
    if not others:
        return literal
    if literal.entries or literal.others is not None:
        spoil(literal, scope.unknown(node, "its keys are unknown"))
    literal.others = alike(others)
    return literal


def _merge_one_of(literal: Dict, parts: tuple[Value, ...]) -> None:
    """Add the keys of one of several dicts: of each it is not known whether they are there."""
    dicts = [_typed_dict(one) if isinstance(one, Known) else one for one in parts]
    if len(dicts) > 1:
        for one in dicts:
            if isinstance(one, Dict):
                optional = {
                    key: Entry(entry.value, optional=True, place=entry.place)
                    for key, entry in one.entries.items()
                }
                merge_into(literal, Dict(optional, spoiled=one.spoiled))
            else:
                merge_into(literal, one)
    else:
        merge_into(literal, dicts[0])


def _typed_dict(value: Known) -> Value:
    kind, _ = class_of(value.annotation)
    keys = class_keys(kind) if kind is not None and hasattr(kind, "__required_keys__") else None
    if keys is None:
        return value
    return Dict({key.name: Entry(known(key.annotation), key.optional) for key in keys})


def read_list(node: ast.List | ast.Set, scope: Scope) -> Value:
    """Return a list or set."""
    literal = List(None, "set" if isinstance(node, ast.Set) else "list")
    for one in node.elts:
        starred = isinstance(one, ast.Starred)
        value = scope.reader.evaluate(one.value if isinstance(one, ast.Starred) else one, scope)
        add_to(literal, iterated(value) if starred else value)
    return literal


def read_tuple(node: ast.Tuple, scope: Scope) -> Value:
    """Return a tuple."""
    if any(isinstance(one, ast.Starred) for one in node.elts):
        return scope.unknown(node, "the length of the tuple is unknown")
    return Tuple(tuple(scope.reader.evaluate(one, scope) for one in node.elts))


def read_comprehension(node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope) -> Value:
    """Return the list, set or generator of a comprehension."""
    return List(scope.reader.evaluate(node.elt, _generated(node.generators, scope)))


def read_dict_comprehension(node: ast.DictComp, scope: Scope) -> Value:
    """Return the dict of a comprehension."""
    inner = _generated(node.generators, scope)
    inner.reader.evaluate(node.key, inner)
    value = inner.reader.evaluate(node.value, inner)
    return Dict({}, scope.place(node), others=value)


def _generated(generators: list[ast.comprehension], scope: Scope) -> Scope:
    inner = scope.inner()
    for one in generators:
        bind(
            one.target,
            located(_items(inner.reader.evaluate(one.iter, inner)), one.iter, inner),
            inner,
        )
        for test in one.ifs:
            inner.reader.evaluate(test, inner)
            narrow(test, inner, truth=True)
    return inner


def _items(value: Value) -> Value:
    if isinstance(value, Live) and isinstance(value.value, enum.EnumMeta):
        return Known(value.value)
    return iterated(value)
