"""The files of the pages folder, imported the way the app imports them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from starlette.endpoints import HTTPEndpoint

from fxtrio.cli.import_check.collection_checks import (
    ImportedModule,
    collection_problems,
    read_python,
)
from fxtrio.cli.import_check.importer import Attempts, explain
from fxtrio.cli.import_check.messages import Order, Page
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import read_text
from fxtrio.compile.split.python_statements import Broken, parse_module
from fxtrio.errors import FxtrioError
from fxtrio.imports import Imports
from fxtrio.manifest import PageModule
from fxtrio.routes.suffixes import MARKDOWN_SUFFIX
from fxtrio.serve.pages.functions.endpoint_code import METHODS, endpoint_code
from fxtrio.serve.pages.functions.server_functions import PageCodeInvalid, page_code


def try_files(order: Order, attempts: Attempts, *, largest_body: int) -> list[Problem]:
    """Import all files of ``order``, and return the problems of their definitions.

    What the imports raise is left with ``attempts``.
    """
    imports = Imports(Path(order.root), Path(order.root))
    problems: list[Problem] = []
    imported: list[ImportedModule] = []
    for page in order.pages:
        source = page.module.source
        text = page.python.encode()
        load = partial(_page_names, imports, page.module, text, problems)
        names = attempts.run(source, load)
        if names is not None:
            problems += _action_problems(page, names, largest_body)
            imported.append(ImportedModule(source, page.python, names))
    for source in order.endpoints:
        names = attempts.run(source, partial(imports.file, source))
        if names is not None:
            problems += _endpoint_problems(source, names)
            python = read_python(Path(order.root) / source)
            imported += [] if python is None else [ImportedModule(source, python, names)]
    for module in order.actions:
        names = attempts.run(module.source, partial(imports.file, module.source))
        if names is not None:
            python = read_python(Path(order.root) / module.source) or ""
            entry = PageModule(source=module.source, actions=module.actions)
            problems += _action_problems(Page(module=entry, python=python), names, largest_body)
    for source in order.hooks:
        attempts.run(source, partial(imports.file, source))
    return [*problems, *collection_problems(Path(order.root), imported)]


def _page_names(
    imports: Imports, module: PageModule, text: bytes, problems: list[Problem]
) -> Mapping[str, Any] | None:
    """Return the names of a page; None for one in Markdown whose front matter is wrong."""
    try:
        return imports.page(module, text)
    except FxtrioError as error:
        is_own = module.source.endswith(MARKDOWN_SUFFIX)
        # By its name: `fxtrio.collections` needs an extra, which only such a page has imported.
        if not (is_own and type(error).__name__ == "ContentInvalid"):
            raise
        faults: tuple[Any, ...] = vars(error)["problems"]
        own = [one for one in faults if one.line]
        problems += [Problem(module.source, one.line, 1, one.cause, one.remedy) for one in own]
        if len(own) < len(faults):
            raise
        return None


def _action_problems(page: Page, names: Mapping[str, Any], most: int) -> list[Problem]:
    """Return the problems of the body parameters of a page's actions."""
    problems = []
    for name in page.module.actions:
        module = replace(page.module, actions=(name,))
        try:
            page_code(module, names, loader_timeout=1.0, action_timeout=1.0, largest_body=most)
        except PageCodeInvalid as error:
            remedy = error.remedy or "Define or import it"
            problems.append(_at_body(page, name, error.cause, remedy))
        except Exception as error:  # annotations are application code
            message = f"its annotation cannot be read: {explain(error)[0]}"
            problems.append(_at_body(page, name, message, "Name a class that the file defines"))
    return problems


def _at_body(page: Page, action: str, message: str, remedy: str) -> Problem:
    """Return a problem at the parameter after the request."""
    source = read_text(page.python, page.module.source)
    message = f"{action}(): {message}"
    tree = parse_module(page.python)
    for node in [] if isinstance(tree, Broken) else tree.body:
        if isinstance(node, ast.AsyncFunctionDef) and node.name == action:
            parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            at = parameters[1] if len(parameters) > 1 else node
            return source.node_problem(at.lineno, at.col_offset, message, remedy)
    return source.problem(0, message, remedy)  # created by code, or saved since


def _endpoint_problems(source: str, names: Mapping[str, Any]) -> list[Problem]:
    """Return what keeps a file of an `api` folder from answering."""
    try:
        code = endpoint_code(source, names)
    except PageCodeInvalid as error:
        return [Problem(source, 1, 1, error.cause, error.remedy)]
    if not code.functions and not callable(code.websocket):
        written = next((name for name in names if name.lower() in (*METHODS, "endpoint")), "")
        remedy = f"Write 'async def {written.lower() or 'get'}(request)'"
        in_place = f", in place of {written!r}" if written else ""
        return [Problem(source, 1, 1, "it handles no request", f"{remedy}{in_place}")]
    handlers = [name for name in (*METHODS, "endpoint") if callable(names.get(name))]
    return [
        problem for name in handlers for problem in _handler_problems(source, name, names[name])
    ]


def _handler_problems(source: str, name: str, handler: Any) -> list[Problem]:
    if isinstance(handler, type):
        if issubclass(handler, HTTPEndpoint):
            return []
        message = f"{name!r} is a class that is no HTTPEndpoint"
        return [Problem(source, 1, 1, message, "Derive it from starlette's HTTPEndpoint")]
    try:
        inspect.signature(handler).bind(None)
    except TypeError:
        line = getattr(getattr(handler, "__code__", None), "co_firstlineno", 1)
        message = f"{name!r} cannot be called with the request alone"
        return [Problem(source, line, 1, message, f"Write 'async def {name}(request)'")]
    except ValueError:  # a signature that cannot be known
        pass
    return []
