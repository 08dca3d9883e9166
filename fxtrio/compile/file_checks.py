"""Single files of a project, checked: page files, modules of actions, other Python.

Heavy: `fx dev` imports it when there is a text that it does not know. Called by `project`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs

from fxtrio.compile.check.constants import says_static
from fxtrio.compile.check.declarations import Facts
from fxtrio.compile.check.deferred_calls import wrong_defers
from fxtrio.compile.check.function_definitions import unmarked_loader
from fxtrio.compile.check.literal_statuses import wrong_raised
from fxtrio.compile.check.names.auto_imports import injected_names
from fxtrio.compile.check.names.undefined_names import (
    foreign_calls,
    foreign_imports,
    undefined_names,
    unknown_attributes,
)
from fxtrio.compile.check.python_declarations import kind_of, read_actions, read_facts
from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.markdown_pages import markdown_page, model_of
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText, read_source, read_text
from fxtrio.compile.split.halves import Sections, split_source
from fxtrio.compile.split.merge_conflicts import conflicts_in
from fxtrio.compile.split.newer_syntax import find_newer
from fxtrio.compile.split.python_statements import Broken, compile_error, parse, parse_module
from fxtrio.compile.split.suggestions import broken_remedy
from fxtrio.manifest import ActionModule, PageModule
from fxtrio.routes.action_files import ActionFile, find_action_files
from fxtrio.routes.suffixes import MARKDOWN_SUFFIX

_DATA = re.compile(r"\bdata\b")


def check_actions(root: Path) -> tuple[tuple[ActionModule, ...], list[Problem]]:
    """Return the modules of actions of the project in ``root``, and their problems.

    Files of the folder without an action are no business of the framework.
    """
    modules: list[ActionModule] = []
    problems: list[Problem] = []
    for file in find_action_files(root):
        text = read_source(root, file.source)
        if isinstance(text, SourceText) and "action" in text.text:
            module, found = _check_actions(file, text, root)
            modules += [module] if module.actions else []
            problems += found
    return tuple(modules), problems


def listed_facts(root: Path, source: str, pages_dir: str) -> Facts:
    """Return what a page declares of what routes show, as far as it can be read."""
    if source.endswith(MARKDOWN_SUFFIX):
        model = model_of(root, source, pages_dir)
        code = None if model is None else read_source(root, model)
        return Facts(static=isinstance(code, SourceText) and says_static(code.text))
    text = read_source(root, source)
    if isinstance(text, Problem) or not ("stream" in text.text or "STATIC" in text.text):
        return Facts()
    parsed = parse_module(split_source(text).python)
    return Facts() if isinstance(parsed, Broken) else read_facts(text, parsed)[0]


def _check_actions(
    file: ActionFile, source: SourceText, root: Path
) -> tuple[ActionModule, list[Problem]]:
    """Return a module of actions; without one, problems of the file are not reported."""
    parsed = parse_module(source.text)
    if isinstance(parsed, Broken):
        return ActionModule(source=file.source, name=file.name, actions=()), (
            _check_code(source, source.text, parsed, (), root)
        )
    names, problems = read_actions(source, parsed)
    if names:
        problems += _check_code(source, source.text, parsed, (), root)
    return ActionModule(source=file.source, name=file.name, actions=names), problems


def check_page(
    source: SourceText,
    root: Path | None = None,
    pages_dir: str = "pages",
    right: CheckedPage | None = None,
) -> tuple[CheckedPage, list[Problem]]:
    """Return one page file of the project in ``root`` in its halves, and its problems.

    ``pages_dir`` is the pages folder, relative to ``root``. ``right`` is what came of an earlier
    text without a problem: where its Python is the same, that is not checked again.
    """
    try:
        if source.path.endswith(MARKDOWN_SUFFIX):
            return _check_markdown(source, root, pages_dir)
        return _check_page(source, root, right)
    except (RecursionError, MemoryError):  # one file never keeps the others from being checked
        entry = PageModule(source=source.path, code=None)
        problem = source.problem(0, "it is too large or nested too deeply", "Split the file")
        return CheckedPage(entry, "", "", whole=False), [problem]


def _check_page(
    source: SourceText, root: Path | None, right: CheckedPage | None
) -> tuple[CheckedPage, list[Problem]]:
    sections = split_source(source)
    if right is not None and not sections.problems and _has_python(right, sections.python):
        return _with_other_ui(source, sections, right)
    problems = [*sections.problems]
    facts = Facts()
    module = parse_module(sections.python)
    has_code = False
    if not isinstance(module, Broken):  # what does not parse has been reported
        facts, found = read_facts(source, module)
        problems += found
        has_code = bool(module.body)
        problems += _unmarked_loader(source, module, facts.loader, sections.ui)
    injected = injected_names(facts)
    if not sections.problems:
        problems += _check_code(source, sections.python, module, injected, root)
        if not sections.exports_default:
            problems.append(_no_default_export(source))
    entry = PageModule(
        source=source.path,
        code=f"server/{source.path}.py" if has_code else None,
        inject=injected,
        **attrs.asdict(facts, recurse=False),
    )
    return CheckedPage(entry, sections.python, sections.ui, not sections.problems), problems


def _has_python(page: CheckedPage, python: str) -> bool:
    """Return whether the Python of ``page`` is this. A longer UI half is blank lines more."""
    return page.python.rstrip() == python.rstrip()


def _with_other_ui(
    source: SourceText, sections: Sections, right: CheckedPage
) -> tuple[CheckedPage, list[Problem]]:
    """Return what `_check_page` does for the Python of ``right``: that says the same as before."""
    problems: list[Problem] = []
    if right.module.code is not None and right.module.loader is None:
        module = parse_module(sections.python)
        if not isinstance(module, Broken):
            problems += _unmarked_loader(source, module, None, sections.ui)
    if not sections.exports_default:
        problems.append(_no_default_export(source))
    return CheckedPage(right.module, sections.python, sections.ui), problems


def _check_markdown(
    source: SourceText, root: Path | None, pages_dir: str
) -> tuple[CheckedPage, list[Problem]]:
    converted = markdown_page(source, root, pages_dir)
    page = CheckedPage(
        converted.module,
        converted.python,
        converted.ui,
        not converted.problems,
        converted.markdown,
        converted.included,
    )
    return page, list(converted.problems)


def _unmarked_loader(
    source: SourceText, module: ast.Module, loader: str | None, ui: str
) -> Iterator[Problem]:
    """Yield a problem if there is no ``loader``, but a function that looks like one."""
    function = unmarked_loader(module) if loader is None and _DATA.search(ui) else None
    if function is not None:
        name = source.offset_of(function.lineno, function.col_offset) + len("async def ")
        message = f"{function.name!r} is not marked, so the {kind_of(source.path)} gets no data"
        yield source.problem(name, message, "Write '@server' above it")


def _no_default_export(source: SourceText) -> Problem:
    last = max(len(source.text.rstrip()) - 1, 0)
    return source.problem(
        last,
        f"the {kind_of(source.path)} has no default export",
        "Write 'export default function Name(props) { … }'",
    )


def check_python(root: Path, path: str) -> list[Problem]:
    """Return what keeps a Python module of the project from running: syntax, undefined names."""
    source = read_source(root, path)
    if isinstance(source, Problem):
        return [source]
    return _check_code(source, source.text, parse_module(source.text), (), root)


def _check_code(
    source: SourceText,
    python: str,
    module: ast.Module | Broken,
    injected: Iterable[str],
    root: Path | None,
) -> list[Problem]:
    """Return what keeps Python code from running: its syntax, or else its undefined names.

    ``module`` is what it parses to.
    """
    broken = syntax_problems(source, python, module)
    if broken or isinstance(module, Broken):
        return broken
    undefined = undefined_names(source, module, injected, root)
    statuses = [
        source.node_problem(node.lineno, node.col_offset, message, remedy)
        for node, message, remedy in (*wrong_raised(module), *wrong_defers(module))
    ]
    foreign = [*foreign_imports(source, module), *foreign_calls(source, module)]
    return [*undefined, *unknown_attributes(source, module), *foreign, *statuses]


def syntax_problems(source: SourceText, python: str, parsed: ast.Module | Broken) -> list[Problem]:
    """Return what keeps the ``python`` of a file, which is ``parsed``, from being compiled."""
    if isinstance(parsed, Broken):
        found = conflicts_in(source) or _too_new(source, python)
        return found or [_broken_python(source, parsed)]
    error = compile_error(python)
    return [] if error is None else [_broken_python(source, error)]


def _too_new(source: SourceText, python: str) -> list[Problem]:
    """Return a problem for all syntax of ``python`` that only newer Pythons know.

    Nothing is returned for code that is broken for each of them.
    """
    if isinstance(parse(python), Broken):
        return []
    running = sys.version_info[:2]
    return [
        source.syntax_problem(
            *read_text(python, source.path).place_of(piece.start),
            f"{piece.name} needs Python {_dotted(piece.version)}, and this is {_dotted(running)}",
            f"{piece.remedy}, or run Python {_dotted(piece.version)}",
        )
        for piece in find_newer(python)
        if piece.version > running
    ]


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _broken_python(source: SourceText, broken: Broken) -> Problem:
    message = f"broken Python: {broken.message.rstrip('.?')}"
    remedy = broken_remedy(source.line_text(broken.line), broken.column, broken.message)
    return source.syntax_problem(broken.line, broken.column, message, remedy)
