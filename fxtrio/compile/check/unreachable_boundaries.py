"""Boundaries that a page does not show although its code looks as if it did. Pure.

Called with the other looks beside the pages, by `fx check`, `fx build` and `fx dev`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.problems import Problem
from fxtrio.compile.project import CheckedProject
from fxtrio.compile.source import read_text
from fxtrio.compile.split.python_statements import Broken, parse_module
from fxtrio.routes.tree import PageFile

_ERROR = "LoaderError"


def unreached_not_found(project: CheckedProject) -> list[Problem]:
    """Return each ``LoaderError(…, 404)`` that passes over a `not-found.fxl` near its page.

    The root folder's is not near: it is there for URLs that lead nowhere.
    """
    pages = {page.module.source: page for page in project.pages}
    found: dict[str, Problem] = {}
    for file in project.tree.pages:
        hidden = _hidden(file, project.pages_dir)
        if hidden is None:
            continue
        for source in (file.source, *(layout.source for layout in file.layouts)):
            if source in pages and source not in found and _is_within(source, hidden):
                for problem in _problems(pages[source], hidden, file)[:1]:
                    found[source] = problem
    return sorted(found.values())


def _hidden(file: PageFile, root: str) -> str | None:
    """Return the nearest `not-found.fxl` of a page, if an `error.fxl` further out hides it."""
    if not file.errors or not file.not_found:
        return None
    nearest = PurePosixPath(file.not_found[0].source).parent
    error = PurePosixPath(file.errors[0].source).parent
    if nearest.as_posix() == root or not nearest.is_relative_to(error):
        return None
    return file.not_found[0].source


def _is_within(source: str, boundary: str) -> bool:
    return PurePosixPath(source).is_relative_to(PurePosixPath(boundary).parent)


def _problems(page: CheckedPage, hidden: str, file: PageFile) -> list[Problem]:
    module = parse_module(page.python)
    if isinstance(module, Broken):
        return []
    source = read_text(page.python, page.module.source)
    return [
        Problem(
            page.module.source,
            *source.place_of(source.offset_of(node.lineno, node.col_offset)),
            f"a LoaderError shows {file.errors[0].source!r}, and not {hidden!r}, "
            "whatever its status is",
            f"Raise NotFound(…) of fx.runtime to show {hidden!r}",
            kind=FindingKind.AROUND,
        )
        for node in _raised(module)
    ]


def _raised(module: ast.Module) -> Iterator[ast.Call]:
    """Yield the calls of `LoaderError` with a literal status of 404."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            statuses = [one.value for one in node.keywords if one.arg == "status_code"]
            statuses += node.args[1:2]
            if node.func.id == _ERROR and any(
                isinstance(one, ast.Constant) and one.value == 404 for one in statuses
            ):
                yield node
