"""The Markdown files that `content.load` reads, checked as it will read them.

Code calls it only for a request, so the calls are found in the text of the modules: those whose
folder and model are written down, or are names of the module.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.util import decode_source, find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import trio

from fxtrio.compile.check.project_modules import modules_used, read_module
from fxtrio.compile.problems import Problem
from fxtrio.compile.project import CheckedProject
from fxtrio.compile.source import file_bytes
from fxtrio.compile.split.python_statements import Broken, parse_module
from fxtrio.tracebacks import is_application

_CALLED = "load"
_EXTRA = "markdown_it"
_UNKNOWN = object()


@attrs.frozen
class ImportedModule:
    """A module of the project that has been imported."""

    source: str
    """Relative to the project folder."""

    python: str
    names: Mapping[str, Any]


@attrs.frozen
class _Call:
    folder: str
    model: Any
    url: str
    place: tuple[str, int]


def reads_collections(root: Path, project: CheckedProject) -> bool:
    """Whether pages, endpoints or the modules that they use seem to call `content.load`."""
    if find_spec(_EXTRA) is None:
        return False
    trees = [parse_module(page.python) for page in project.pages]
    read = [read_module(root / api.source, root) for api in project.tree.api]
    texts = [page.python for page in project.pages]
    texts += [one[0].text for one in read if one is not None]
    trees += [one[1] for one in read if one is not None]
    used = modules_used(root, [tree for tree in trees if not isinstance(tree, Broken)])
    texts += [module.source.text for module in used.modules]
    return any("content" in text and _CALLED in text for text in texts)


def collection_problems(root: Path, pages: list[ImportedModule]) -> list[Problem]:
    """Return the mistakes of all collections that ``pages`` and what they import read."""
    if "fxtrio.collections" not in sys.modules:  # nothing has imported it, which needs an extra
        return []
    found: dict[Problem, None] = {}
    tried: set[tuple[str, int, str]] = set()
    for module in [*pages, *_imported(root)]:
        for call in _calls(module):
            key = (call.folder, id(call.model), call.url)
            if key not in tried:
                tried.add(key)
                found.update(dict.fromkeys(_problems_of(root, call)))
    return list(found)


def _imported(root: Path) -> Iterator[ImportedModule]:
    """Yield the modules of the project that pages have imported."""
    for module in list(sys.modules.values()):
        if type(module) is not ModuleType:  # any attribute of another object may be code
            continue
        file = vars(module).get("__file__")
        if type(file) is not str or not file.endswith(".py") or not is_application(file):
            continue
        path = Path(file)
        python = read_python(path) if path.is_relative_to(root) else None
        if python is not None:
            yield ImportedModule(path.relative_to(root).as_posix(), python, vars(module))


def read_python(file: Path) -> str | None:
    """Return the text of a module; None if it has changed since it was imported, to none."""
    try:
        return decode_source(file_bytes(file))
    except (OSError, SyntaxError, ValueError):
        return None


def _calls(module: ImportedModule) -> Iterator[_Call]:
    """Yield the calls of `content.load` in a module whose arguments are known."""
    from fxtrio.collections import load

    if _CALLED not in module.python:
        return
    tree = parse_module(module.python)
    if isinstance(tree, Broken):  # saved since it was imported
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or _value(node.func, module.names) is not load:
            continue
        named = {one.arg or "**": one.value for one in node.keywords}
        positional = dict(zip(("folder", "model"), node.args, strict=False))
        arguments = {
            name: _value(value, module.names) for name, value in {**positional, **named}.items()
        }
        folder, url = arguments.pop("folder", _UNKNOWN), arguments.pop("url", "")
        model = arguments.pop("model", None)
        # `isinstance` asks objects for their class, which is code of a proxy.
        is_model = model is None or issubclass(type(model), type)
        if type(folder) is type(url) is str and is_model and not arguments:
            yield _Call(folder, model, url, (module.source, node.lineno))


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """Return what a constant or a name of the module stands for. Runs no code."""
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return names.get(node.id, _UNKNOWN)
        case ast.Attribute():
            owner = _value(node.value, names)
            return vars(owner).get(node.attr, _UNKNOWN) if type(owner) is ModuleType else _UNKNOWN
        case _:
            return _UNKNOWN


def _problems_of(root: Path, call: _Call) -> list[Problem]:
    from fxtrio.collections import ContentInvalid, load

    source, line = call.place
    try:
        trio.run(partial(load, call.folder, call.model, url=call.url, root=root))
    except ContentInvalid as error:
        return [
            Problem(one.path, one.line, 1 if one.line else 0, one.cause, one.remedy)
            for one in error.problems
        ]
    except FileNotFoundError:
        remedy = "Create it, or correct the name: it is relative to the project folder"
        return [Problem(source, line, 1, f"there is no folder {call.folder!r}", remedy)]
    except (TypeError, OSError, UnicodeDecodeError) as error:  # no model, or no text
        return [Problem(source, line, 1, f"{call.folder!r} cannot be read: {error}", "Correct it")]
    return []
