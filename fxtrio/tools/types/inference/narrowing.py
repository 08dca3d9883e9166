"""What a test says of a name: ``if note is None``, ``if not note.due``, ``isinstance``."""

from __future__ import annotations

import ast
import enum
import typing
from datetime import date, time, timedelta
from decimal import Decimal

from fxtrio.tools.types.inference.members import class_of, item, member
from fxtrio.tools.types.inference.scope import Scope, path_of, without
from fxtrio.tools.types.inference.values import NONE, Dict, Known, List, Tuple, Value, parts_of

_BUILT_IN = (str, int, float, complex, bytes, bytearray, list, dict, tuple, set, frozenset)
_SOLID = frozenset({*_BUILT_IN, date, time, timedelta, Decimal, BaseException})
"""Of these, and of classes with slots, no class can inherit from two that are not related."""

_NUMBERS = {float: (float, int), complex: (complex, float, int)}
"""What an annotation takes as well (PEP 484)."""

_MAY_BE_INHERITED = 1 << 10
"""Py_TPFLAGS_BASETYPE of a class's flags."""


def narrow(test: ast.expr, scope: Scope, *, truth: bool) -> bool:
    """Take into account that ``test`` is true, or false; return whether it can be."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return narrow(test.operand, scope, truth=not truth)
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) == truth:
            possible = [narrow(one, scope, truth=truth) for one in test.values]
            return all(possible)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        [operator], [other] = test.ops, test.comparators
        if isinstance(other, ast.Constant) and other.value is None:
            same = isinstance(operator, ast.Is | ast.Eq)
            if same or isinstance(operator, ast.IsNot | ast.NotEq):
                _leave_out_none(test.left, scope, is_none=same == truth)
    elif isinstance(test, ast.Call) and len(test.args) == 2 and not test.keywords:
        return _take_instances(test, scope, truth=truth)
    elif isinstance(test, ast.NamedExpr):
        return narrow(test.target, scope, truth=truth)
    elif truth and path_of(test):
        _leave_out_none(test, scope, is_none=False)
    return True


def _take_instances(test: ast.Call, scope: Scope, *, truth: bool) -> bool:
    """Take ``isinstance(value, kinds)`` into account, as `narrow` does."""
    if scope.live(test.func) is not isinstance:
        return True
    kinds = _classes(test.args[1], scope)
    path = path_of(test.args[0])
    value = _known(test.args[0], scope) if path else None
    if value is None or not kinds:
        return True
    if all(is_instance(one, kinds) == (not truth) for one in parts_of(value)):
        return False
    found = without(value, lambda one: is_instance(one, kinds) == (not truth))
    if found is not value:
        scope.names[path] = found
    return True


def _classes(node: ast.expr, scope: Scope) -> tuple[type, ...]:
    """Return the classes of the check; none when one of them is unknown."""
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    found = [scope.live(one) for one in nodes]
    return tuple(found) if all(isinstance(one, type) for one in found) else ()


def is_instance(value: Value, kinds: tuple[type, ...]) -> bool | None:
    """Whether a value is an instance; None when it may be one or not."""
    builtin = {Dict: dict, Tuple: tuple}.get(type(value))
    if isinstance(value, List):
        builtin = {"list": list, "set": set}.get(value.kind)
    kind = class_of(value.annotation)[0] if isinstance(value, Known) else builtin
    if kind is None:
        return None
    kind = dict if typing.is_typeddict(kind) else kind
    try:
        [only, *more] = {_is_subclass(one, kinds) for one in _NUMBERS.get(kind, (kind,))}
    except Exception:  # an application's class answers itself, and a Protocol may refuse to
        return None
    return None if more else only


def _is_subclass(kind: type, kinds: tuple[type, ...]) -> bool | None:
    """Whether all objects of a class are of one of ``kinds``; None when some may be."""
    if issubclass(kind, kinds):
        return True
    return False if all(_are_apart(kind, one) for one in kinds) else None


def _are_apart(one: type, other: type) -> bool:
    """Whether no class, written somewhere else, can inherit from both."""
    if issubclass(other, one):
        return False
    if _is_final(one) or _is_final(other):
        return True
    solid, its = _solid(one), _solid(other)
    return not (issubclass(solid, its) or issubclass(its, solid))


def _is_final(kind: type) -> bool:
    if isinstance(kind, enum.EnumMeta) and kind.__members__:
        return True
    return not kind.__flags__ & _MAY_BE_INHERITED or kind.__dict__.get("__final__") is True


def _solid(kind: type) -> type:
    """Return the class that says how objects of ``kind`` are laid out."""
    return next((one for one in kind.__mro__ if one in _SOLID or _has_slots(one)), object)


def _has_slots(kind: type) -> bool:
    slots = kind.__dict__.get("__slots__", ())
    named = {slots} if isinstance(slots, str) else set(slots)
    return not named <= {"__dict__", "__weakref__"}


def _leave_out_none(node: ast.expr, scope: Scope, *, is_none: bool) -> None:
    node = node.target if isinstance(node, ast.NamedExpr) else node
    path = path_of(node)
    value = _known(node, scope) if path else None
    if value is None:
        return
    found = without(value, lambda one: (one == NONE) != is_none)
    if found is not value:
        scope.names[path] = found


def _known(node: ast.expr, scope: Scope) -> Value | None:
    """Return what a path stands for; None when it begins with no name of the function."""
    found = scope.names.get(path_of(node))
    if found is not None or isinstance(node, ast.Name):
        return found
    if isinstance(node, ast.Attribute | ast.Subscript):
        owner = _known(node.value, scope)
        if owner is None:
            return None
        if isinstance(node, ast.Attribute):
            return member(owner, node.attr, scope.reader)
        if isinstance(node.slice, ast.Constant) and isinstance(owner, Known | Dict):
            kind = class_of(owner.annotation)[0] if isinstance(owner, Known) else None
            if isinstance(owner, Dict) or hasattr(kind, "__required_keys__"):
                return item(owner, node.slice.value)
    return None
