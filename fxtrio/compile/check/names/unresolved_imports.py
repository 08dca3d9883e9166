"""Imports of a module that fail, as far as files tell. Called by `names`.

No code of the project is run: modules are looked for, and those of the project parsed.
"""

from __future__ import annotations

import ast
import difflib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import attrs

from fxtrio.compile.bundling.extras import install_remedy
from fxtrio.compile.check.names.bindings import names_of
from fxtrio.compile.check.pyxle_migration import is_foreign
from fxtrio.compile.split.python_statements import Broken, nodes_of, parse_module
from fxtrio.compile.split.suggestions import HOMES

_FRAMEWORK = ("fx", "fxtrio")
_FRAMEWORK_ROOT = Path(__file__).parents[4]
_PUBLIC_PARTS = frozenset({"plugins"})  # of the package fxtrio; others are its own
_MOST_LISTED = 6  # names in a remedy
_OPTIONAL = (ast.Try, ast.TryStar, ast.With, ast.If)


@attrs.frozen
class FailingImport:
    """One name that an import cannot bind."""

    name: str
    line: int
    column: int
    """From 0, in bytes, like those of `ast`."""

    message: str
    remedy: str


def failing_imports(module: ast.Module, root: Path) -> list[FailingImport]:
    """Return the imports of ``module`` that fail; ``root`` is the folder of its project.

    In doubt an import is taken to succeed. Those of Pyxle are left to `pyxle.imports_of`.
    """
    found = []
    for node in nodes_of(module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if not is_foreign(alias.name) and not _is_there(alias.name, root):
                    name = alias.asname or alias.name.partition(".")[0]
                    place = alias.lineno, alias.col_offset
                    found.append(FailingImport(name, *place, *_no_module(alias.name, root)))
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            if is_foreign(node.module):
                continue
            there = _is_there(node.module, root)
            for alias in node.names:
                known = _names_in(node.module, alias.name, root) if there else set()
                if known is None or alias.name in known:
                    continue
                failure = _no_name(node.module, alias.name, known)
                failure = failure if there else _no_module(node.module, root)
                name, place = alias.asname or alias.name, (alias.lineno, alias.col_offset)
                found.append(FailingImport(name, *place, *failure))
    return found


def missing_from_framework(module: ast.Module) -> list[FailingImport]:
    """Return the imports of ``module`` from the framework that fail, whatever happens."""
    found: list[FailingImport] = []
    for node in nodes_of(module):
        if isinstance(node, ast.Import):
            parts = [(alias, alias.name, "") for alias in node.names if "." in alias.name]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            parts = [(alias, node.module, alias.name) for alias in node.names]
        else:
            continue
        for alias, home, name in parts:
            if home.partition(".")[0] not in _FRAMEWORK or name == "*":
                continue
            known = _names_of_framework(home, name)
            if known is not None and (name not in known if name else not known):
                place = alias.lineno, alias.col_offset
                bound = alias.asname or name or "fx"
                found.append(FailingImport(bound, *place, *_no_name(home, name, {*known})))
    return [one for one in found if one.line not in _optional(module)] if found else []


def _optional(module: ast.Module) -> set[int]:
    """Return the lines of `try`, `with suppress(…)` and `if`: imports may fail in them."""
    statements = (node for node in nodes_of(module) if isinstance(node, _OPTIONAL))
    return {
        line
        for node in statements
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


@cache
def _names_of_framework(module: str, name: str) -> frozenset[str] | None:
    known = _names_in(module, name, _FRAMEWORK_ROOT)
    return None if known is None else frozenset(known)


def missing_attributes(module: ast.Module) -> Iterator[tuple[ast.Attribute, str, str]]:
    """Yield missing attributes of modules of the framework: node, problem, remedy.

    Such as ``db.all`` after ``from fx import db``, which is the module around the database.
    """
    bound: Counter[str] = Counter()
    modules: dict[str, str] = {}
    for node in nodes_of(module):
        if isinstance(node, ast.alias):
            bound[node.asname or node.name.partition(".")[0]] += 1
        elif isinstance(node, ast.arg):
            bound[node.arg] += 1
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound[node.name] += 1
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound[node.id] += 1
        if isinstance(node, ast.ImportFrom) and node.module == "fx" and node.level == 0:
            modules |= {alias.asname or alias.name: f"fx.{alias.name}" for alias in node.names}
    read = [
        (node, modules[node.value.id])
        for node in (nodes_of(module) if modules else ())
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if node.value.id in modules and bound[node.value.id] == 1
    ]
    known = {name: _names_in(name, "", _FRAMEWORK_ROOT) for _, name in read}
    for node, name in read:
        names = known[name]
        if names and node.attr not in names and not node.attr.startswith("__"):
            inner = name.rpartition(".")[2]
            own = f"Write 'from {name} import {inner}'" if inner in names else ""
            message = f"{name!r} is a module without {node.attr!r}"
            yield node, message, own or name_remedy(node.attr, names)


def _no_module(module: str, root: Path) -> tuple[str, str]:
    """Return the problem of an import of ``module``, and its remedy."""
    first = module.partition(".")[0]
    own = {file.stem for file in root.glob("*.py")}
    own |= {file.parent.name for file in root.glob("*/__init__.py")}
    near = difflib.get_close_matches(first, sorted(own), n=1)
    remedy = f"Did you mean {near[0]!r}?" if near else install_remedy(first)
    return f"there is no module {first!r}", remedy


def _no_name(module: str, name: str, known: set[str]) -> tuple[str, str]:
    framework, dot, _ = module.partition(".")
    if dot and framework in _FRAMEWORK and not known:  # every module of it has names
        own = {file.stem for file in (_FRAMEWORK_ROOT / framework).glob("[!_]*.py")}
        remedy = name_remedy(module, [f"{framework}.{one}" for one in sorted(own)])
        return f"there is no module {module!r}", remedy
    home = _home_of(name) if framework in _FRAMEWORK else ""
    remedy = f"Write 'from {home} import {name}'" if home else name_remedy(name, known)
    return f"{module!r} has no {name!r}", remedy


def _home_of(name: str) -> str:
    """Return the module with a name that the framework offers; "" for any other name."""
    modules = (f"fx.{file.stem}" for file in sorted((_FRAMEWORK_ROOT / "fx").glob("[!_]*.py")))
    homes = (module for module in modules if name in (_names_of_framework(module, "") or ()))
    part = "fx" if _is_part(_FRAMEWORK_ROOT / "fx", name) else ""
    return HOMES.get(name) or next(homes, part)


def name_remedy(name: str, known: Iterable[str]) -> str:
    """Return what to write in the place of a name that is not among those ``known``."""
    listed = sorted(one for one in known if not one.startswith("_"))
    near = difflib.get_close_matches(name, listed, n=1)
    if near:
        return f"Did you mean {near[0]!r}?"
    if not listed:
        return "Remove the import: there are no names in it"
    names = ", ".join(listed[:_MOST_LISTED]) + (", …" if len(listed) > _MOST_LISTED else "")
    return f"Import {names}" if len(listed) == 1 else f"Import one of {names}"


def _is_there(module: str, root: Path) -> bool:
    """Whether the package or module that ``module`` begins with can be found."""
    first = module.partition(".")[0]
    if (root / f"{first}.py").is_file() or (root / first).is_dir():
        return True
    try:
        return find_spec(first) is not None  # of a first part it imports nothing
    except ValueError:  # a module without a spec, such as __main__
        return True


def _names_in(module: str, name: str, root: Path) -> set[str] | None:
    """Return the names of ``module``; None when they are not known, or ``name`` is a part of it.

    So is a name such as ``__file__``, which Python gives to modules.
    Those of the framework's modules are what they offer, and not what they import themselves.
    """
    framework = module.partition(".")[0] in _FRAMEWORK
    path = (_FRAMEWORK_ROOT if framework else root).joinpath(*module.split("."))
    if _is_part(path, name) and (module != "fxtrio" or name in _PUBLIC_PARTS):
        return None
    files = (path / "__init__.py", path.with_suffix(".py"))
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        return set() if framework else None
    if name.startswith("__") and name.endswith("__"):
        return None
    try:
        parsed = parse_module(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    if isinstance(parsed, Broken):
        return None
    offered = _offered(parsed) if framework else None
    if offered is not None:
        return offered
    bound = names_of(parsed.body).bound
    return None if bound & {"*", "__getattr__"} else bound


def _is_part(package: Path, name: str) -> bool:
    return (package / f"{name}.py").is_file() or (package / name).is_dir()


def _offered(module: ast.Module) -> set[str] | None:
    """Return the names in ``__all__`` of a module; None where it is not a plain list."""
    for node in module.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            try:
                return set(ast.literal_eval(node.value))
            except ValueError:
                return None
    return None
