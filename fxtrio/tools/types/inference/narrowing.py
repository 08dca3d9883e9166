"""What a test says of a name: ``if note is None``, ``if not note.due``, ``isinstance``."""

from __future__ import annotations

import ast

from fxtrio.tools.types.inference.members import class_of, item, member
from fxtrio.tools.types.inference.scope import Scope, path_of, without
from fxtrio.tools.types.inference.values import NONE, Dict, Known, Value


def narrow(test: ast.expr, scope: Scope, *, truth: bool) -> None:
    """Take into account that ``test`` is true, or false."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        narrow(test.operand, scope, truth=not truth)
    elif isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) == truth:
            for one in test.values:
                narrow(one, scope, truth=truth)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        [operator], [other] = test.ops, test.comparators
        if isinstance(other, ast.Constant) and other.value is None:
            same = isinstance(operator, ast.Is | ast.Eq)
            if same or isinstance(operator, ast.IsNot | ast.NotEq):
                _leave_out_none(test.left, scope, is_none=same == truth)
    elif isinstance(test, ast.NamedExpr):
        narrow(test.target, scope, truth=truth)
    elif truth and path_of(test):
        _leave_out_none(test, scope, is_none=False)


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
