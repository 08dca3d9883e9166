"""Values that can be read from code without running it. Pure. Called by `python_declarations`."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

import attrs

from fxtrio.compile.source import SourceText
from fxtrio.errors import Signal
from fxtrio.manifest import ScriptsMode

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}


class NotConstant(Signal):
    """An expression whose value is only known when the code runs."""


@attrs.frozen
class Text:
    """A string of the code and the expression it comes from."""

    value: str
    node: ast.expr

    def place(self, source: SourceText, line: int, column: int) -> tuple[int, int]:
        """Return where a place in the text (both 1-based) is in the file.

        Strings with escapes or in several pieces have but one place, their start.
        """
        node = self.node
        start = source.offset_of(node.lineno, node.col_offset)
        end = source.offset_of(node.end_lineno or node.lineno, node.end_col_offset or 0)
        for opening, closing in (("'''", "'''"), ('"""', '"""'), ("'", "'"), ('"', '"')):
            at = source.text.find(opening, start, start + 5)
            if at >= 0 and source.text[at + len(opening) : end - len(closing)] == self.value:
                lines = self.value.split("\n")[: line - 1]
                offset = at + len(opening) + sum(len(text) + 1 for text in lines) + column - 1
                return source.place_of(offset)
        return source.place_of(start)


def constant(node: ast.expr) -> Any:
    """Return the value of literals, and of sums and products of them. Raises NotConstant."""
    try:
        return _value(node)
    except (RecursionError, ArithmeticError, TypeError, ValueError) as error:
        raise NotConstant from error


def texts(node: ast.expr) -> list[Text]:
    """Return the strings of a str or a list or tuple of str. Raises NotConstant."""
    if isinstance(node, ast.List | ast.Tuple):
        parts = [(constant(element), element) for element in node.elts]
    else:
        value = constant(node)
        each = value if isinstance(value, list | tuple) else [value]
        parts = [(text, node) for text in each]
    if not all(isinstance(value, str) for value, _ in parts):
        raise NotConstant
    return [Text(value, element) for value, element in parts]


def seconds(node: ast.expr) -> float | None:
    """Return the ``revalidate`` of a ``CACHE`` value; None when it has none above 0."""
    try:
        value = constant(node)
        if not isinstance(value, dict) or set(value) != {"revalidate"}:
            return None
        number = value["revalidate"]
        if isinstance(number, bool) or not isinstance(number, int | float):
            return None
        return float(number) if number > 0 and math.isfinite(number) else None
    except (NotConstant, OverflowError):
        return None


def flag(node: ast.expr) -> bool | None:
    """Return True or False; None for anything else."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, bool) else None


def says_static(module: str) -> bool:
    """Return whether the code of a module has ``STATIC = True``; not if it cannot be parsed."""
    try:
        statements = ast.parse(module).body
    except (SyntaxError, ValueError):  # whoever imports the module reports it
        return False
    for node in statements:
        match node:
            case (
                ast.Assign(targets=[ast.Name("STATIC")], value=value)
                | ast.AnnAssign(target=ast.Name("STATIC"), value=ast.expr() as value)
            ):
                return flag(value) is True
    return False


def scripts_mode(node: ast.expr) -> ScriptsMode | None:
    """Return a value of ``SCRIPTS``; None for anything else."""
    value = node.value if isinstance(node, ast.Constant) else None
    modes: tuple[ScriptsMode, ...] = ("auto", "none", "always")
    return next((mode for mode in modes if mode == value), None)


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_value(part) for part in node.values)
    if isinstance(node, ast.List):
        return [_value(element) for element in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple(_value(element) for element in node.elts)
    if isinstance(node, ast.Dict) and None not in node.keys:
        keys = [_value(key) for key in node.keys if key is not None]
        return dict(zip(keys, map(_value, node.values), strict=True))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(_value(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        left, right = _value(node.left), _value(node.right)
        if not (isinstance(node.op, ast.Add) and isinstance(left, str | list | tuple)):
            _number(left), _number(right)  # a product with a str could be of any size
        return _ARITHMETIC[type(node.op)](left, right)
    raise NotConstant


def _number(value: Any) -> Any:
    if not isinstance(value, int | float):
        raise NotConstant
    return value
