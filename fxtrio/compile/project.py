"""All files of a project, read and checked: what `fx check` prints and `build` starts from."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import attrs

from fxtrio.compile.facts import Facts, read_facts
from fxtrio.compile.inject import injected_names
from fxtrio.compile.names import undefined_names
from fxtrio.compile.problems import Problem
from fxtrio.compile.sections import split_source
from fxtrio.compile.source import SourceText, read_bytes
from fxtrio.config import Config
from fxtrio.errors import FxtrioError, PagesFolderMissing, RouteConflict, RouteNameInvalid
from fxtrio.manifest import PageModule
from fxtrio.routes import PageTree, scan

_SUSPENSE = re.compile(r"\bSuspense\b")
_SPECIAL = ("layout", "template", "error", "not-found", "loading")


@attrs.frozen
class CheckedPage:
    """One `.fxl` file in its two halves."""

    module: PageModule
    python: str
    ui: str

    @property
    def suspends(self) -> bool:
        """Whether its UI names Suspense, so that it must be rendered as a stream."""
        return _SUSPENSE.search(self.ui) is not None


@attrs.frozen
class CheckedProject:
    """A project's files, and every problem of them."""

    tree: PageTree
    pages: tuple[CheckedPage, ...]
    """By source."""

    problems: tuple[Problem, ...]
    """By place."""


def check_project(root: Path, config: Config) -> CheckedProject:
    """Read and check every file below the pages folder of the project in ``root``."""
    tree = scan(root, config)
    problems = [_problem_of_tree(error, config) for error in tree.problems]
    pages: list[CheckedPage] = []
    for source in tree.sources:
        text = read_bytes((root / source).read_bytes(), source)
        if isinstance(text, Problem):
            problems.append(text)
            continue
        page, found = check_page(text)
        pages.append(page)
        problems += found
    for source in (*(api.source for api in tree.api), *tree.llms.values()):
        problems += _check_python(root, source)
    return CheckedProject(tree, tuple(pages), tuple(sorted(problems)))


def check_page(source: SourceText) -> tuple[CheckedPage, list[Problem]]:
    """Return one page file in its halves, and its problems."""
    sections = split_source(source)
    facts = read_facts(source, sections.python)
    injected = injected_names(facts)
    problems = [*sections.problems, *facts.problems]
    if not sections.problems:
        problems += undefined_names(source, sections.python, injected)
        if not sections.exports_default:
            problems.append(_no_default_export(source))
        problems += _misplaced(source, facts)
    has_code = bool(sections.python.strip())
    module = PageModule(
        source=source.path,
        code=f"server/{source.path}.py" if has_code else None,
        inject=injected,
        loader=facts.loader,
        actions=facts.actions,
        websocket=facts.websocket,
        to_markdown=facts.to_markdown,
        head=facts.head,
        head_function=facts.head_function,
        revalidate=facts.revalidate,
        memo=facts.memo,
        standalone=facts.standalone,
    )
    return CheckedPage(module, sections.python, sections.ui), problems


def _kind(source: SourceText) -> str:
    name = source.path.rpartition("/")[2].removesuffix(".fxl")
    return name if name in _SPECIAL else "page"


def _no_default_export(source: SourceText) -> Problem:
    kind = _kind(source)
    last = max(len(source.text.rstrip()) - 1, 0)
    return source.problem(
        last,
        f"the {kind} has no default export",
        "Write 'export default function Name(props) { … }'",
    )


def _misplaced(source: SourceText, facts: Facts) -> list[Problem]:
    """Return problems of what only works in some kinds of files."""
    kind = _kind(source)
    if kind == "page":
        return []
    problems = []
    if facts.actions:
        problems.append(
            source.problem(0, f"the {kind} has an @action", "Move it into a page that calls it")
        )
    if facts.websocket:
        problems.append(source.problem(0, f"the {kind} has a websocket", "Move it into a page"))
    if kind == "loading" and facts.loader is not None:
        problems.append(
            source.problem(0, "the loading file has a @server function", "Load in the page")
        )
    return problems


def _check_python(root: Path, path: str) -> list[Problem]:
    """Return the problems of an endpoint or `llms.py`."""
    source = read_bytes((root / path).read_bytes(), path)
    if isinstance(source, Problem):
        return [source]
    try:
        ast.parse(source.text)
    except SyntaxError as error:
        line, column = error.lineno or 1, max(error.offset or 1, 1)
        return [Problem(path, line, column, error.msg, "Correct the syntax")]
    except (ValueError, RecursionError, MemoryError) as error:
        return [Problem(path, 1, 1, f"it cannot be parsed: {error}", "Correct the syntax")]
    return list(undefined_names(source, source.text, ()))


def _problem_of_tree(error: FxtrioError, config: Config) -> Problem:
    if isinstance(error, RouteConflict):
        message = f"answers {error.pattern!r}, which {error.kept} already answers"
        return Problem(
            error.source, 1, 1, message, "Rename one file, or move its code into the other"
        )
    if isinstance(error, RouteNameInvalid):
        cause, _, remedy = error.cause.rpartition(". ")
        message = f"{error.name!r} {cause or error.cause}"
        return Problem(error.source, 1, 1, message, remedy if cause else "Rename it")
    if isinstance(error, PagesFolderMissing):
        remedy = "Create it, or set 'pagesDir' in fx.config.json"
        return Problem(config.pages_dir, 1, 1, "there is no such folder", remedy)
    return Problem(config.pages_dir, 1, 1, str(error), "Correct it")
