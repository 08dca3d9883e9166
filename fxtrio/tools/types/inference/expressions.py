"""The values of expressions. Called by `flow_inference`, and for names of modules."""

from __future__ import annotations

import ast
import datetime
import decimal
import enum
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

from fxtrio.tools.types.inference.assignment import bind
from fxtrio.tools.types.inference.call_inference import call, maker
from fxtrio.tools.types.inference.containers import add_to, merge_into
from fxtrio.tools.types.inference.members import (
    annotation_in,
    awaited,
    class_of,
    item,
    iterated,
    known,
    member,
)
from fxtrio.tools.types.inference.module_values import changed_by_methods
from fxtrio.tools.types.inference.narrowing import narrow
from fxtrio.tools.types.inference.operators import operated
from fxtrio.tools.types.inference.scope import (
    SPREAD,
    SPREAD_NAMES,
    Arguments,
    Scope,
    constant_of,
    fixed_of,
    located,
    path_of,
    without,
)
from fxtrio.tools.types.inference.values import (
    NONE,
    Dict,
    Entry,
    Known,
    List,
    Live,
    Tuple,
    Value,
    alike,
    either,
    fork,
    is_whole,
    join,
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
    # A computed key may be one of the constant ones, which then has another value.
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


def value_of(node: ast.expr, scope: Scope) -> Value:
    """Return the inferred value of an expression."""
    read = _READERS.get(type(node))
    return scope.unknown(node, "it is not read") if read is None else read(node, scope)


def _constant(node: ast.Constant, scope: Scope) -> Value:
    return Known(type(node.value))


def _text(node: ast.JoinedStr, scope: Scope) -> Value:
    return Known(str)


def _name(node: ast.Name, scope: Scope) -> Value:
    found = scope.names.get(node.id)
    if found is not None:
        return found
    if node.id in scope.local:
        return scope.unknown(node, f"the value of {node.id!r} is unknown here")
    return _of_live(node, scope)


def _of_live(node: ast.Name | ast.Attribute, scope: Scope) -> Value:
    live = scope.live(node)
    if live is None:
        return _of_module(node, scope)
    if isinstance(live, type | types.ModuleType) or inspect.isroutine(live):
        return Live(live)
    if isinstance(live, enum.Enum):
        return Known(type(live))
    if hasattr(live, "__origin__") or isinstance(live, types.UnionType):  # list[Note]
        return Live(live)
    return _of_module(node, scope)


def _of_module(node: ast.Name | ast.Attribute, scope: Scope) -> Value:
    return scope.reader.named(node, scope)


def _attribute(node: ast.Attribute, scope: Scope) -> Value:
    narrowed = scope.names.get(path_of(node))
    if narrowed is not None:
        return narrowed
    if scope.live(node) is not None:
        return _of_live(node, scope)
    owner = value_of(node.value, scope)
    if isinstance(owner, Live):
        if isinstance(owner.value, types.ModuleType):
            return _of_module(node, scope)
        return scope.unknown(node, f"the type of '.{node.attr}' is unknown")
    return located(member(owner, node.attr, scope.reader), node, scope)


def _subscript(node: ast.Subscript, scope: Scope) -> Value:
    narrowed = scope.names.get(path_of(node))
    if narrowed is not None:
        return narrowed
    owner = value_of(node.value, scope)
    if isinstance(node.slice, ast.Slice):
        return located(item(owner, None, is_slice=True), node, scope)
    key = constant_of(node.slice)
    if key is None:
        value_of(node.slice, scope)  # which may bind a name
    return located(item(owner, key), node, scope)


def _await(node: ast.Await, scope: Scope) -> Value:
    return located(awaited(value_of(node.value, scope)), node, scope)


def _conditional(node: ast.IfExp, scope: Scope) -> Value:
    value_of(node.test, scope)
    before = scope.names
    values, ways = [], []
    for truth, one in ((True, node.body), (False, node.orelse)):
        scope.names = fork(before)
        narrow(node.test, scope, truth=truth)
        values.append(value_of(one, scope))
        ways.append(scope.names)
    scope.names = join([before, *ways]) if _binds(node) else before
    return either(values)


def _binds(node: ast.AST) -> bool:
    return any(isinstance(one, ast.NamedExpr) for one in ast.walk(node))


def _logical(node: ast.BoolOp, scope: Scope) -> Value:
    goes_on = isinstance(node.op, ast.And)
    inner = scope.inner()
    values, ways = [], []
    for one in node.values[:-1]:
        value = value_of(one, inner)
        values.append(without(value, never_true if not goes_on else never_false))
        ways.append(dict(inner.names))
        narrow(one, inner, truth=goes_on)
    last = value_of(node.values[-1], inner)
    # It may end at each operand: a name that it binds stays, and nothing that it narrows does.
    if _binds(node):
        scope.names = join([*ways, inner.names])
    earlier = [
        one for one in values if not all(map(never_false if goes_on else never_true, parts_of(one)))
    ]
    return either([*earlier, last])


def never_true(value: Value) -> bool:
    """Whether a value is always taken for false."""
    return value == NONE


def never_false(value: Value) -> bool:
    """Whether a value is always taken for true."""
    if not isinstance(value, Known):
        return isinstance(value, Live) or (isinstance(value, Dict) and _has_key(value))
    kind, _ = class_of(value.annotation)
    if kind is None or kind.__module__ == "builtins":
        return False
    return not hasattr(kind, "__bool__") and not hasattr(kind, "__len__")


def _has_key(value: Dict) -> bool:
    return any(not entry.optional for entry in value.entries.values()) and value.spoiled is None


def _comparison(node: ast.Compare, scope: Scope) -> Value:
    for one in (node.left, *node.comparators):
        value_of(one, scope)
    return Known(bool)


def _unary(node: ast.UnaryOp, scope: Scope) -> Value:
    value = value_of(node.operand, scope)
    if isinstance(node.op, ast.Not):
        return Known(bool)
    if value == Known(bool):
        return Known(int)
    sure = value in (Known(int), Known(float), Known(decimal.Decimal), Known(datetime.timedelta))
    return value if sure else scope.unknown(node, "the type of the number is unknown")


def _binary(node: ast.BinOp, scope: Scope) -> Value:
    left, right = value_of(node.left, scope), value_of(node.right, scope)
    return located(operated(left, node.op, right), node, scope)


def _walrus(node: ast.NamedExpr, scope: Scope) -> Value:
    value = value_of(node.value, scope)
    bind(node.target, value, scope)
    return value


def _call(node: ast.Call, scope: Scope) -> Value:
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        owner = value_of(node.func.value, scope)
        key = constant_of(node.args[0])
        if isinstance(owner, Dict) and isinstance(key, str) and owner.spoiled is None:
            return _gotten(owner, key, node, scope)
    if isinstance(node.func, ast.Attribute):
        kind = scope.live(node.func.value)
        found = maker(kind, node.func.attr) if isinstance(kind, type) else None
        if found is not None:
            return found
    if _is_cast(node, scope) and scope.module is not None:
        target = annotation_in(scope.namespace["__name__"], _annotation_text(node.args[0]))
        return known(target)
    function = value_of(node.func, scope)
    value = either(call(one, _arguments(node, scope), scope.reader) for one in parts_of(function))
    return located(value, node, scope)


def _annotation_text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ast.unparse(node)


def _is_cast(node: ast.Call, scope: Scope) -> bool:
    live = scope.live(node.func)
    name = getattr(live, "__module__", ""), getattr(live, "__name__", "")
    return name == ("typing", "cast") and len(node.args) == 2


def _gotten(owner: Dict, key: str, node: ast.Call, scope: Scope) -> Value:
    default = value_of(node.args[1], scope) if len(node.args) > 1 else NONE
    entry = owner.entries.get(key)
    if entry is None:
        return default if owner.others is None else either([owner.others, default])
    return either([entry.value, default]) if entry.optional else entry.value


def _arguments(node: ast.Call, scope: Scope) -> Arguments:
    positional: list[Value] = []
    named: dict[str, Value] = {}
    for one in node.args:
        value = value_of(one.value if isinstance(one, ast.Starred) else one, scope)
        if isinstance(one, ast.Starred) and isinstance(value, Tuple):
            positional += value.items
        elif isinstance(one, ast.Starred) or SPREAD in named:
            added = iterated(value) if isinstance(one, ast.Starred) else value
            named[SPREAD] = either([added, *([named[SPREAD]] if SPREAD in named else [])])
        else:
            positional.append(value)
    for keyword in node.keywords:
        value = value_of(keyword.value, scope)
        if keyword.arg is not None:
            named[keyword.arg] = value
        elif is_whole(value):
            named.update((name, entry.value) for name, entry in value.entries.items())
        else:
            named[SPREAD_NAMES] = value
    return positional, named


def _yield(node: ast.Yield, scope: Scope) -> Value:
    value = NONE if node.value is None else value_of(node.value, scope)
    scope.yielded.append(fork({"it": value})["it"])
    return scope.unknown(node, "it is sent to the generator")


def _yield_from(node: ast.YieldFrom, scope: Scope) -> Value:
    scope.yielded.append(iterated(value_of(node.value, scope)))
    return scope.unknown(node, "it is the result of another generator")


def _lambda(node: ast.Lambda, scope: Scope) -> Value:
    for name in changed_by_methods(node):
        found = scope.names.get(name)
        if found is not None:
            spoil(found, scope.unknown(node, f"{name} is changed by a function inside"))
    return scope.unknown(node, "it is a function")


_READERS: Mapping[type, Callable[[Any, Scope], Value]] = {
    ast.Constant: _constant,
    ast.JoinedStr: _text,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Dict: read_dict,
    ast.List: read_list,
    ast.Set: read_list,
    ast.Tuple: read_tuple,
    ast.ListComp: read_comprehension,
    ast.SetComp: read_comprehension,
    ast.GeneratorExp: read_comprehension,
    ast.DictComp: read_dict_comprehension,
    ast.Await: _await,
    ast.IfExp: _conditional,
    ast.BoolOp: _logical,
    ast.Compare: _comparison,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.NamedExpr: _walrus,
    ast.Call: _call,
    ast.Lambda: _lambda,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
}
