"""Whether Python code still means what it did before it was formatted. Pure."""

from __future__ import annotations

import ast
import inspect

from fxtrio.compile.split.python_statements import Broken, parse_module


def same_python(before: str, after: str) -> bool:
    """Whether two texts are the same program; docstrings may be indented in another way.

    False when one of them does not parse.
    """
    one, other = parse_module(before), parse_module(after)
    if isinstance(one, Broken) or isinstance(other, Broken):
        return False
    return ast.dump(_Plain().visit(one)) == ast.dump(_Plain().visit(other))


class _Plain(ast.NodeTransformer):
    """Takes away what formatters may change."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Take the indentation out of a string that stands for itself."""
        value = node.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            lines = inspect.cleandoc(value.value).split("\n")
            return ast.Expr(ast.Constant("\n".join(line.rstrip() for line in lines).strip()))
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Take away the prefix of ``u"text"``."""
        return ast.Constant(node.value)

    def visit_Delete(self, node: ast.Delete) -> ast.AST:
        """Take away the parentheses of ``del (a, b)``."""
        targets: list[ast.expr] = []
        for target in node.targets:
            inner = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
            targets += inner or [target]
        return self.generic_visit(ast.Delete(targets))
