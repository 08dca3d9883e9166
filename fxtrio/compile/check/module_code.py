"""Problems of the Python modules that pages use.

That is their syntax, names of the framework that they do not import, and code of Pyxle or
asyncio, which fails or means something else here. Called with the other looks
beside the pages, by `fx check`, `fx build` and `fx dev`. What page files and endpoints import
themselves are errors of these files: see `undefined_names`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from fxtrio.compile.check import pyxle_migration
from fxtrio.compile.check.names.undefined_names import foreign_calls, missing_imports
from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.check.project_modules import modules_used, read_module
from fxtrio.compile.file_checks import syntax_problems
from fxtrio.compile.problems import Problem, of_kind
from fxtrio.compile.project import CheckedProject
from fxtrio.compile.source import SourceText, read_text
from fxtrio.compile.split.python_statements import Broken, parse_module
from fxtrio.config import Config
from fxtrio.config.code_names import code_names

_ENVELOPE = (
    "the page gets both as its data: 'data' and 'revalidate' are keys like others",
    "Return the data itself, and write CACHE = {{'revalidate': {seconds}}}",
)
_COOKIES = "'request.state.cookies' is not set here"


def module_problems(root: Path, config: Config, project: CheckedProject) -> list[Problem]:
    """Return what of another framework is in page files, and in the modules that they use, and
    which of those modules do not parse, or lack an import of a name of the framework.

    Modules that ``app.py`` and the settings name count as used. Nothing is run.
    """
    found: list[Problem] = []
    starts: list[ast.Module] = []
    for page in project.pages:
        parsed = parse_module(page.python)
        if not isinstance(parsed, Broken):
            source = read_text(page.python, page.module.source)
            found += [*_envelopes(source, parsed, page.module.loader), *_cookies(source, parsed)]
            starts.append(parsed)
    files = {api.source for api in project.tree.api} | {*project.tree.llms.values()}
    for path in sorted(files):
        read = read_module(root / path, root)
        if read is not None:
            found += _cookies(*read)
            starts.append(read[1])
    checked = files | {module.source for module in project.actions}
    used = modules_used(root, starts, _named(config, project))
    for module in used.modules:
        if module.source.path in files:
            continue
        found += _cookies(module.source, module.tree)
        if module.source.path not in checked:
            found += _imports(module.source, module.tree, root)
            found += [] if module.behind_portal else foreign_calls(module.source, module.tree)
    texts: list[tuple[SourceText, ast.Module | Broken]] = [*used.broken]
    texts += [(module.source, module.tree) for module in used.modules]
    broken = [
        problem
        for source, tree in texts
        if source.path not in checked
        for problem in syntax_problems(source, source.text, tree)
    ]
    broken += [
        problem
        for module in used.modules
        if module.source.path not in checked
        for problem in missing_imports(module.source, module.tree)
    ]
    return [*of_kind(FindingKind.FOREIGN, sorted(found)), *of_kind(FindingKind.CODE, broken)]


def _named(config: Config, project: CheckedProject) -> Iterator[str]:
    """Yield the dotted names of modules that are run without an import of a page."""
    yield "app"
    yield from (name for _setting, name in code_names(config))
    for module in project.actions:
        yield module.source.removesuffix(".py").replace("/", ".")


def _imports(source: SourceText, module: ast.Module, root: Path) -> Iterator[Problem]:
    """Yield imports from Pyxle, unless the project has a module of that name itself."""
    for alias, name, remedy in pyxle_migration.imports_of(module):
        first = name.partition(".")[0]
        if not (root / f"{first}.py").is_file() and not (root / first).is_dir():
            message = f"{name!r} is not a module of this framework"
            yield source.node_problem(alias.lineno, alias.col_offset, message, remedy)


def _envelopes(source: SourceText, module: ast.Module, loader: str | None) -> Iterator[Problem]:
    """Yield each ``{"data": …, "revalidate": …}`` that the loader returns, alone or with a status.

    A loader may well return such keys; Pyxle reads them as the data and the time to cache it.
    """
    for node in module.body:
        if not isinstance(node, ast.AsyncFunctionDef) or node.name != loader:
            continue
        for inner in ast.walk(node):
            value = inner.value if isinstance(inner, ast.Return) else None
            if isinstance(value, ast.Tuple) and len(value.elts) == 2:
                value = value.elts[0]
            if not isinstance(value, ast.Dict):
                continue
            keywords = {
                key.value: part
                for key, part in zip(value.keys, value.values, strict=True)
                if isinstance(key, ast.Constant)
            }
            if len(value.keys) == 2 and keywords.keys() == {"data", "revalidate"}:
                message, remedy = _ENVELOPE
                remedy_text = remedy.format(seconds=ast.unparse(keywords["revalidate"]))
                yield source.node_problem(value.lineno, value.col_offset, message, remedy_text)


def _cookies(source: SourceText, module: ast.Module) -> Iterator[Problem]:
    """Yield calls of the recorder of cookies that Pyxle gives to actions."""
    for node in ast.walk(module):
        match node:
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Attribute(attr="cookies", value=ast.Attribute(attr="state")) as place,
                    attr="set" | "delete" as name,
                )
            ):
                remedy_text = f"Write {ast.unparse(place.value)}.response.{name}_cookie(…)"
                yield source.node_problem(place.lineno, place.col_offset, _COOKIES, remedy_text)
