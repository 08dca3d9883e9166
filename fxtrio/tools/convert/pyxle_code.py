"""Python code of Pyxle → the same for fxtrio: edits of the code, found in its syntax tree. Pure.

Only names are replaced; code that has no counterpart is left for `fx check`, which reports it.
"""

from __future__ import annotations

import ast

import attrs

from fxtrio.compile.check import pyxle_migration
from fxtrio.compile.check.names.bindings import names_of
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText
from fxtrio.compile.split.suggestions import asyncio_uses
from fxtrio.tools.convert.edits import Edit, extent, replaced
from fxtrio.tools.convert.pyxle_queries import has_queries, queries_left, query_edits

_ON_TRIO = {
    "sleep": "trio.sleep",
    "to_thread": "trio.to_thread.run_sync",
    "Lock": "trio.Lock",
    "Condition": "trio.Condition",
    "Semaphore": "trio.Semaphore",
}
"""Functions of asyncio that do the same there, with the same arguments."""

_MODULES = {"pyxle", "pyxle.runtime", "pyxle.tasks", "pyxle.realtime"}


@attrs.define
class Rewritten:
    """The edits to one piece of Python."""

    edits: list[Edit] = attrs.field(factory=list)
    done: list[str] = attrs.field(factory=list)


def rewrite(
    source: SourceText, module: ast.Module, *, on_trio: bool, is_page: bool = False
) -> Rewritten:
    """Return the edits of a module, or of a page file.

    ``on_trio`` says that its coroutines run in the server: uses of asyncio are rewritten.
    """
    found = Rewritten()
    _imports(source, module, found)
    _cookies(source, module, found)
    if on_trio:
        _asyncio(source, module, found)
    if has_queries(source.text) and (queries := [*query_edits(source, module)]):
        found.edits += queries
        found.done.append("queries")
    if is_page:
        _envelope(source, module, found)
    return found


def _imports(source: SourceText, module: ast.Module, found: Rewritten) -> None:
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            if pyxle_migration.is_foreign(node.module):
                _import_from(source, node, found)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname and alias.name in _MODULES:
                    start, _ = extent(source, alias)
                    new = alias.name.replace("pyxle", "fx", 1)
                    found.edits.append(Edit(start, start + len(alias.name), new))
                    found.done.append(f"import {alias.name} → {new}")


def _import_from(source: SourceText, node: ast.ImportFrom, found: Rewritten) -> None:
    """Rewrite an import whose names exist here; the others stay, in an import of their own."""
    module = str(node.module)
    homes: dict[str, list[str]] = {}
    for alias in node.names:
        module_here, name = _home(module, alias.name)
        if module_here == module:
            imported = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
        elif (alias.asname or alias.name) == name:
            imported = name
        else:
            imported = f"{name} as {alias.asname or alias.name}"
        homes.setdefault(module_here, []).append(imported)
    if [*homes] == [module]:
        return
    start, _ = extent(source, node)
    before = source.text[source.line_starts[node.lineno - 1] : start]
    joint = f"\n{before}" if not before.strip() else "; "
    lines = (f"from {home} import {', '.join(names)}" for home, names in homes.items())
    found.edits.append(replaced(source, node, joint.join(lines)))
    found.done.append(f"imports of {module}")


def _home(module: str, name: str) -> tuple[str, str]:
    """Return the module and the name that stand for one of Pyxle; the same ones without any."""
    if module == "pyxle" and name in {"__version__", "runtime", "tasks", "realtime"}:
        return "fx", name
    home = pyxle_migration.same_as(module, name)
    return home if home is not None else (module, name)


def _cookies(source: SourceText, module: ast.Module, found: Rewritten) -> None:
    for node in ast.walk(module):
        match node:
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Attribute(attr="cookies", value=ast.Attribute(attr="state") as state),
                    attr="set" | "delete" as name,
                ) as function
            ):
                _, start = extent(source, state)
                _, end = extent(source, function)
                found.edits.append(Edit(start, end, f".response.{name}_cookie"))
                found.done.append("cookies of actions")


def _asyncio(source: SourceText, module: ast.Module, found: Rewritten) -> None:
    """Put trio's functions in the place of asyncio's, where each use is of such a one."""
    calls = {id(node.func): node for node in ast.walk(module) if isinstance(node, ast.Call)}
    rewritten = 0
    for node, name, _ in asyncio_uses(module):
        call = calls.get(id(node))
        if call is None or name not in _ON_TRIO or not _fits(name, call):
            continue
        found.edits.append(replaced(source, node, _ON_TRIO[name]))
        found.done.append(f"asyncio.{name} → {_ON_TRIO[name]}")
        rewritten += 1
    if rewritten:
        _import_trio(source, module, rewritten, found)


def _fits(name: str, call: ast.Call) -> bool:
    """Whether a call means the same to trio."""
    if call.keywords or any(isinstance(one, ast.Starred) for one in call.args[:1]):
        return False
    return len(call.args) == 1 if name in ("sleep", "Semaphore") else True


def _import_trio(source: SourceText, module: ast.Module, rewritten: int, found: Rewritten) -> None:
    """Import trio beside asyncio, or in its place when nothing else of it is used."""
    imports = [
        (node, alias)
        for node in ast.walk(module)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "asyncio"
    ]
    has_trio = "trio" in names_of(module.body).bound
    for node, alias in imports:
        local = alias.asname or alias.name
        uses = sum(isinstance(one, ast.Name) and one.id == local for one in ast.walk(module))
        imported = [
            f"{one.name} as {one.asname}" if one.asname else one.name
            for one in node.names
            if one is not alias or uses > rewritten
        ]
        if not has_trio:
            imported.append("trio")
        lines = "\n".join(f"import {one}" for one in imported) if imported else "pass"
        indent = " " * node.col_offset
        found.edits.append(replaced(source, node, lines.replace("\n", f"\n{indent}")))


def _envelope(source: SourceText, module: ast.Module, found: Rewritten) -> None:
    """Unwrap what the loader returns, and write the time as CACHE: where it returns once."""
    for node in module.body:
        if not isinstance(node, ast.AsyncFunctionDef):
            continue
        if not any(map(_is_server, node.decorator_list)):
            continue
        returns = [one for one in ast.walk(node) if isinstance(one, ast.Return)]
        if len(returns) != 1 or "CACHE" in names_of(module.body).bound:
            return
        match returns[0].value:
            case (
                ast.Dict(
                    keys=[ast.Constant(value="data"), ast.Constant(value="revalidate")],
                    values=[data, ast.Constant(value=int(seconds))],
                ) as whole
            ) if seconds > 0:
                start, end = extent(source, whole)
                inner = slice(*extent(source, data))
                found.edits.append(Edit(start, inner.start, ""))
                found.edits.append(Edit(inner.stop, end, ""))
                line = min(one.lineno for one in node.decorator_list)
                at = source.line_starts[line - 1]
                found.edits.append(Edit(at, at, f'CACHE = {{"revalidate": {seconds}}}\n\n\n'))
                found.done.append("revalidate → CACHE")


def _is_server(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Name) and called.id == "server"


def leftovers(source: SourceText, module: ast.Module, *, queries: bool) -> list[Problem]:
    """Return what of Pyxle is left in a module that has been rewritten, used by pages or not.

    ``queries`` says that it had some of pyxle-db.
    """
    found = [
        source.node_problem(
            alias.lineno, alias.col_offset, f"{name!r} is not a module of this framework", remedy
        )
        for alias, name, remedy in pyxle_migration.imports_of(module)
    ]
    return [*found, *(queries_left(source, module) if queries else ())]
