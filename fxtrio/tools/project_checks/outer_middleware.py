"""Middleware that `app.py` puts around the app: it is not there when pages become files.

`fx export` and the static pages of `fx build` have only the middleware of the settings and of
plugins. The code of `app.py` is read, and not run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.problems import Problem, of_kind
from fxtrio.compile.source import read_text

_FILE = "app.py"
_REMEDY = "Name it in 'middleware' of fx.config.json, which acts on these pages as well"


def outer_middleware(root: Path, *, of: str) -> list[Problem]:
    """Return a warning for each middleware around the app; ``of`` are the pages that miss it."""
    try:
        text = (root / _FILE).read_text("utf-8")
        tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError):  # without one, or with one that other checks refuse
        return []
    source = read_text(text, _FILE)
    found = [
        source.node_problem(
            place.lineno,
            place.col_offset,
            f"{name:.60} is around the app, so {of} are rendered without it",
            _REMEDY,
        )
        for name, place in _middleware(tree)
    ]
    return of_kind(FindingKind.AROUND, found)


def _middleware(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names of middleware in the statements of the module, each with its place."""
    apps: set[str] = set()
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                inner = [*call.args, *(one.value for one in call.keywords)]
                if any(_is_app(one, apps) for one in inner):
                    yield ast.unparse(call.func), call
                elif not _makes_app(call):
                    continue
                apps.add(name)
            case ast.Expr(value=ast.Call(func=ast.Attribute() as called, args=[first, *_])):
                if called.attr == "add_middleware" and _is_app(called.value, apps):
                    yield ast.unparse(first), first


def _is_app(value: ast.expr, apps: set[str]) -> bool:
    if isinstance(value, ast.Name):
        return value.id in apps
    return isinstance(value, ast.Call) and _makes_app(value)


def _makes_app(call: ast.Call) -> bool:
    return ast.unparse(call.func).rpartition(".")[2] == "create_app"
