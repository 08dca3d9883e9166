"""Origins that the Python half writes down for `origin_allowed`. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fxtrio.origin import is_allowed_form

ORIGIN_REMEDY = "Write scheme, host and port, such as 'https://example.com', or [] to allow all"

_LITERALS = (ast.List, ast.Tuple, ast.Set)


def malformed_origins(module: ast.Module) -> Iterator[tuple[ast.expr, str]]:
    """Yield each literal that no Origin can equal, in calls and in the lists of the module."""
    lists: dict[str, ast.expr] = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign):
            named = [each.id for each in statement.targets if isinstance(each, ast.Name)]
            lists |= dict.fromkeys(named, statement.value)
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and _name(node.func) == "origin_allowed":
            keywords = [each.value for each in node.keywords if each.arg == "allowed_origins"]
            for given in (*node.args[1:2], *keywords):
                value = lists.get(given.id) if isinstance(given, ast.Name) else given
                for item in value.elts if isinstance(value, _LITERALS) else ():
                    text = item.value if isinstance(item, ast.Constant) else None
                    if isinstance(text, str) and not is_allowed_form(text):
                        yield item, text


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
