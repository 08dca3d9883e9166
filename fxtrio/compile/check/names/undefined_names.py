"""Names that nothing defines, found by pyflakes, and imports that do nothing here.

Called by `project`.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from pyflakes import messages
from pyflakes.checker import Checker

from fxtrio.compile.check import pyxle_migration
from fxtrio.compile.check.names.bindings import names_of
from fxtrio.compile.check.names.unresolved_imports import (
    FailingImport,
    failing_imports,
    missing_attributes,
    missing_from_framework,
)
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText
from fxtrio.compile.split.python_statements import nodes_of
from fxtrio.compile.split.suggestions import HOMES, asyncio_uses, import_remedy, undefined_remedy

_MOST_GUESSES = 50  # names for which a similar one is looked for: 0.2 ms each
_WORD = re.compile(r"\w+")
_UNDEFINED = (messages.UndefinedName, messages.UndefinedLocal, messages.UndefinedExport)

_ROUTER = "Write an endpoint below pages/api, or mount the FastAPI app with Mount in app.py"
_QUERY = "Read request.query_params"
_BODY = "Give the parameter of the @action a model as its type"

FASTAPI_NAMES: dict[str, str] = {
    "FastAPI": _ROUTER,
    "APIRouter": _ROUTER,
    "Depends": "Call the function, or set request.state in a route hook",
    "Security": "Set request.state in a route hook, or use the auth plugin",
    "BackgroundTasks": "Call request.state.background.add_task(…), or enqueue(…) of fx.tasks",
    "Query": _QUERY,
    "Path": "Read request.path_params",
    "Header": "Read request.headers",
    "Cookie": "Read request.cookies",
    "Body": _BODY,
    "Form": _BODY,
    "File": "Give the parameter of the @action a model with a field of UploadFile",
}
"""Names of FastAPI that do nothing in a page file → what to do about it, without a full stop.

The table for people is in ``docs/guides/from-fastapi.md``; a test compares the two. What Starlette
has under the same name, such as ``HTTPException``, works.
"""


def undefined_names(
    source: SourceText, module: ast.Module, injected: Iterable[str], root: Path | None = None
) -> list[Problem]:
    """Return a problem for every use of a name in ``module`` that nothing defines.

    ``module`` is the Python of ``source``; ``injected`` names are defined from the start.
    ``root`` is the project folder: imports that fail there are reported with them, and their
    names are not offered. (Of a file without undefined names, only those of the framework are
    looked at: importing it tells of others.)
    """
    try:
        undefined = _undefined(source, module, injected)
    except RecursionError:
        deepest = "Split the largest expression into several statements"
        return [source.problem(0, "the Python is nested too deeply to be checked", deepest)]
    if root is None or not undefined:
        failing = missing_from_framework(module)
    else:
        failing = failing_imports(module, root)
    if not undefined:
        return _failing(source, failing)
    mistaken = {one.name for one in failing}
    known = sorted((names_of(module.body).bound - mistaken) | set(dir(builtins)))
    names = list(dict.fromkeys(name for _, name in undefined))
    remedies = {name: undefined_remedy(name, known) for name in names[:_MOST_GUESSES]}
    return _failing(source, failing) + [
        source.node_problem(
            message.lineno,
            message.col,
            f"undefined name {name!r}",
            remedies.get(name, "Define or import it"),
        )
        for message, name in undefined
    ]


def _failing(source: SourceText, imports: Iterable[FailingImport]) -> list[Problem]:
    return [source.node_problem(one.line, one.column, one.message, one.remedy) for one in imports]


def missing_imports(source: SourceText, module: ast.Module) -> list[Problem]:
    """Return a problem for every name of the framework that a module uses and nothing defines,
    and for what modules of the framework do not have.

    Page files have some of them without an import, so that they are easily forgotten elsewhere.
    """
    try:
        undefined = _undefined(source, module, ())
    except RecursionError:
        return []
    problems = [
        source.node_problem(
            message.lineno, message.col, f"undefined name {name!r}", import_remedy(name)
        )
        for message, name in undefined
        if name in HOMES
    ]
    failing = _failing(source, missing_from_framework(module))
    return [*failing, *problems, *unknown_attributes(source, module)]


def unknown_attributes(source: SourceText, module: ast.Module) -> list[Problem]:
    """Return a problem for every use of what a module of the framework does not have."""
    return [
        source.node_problem(node.lineno, node.col_offset, message, remedy)
        for node, message, remedy in missing_attributes(module)
    ]


def _undefined(
    source: SourceText, module: ast.Module, injected: Iterable[str]
) -> list[tuple[messages.Message, str]]:
    """Return what pyflakes says of names that nothing defines. Raises RecursionError."""
    first = _WithFewBuiltins(source, module, injected)
    if not any(isinstance(message, _UNDEFINED) for message in first.messages):
        return []
    # Names may be written in other ways, such as with characters that Python takes for letters.
    checker = Checker(module, source.path, builtins=set(injected), withDoctest=False)
    return [
        (message, _name_in(message.message_args))
        for message in checker.messages
        if isinstance(message, _UNDEFINED)
    ]


def _name_in(arguments: tuple[object, ...] | str) -> str:
    """Return the name that a message is about; its arguments are a str for some builtins."""
    return arguments if isinstance(arguments, str) else str(arguments[0])


class _WithFewBuiltins(Checker):  # type: ignore[misc]  # it has no types
    """Knows those builtins alone that are words of the text.

    Each module has its own 160 bindings of all of them, which take three quarters of the time of
    a short one. Fewer can only make more names undefined.
    """

    def __init__(self, source: SourceText, module: ast.Module, injected: Iterable[str]) -> None:
        self._words = frozenset(_WORD.findall(source.text))
        super().__init__(module, source.path, builtins=set(injected), withDoctest=False)

    @property
    def builtIns(self) -> frozenset[str]:
        return self._builtins

    @builtIns.setter
    def builtIns(self, names: frozenset[str]) -> None:
        self._builtins = names & self._words


def foreign_calls(source: SourceText, module: ast.Module) -> list[Problem]:
    """Return a problem for every use of asyncio that fails on trio."""
    return [
        source.node_problem(
            node.lineno,
            node.col_offset,
            f"'asyncio.{name}' does not work here: the server runs on trio",
            f"Write {instead}",
        )
        for node, name, instead in asyncio_uses(module)
    ]


def foreign_imports(source: SourceText, module: ast.Module) -> list[Problem]:
    """Return a problem for every import of another framework, installed or not."""
    problems = [
        *(
            (alias, f"{name!r} is not a module of this framework", remedy)
            for alias, name, remedy in pyxle_migration.imports_of(module)
        ),
        *(
            (alias, f"FastAPI's {name!r} does nothing here", remedy)
            for alias, name, remedy in _fastapi_imports(module)
        ),
    ]
    return [
        source.node_problem(alias.lineno, alias.col_offset, message, remedy)
        for alias, message, remedy in problems
    ]


def _fastapi_imports(module: ast.Module) -> Iterator[tuple[ast.alias, str, str]]:
    """Yield each import from FastAPI that does nothing: where, the name, what to do about it."""
    for node in nodes_of(module):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "fastapi":
            for alias in node.names:
                if alias.name in FASTAPI_NAMES:
                    yield alias, alias.name, FASTAPI_NAMES[alias.name]
