"""What operators make of values. Pure. Called by `expressions` and `flow_inference`."""

from __future__ import annotations

import ast
import datetime
import decimal
from typing import Any

from fxtrio.tools.types.inference.containers import merge_into
from fxtrio.tools.types.inference.members import class_of, iterated
from fxtrio.tools.types.inference.values import Dict, Known, List, Unknown, Value, either, parts_of

_NUMBERS = (int, float, bool)


def operated(left: Value, operator: ast.operator, right: Value) -> Value:
    """Return what an operator makes of two values."""
    return either(
        _operated(one, operator, other) for one in parts_of(left) for other in parts_of(right)
    )


def _operated(left: Value, operator: ast.operator, right: Value) -> Value:
    if isinstance(left, Known) and isinstance(right, Known):
        return _combined(left.annotation, operator, right.annotation)
    if left == Known(str) and isinstance(operator, ast.Mod):
        return left
    if isinstance(operator, ast.Add) and (isinstance(left, List) or isinstance(right, List)):
        return List(either([iterated(left), iterated(right)])) if _full(left, right) else left
    if isinstance(operator, ast.BitOr) and isinstance(left, Dict) and isinstance(right, Dict):
        merged = Dict(dict(left.entries), left.place, left.spoiled, others=left.others)
        merge_into(merged, right)
        return merged
    if isinstance(operator, ast.Mult) and isinstance(left, List) and right == Known(int):
        return left
    for one in (left, right):
        if isinstance(one, Unknown):
            return one
    return Unknown("the result of the operator is unknown")


def _full(left: Value, right: Value) -> bool:
    return not (isinstance(right, List) and right.item is None)


def _combined(left: Any, operator: ast.operator, right: Any) -> Value:
    if left in _NUMBERS and right in _NUMBERS:
        if isinstance(operator, ast.Div) or float in (left, right):
            return Known(float)
        if left is right is bool and isinstance(operator, ast.BitOr | ast.BitAnd | ast.BitXor):
            return Known(bool)
        return Known(float if isinstance(operator, ast.Pow) else int)
    if left is str and isinstance(operator, ast.Mod):
        return Known(str)
    if isinstance(operator, ast.Mult) and (left, right) in ((str, int), (int, str)):
        return Known(str)
    if decimal.Decimal in (left, right) and {left, right} <= {decimal.Decimal, int, bool}:
        return Known(decimal.Decimal)
    moments = (datetime.datetime, datetime.date)
    shifts = isinstance(operator, ast.Add | ast.Sub) and right is datetime.timedelta
    if shifts and left in (*moments, datetime.timedelta):
        return Known(left)
    if isinstance(operator, ast.Sub) and left is right and left in moments:
        return Known(datetime.timedelta)
    if left == right and isinstance(operator, ast.Add) and left in (str, bytes):
        return Known(left)
    if left == right and isinstance(operator, ast.Add | ast.BitOr | ast.BitAnd):
        kind = class_of(left)[0]
        if kind in (list, dict, set, frozenset):
            return Known(left)
    return Unknown("the result of the operator is unknown")
