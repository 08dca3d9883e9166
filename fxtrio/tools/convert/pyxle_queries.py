"""Queries of pyxle-db → those of `fx.db`: placeholders, parameters, rows, transactions. Pure.

Statements that are computed are listed as left to do by hand.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fxtrio.compile.check.names.bindings import names_of
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText
from fxtrio.tools.convert.edits import Edit, extent

_METHODS = {"fetchall": "all", "fetchone": "one", "execute": "execute", "executemany": ""}
_REMEDIES = {
    "fetchall": "Write db.all(dict, sql, *params), with $1 for the first ?",
    "fetchone": "Write db.one(dict, sql, *params), with $1 for the first ?",
    "execute": "Write db.execute(sql, *params), with $1 for the first ?",
    "executemany": "Write $1 for the first ?",
}


_DRIVERS = {"sqlite3", "aiosqlite", "psycopg", "psycopg2", "asyncpg", "sqlalchemy"}


def has_queries(text: str) -> bool:
    """Whether a module speaks of pyxle-db."""
    return "pyxle_db" in text or "request.state.db" in text


def query_edits(source: SourceText, module: ast.Module) -> Iterator[Edit]:
    """Yield the edits of all queries whose statements are literals, and of transactions.

    In a module with another driver nobody can tell whose queries they are.
    """
    if names_of(module.body).bound & _DRIVERS:
        return
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _METHODS:
                yield from _query(source, node, node.func) or ()
            elif node.func.attr == "asdict" and not node.args and not node.keywords:
                start, middle = extent(source, node.func.value)
                yield Edit(start, start, "dict(")
                yield Edit(middle, extent(source, node)[1], ")")
        elif isinstance(node, ast.AsyncWith):
            yield from _transaction(source, node)


def queries_left(source: SourceText, module: ast.Module) -> Iterator[Problem]:
    """Yield the calls that are pyxle-db's still."""
    for node in ast.walk(module):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name = node.func.attr
        sql = node.args[0] if node.args else None
        is_former = name in ("fetchall", "fetchone") or (
            name in _METHODS
            and len(node.args) == 2
            and not isinstance(node.args[1], ast.Starred)
            and not (isinstance(sql, ast.Constant) and "$1" in str(sql.value))
        )
        if is_former:
            message = f"'{name}' of pyxle-db takes its parameters as a list"
            place = node.lineno, node.col_offset
            yield source.node_problem(*place, message, _REMEDIES[name])


def _query(source: SourceText, call: ast.Call, function: ast.Attribute) -> list[Edit] | None:
    """Return the edits of one query; None when it is not plain."""
    if call.keywords or not 1 <= len(call.args) <= 2:
        return None
    sql, *parameters = call.args
    if not isinstance(sql, ast.Constant) or not isinstance(sql.value, str):
        return None
    edits = _placeholders(source, sql, sql.value)
    if edits is None:
        return None
    for argument in parameters if function.attr != "executemany" else ():
        unpacked = _unpacked(source, argument)
        if unpacked is None:
            return None
        edits += unpacked
    name = _METHODS[function.attr]
    if name in ("all", "one"):
        _, start = extent(source, function.value)
        _, end = extent(source, function)
        first, _ = extent(source, sql)
        edits += [Edit(start, end, f".{name}"), Edit(first, first, "dict, ")]
    return edits


def _placeholders(source: SourceText, sql: ast.expr, value: str) -> list[Edit] | None:
    """Return the edits that number the ``?`` of a literal; None when some may be no such."""
    start, end = extent(source, sql)
    written = source.text[start:end]
    if written.count("?") != value.count("?") or _is_doubtful(value):
        return None
    edits: list[Edit] = []
    at = written.find("?")
    while at >= 0:
        edits.append(Edit(start + at, start + at + 1, f"${len(edits) + 1}"))
        at = written.find("?", at + 1)
    return edits


def _is_doubtful(sql: str) -> bool:
    """Whether a ``?`` of a statement may be in a text or a comment of it."""
    if "?" not in sql:
        return False
    quote = ""
    for char in sql:
        if quote:
            if char == "?":
                return True
            quote = "" if char == quote else quote
        elif char in "'\"`":
            quote = char
    return bool(quote) or "--" in sql or "/*" in sql


def _unpacked(source: SourceText, argument: ast.expr) -> list[Edit] | None:
    """Return the edits that make arguments of a list of parameters."""
    start, end = extent(source, argument)
    if not isinstance(argument, ast.Tuple | ast.List) or not argument.elts:
        return None if isinstance(argument, ast.Starred) else [Edit(start, start, "*")]
    first, _ = extent(source, argument.elts[0])
    _, last = extent(source, argument.elts[-1])
    opening, closing = source.text[start:first], source.text[last:end]
    if opening.strip() not in ("(", "[") or "".join(closing.split()).lstrip(",") not in (")", "]"):
        return None
    return [Edit(start, first, ""), Edit(last, end, "")]


def _transaction(source: SourceText, node: ast.AsyncWith) -> Iterator[Edit]:
    """Yield the edits of ``async with db.transaction() as tx``: what runs in it asks ``db``."""
    if len(node.items) != 1 or node.body[0].lineno == node.lineno:
        return
    [item] = node.items
    match item.context_expr, item.optional_vars:
        case (
            ast.Call(func=ast.Attribute(attr="transaction", value=database), args=[]),
            ast.Name(id=name) as bound,
        ):
            _, start = extent(source, item.context_expr)
            _, end = extent(source, bound)
            yield Edit(start, end, "")
            at = source.line_starts[node.body[0].lineno - 1]
            indent = " " * node.body[0].col_offset
            yield Edit(at, at, f"{indent}{name} = {ast.unparse(database)}\n")
