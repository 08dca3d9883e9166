"""Texts in, formatted texts out; no file is read or written but the settings of the formatters.

Called by `rewrite_files`, and by whoever has a text that is not saved.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import attrs
import trio

from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText, read_text
from fxtrio.compile.split.halves import Sections, split_source
from fxtrio.compile.split.python_statements import Broken, parse_module
from fxtrio.tools.format.prettier import RunPrettier, format_ui, run_prettier
from fxtrio.tools.format.result import Unformatted
from fxtrio.tools.format.ruff import format_python
from fxtrio.tools.format.segments import (
    HALVES,
    BordersLost,
    Half,
    Lines,
    WholeHalf,
    assemble,
    cut,
    join,
    runs_of,
)

PAGE = ".fxl"
PYTHON = frozenset({".py", ".pyi"})
_STAYS = "Fix the syntax here; until then, fx does not format the file"


@attrs.frozen
class Formatted:
    """What became of a text."""

    text: str
    """With ``\\n`` as line ends; what it was when there are problems."""

    problems: tuple[Problem, ...] = ()
    """Why it stays as it was, by place."""


@attrs.frozen
class _Document:
    """A text on its way through the formatters."""

    source: SourceText
    sections: Sections | None = None
    """The halves of a page."""

    runs: tuple[Lines, ...] = ()
    halves: Mapping[Half, WholeHalf] = {}
    """The input of each formatter; an absent half is not formatted."""


async def format_documents(
    root: Path,
    texts: Mapping[str, str],
    *,
    report: Callable[[str], None],
    static: bool = False,
    run: RunPrettier = run_prettier,
) -> dict[str, Formatted]:
    """Format ``texts``, whose keys are POSIX paths relative to the project folder ``root``.

    A name that ends in ``.fxl`` stands for a page, one in ``.py`` for Python, all others for
    what prettier knows. ``report`` gets a line for each thing that takes time. With ``static`` no
    code of the project is run: prettier is fxtrio's own, and settings that are code, or name
    plug-ins, are an error; ``run`` has prettier format. A text with a mistake stays as it is.
    Raises, in a group, RuffMissing, RuffFailed, NodeMissing, ToolchainFailed and PrettierFailed.
    """
    documents = {path: _read(read_text(text, path)) for path, text in texts.items()}
    answers: dict[Half, dict[Path, str | Unformatted]] = {}

    def texts_of(half: Half) -> dict[Path, str]:
        halves = ((path, document.halves.get(half)) for path, document in documents.items())
        return {root / path: joined.text for path, joined in halves if joined is not None}

    async def ask_ruff() -> None:
        answers["python"] = await format_python(root, texts_of("python"))

    async def ask_prettier() -> None:
        answers["ui"] = await format_ui(root, texts_of("ui"), report=report, static=static, run=run)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask_ruff)
        nursery.start_soon(ask_prettier)
    return {
        path: _finish(document, {half: found.get(root / path) for half, found in answers.items()})
        for path, document in documents.items()
    }


def _read(source: SourceText) -> _Document:
    suffix = Path(source.path).suffix
    if suffix != PAGE:
        half: Half = "python" if suffix in PYTHON else "ui"
        whole = WholeHalf(source.text, tuple(range(1, len(source.line_starts) + 1)))
        return _Document(source, halves={half: whole})
    sections = split_source(source)
    if sections.problems:
        return _Document(source, sections)
    runs = tuple(runs_of(source, sections))
    halves = ((half, join(runs, half)) for half in HALVES)
    return _Document(source, sections, runs, {half: one for half, one in halves if one.text})


def _finish(document: _Document, answers: Mapping[Half, str | Unformatted | None]) -> Formatted:
    """Return the formatted text, or why it stays as it was."""
    source, sections = document.source, document.sections
    rejected = [
        _problem(document, half, answer)
        for half, answer in answers.items()
        if isinstance(answer, Unformatted)
    ]
    problems = (*(sections.problems if sections is not None else ()), *rejected)
    if problems:
        return Formatted(source.text, tuple(sorted(problems)))
    formatted = {half: answer for half, answer in answers.items() if isinstance(answer, str)}
    if sections is None:
        return Formatted("".join(formatted.values()))
    runs = [*document.runs]
    try:
        for half, text in formatted.items():
            runs = cut(runs, half, text)
    except BordersLost as lost:
        message = "this line continues a statement above the other half"
        return _unformatted(source, lost.line, message, "End that statement with ';'")
    text = assemble(runs)
    if text == source.text:
        return Formatted(text)
    again = split_source(read_text(text, source.path))
    if again.problems or any(
        _lines(getattr(again, half)) != _lines("\n".join(_texts(runs, half))) for half in HALVES
    ):
        message = "a formatted line would read as the other language"
        return _unformatted(source, 1, message, "Separate the halves with a line '# --- ui ---'")
    python = sections.python.rstrip(), again.python.rstrip()
    if python[0] != python[1] and not same_python(*python):
        message = "ruff changes the meaning of the server half"
        return _unformatted(source, 1, message, "Format it by hand, and report this")
    return Formatted(text)


def _problem(document: _Document, half: Half, rejected: Unformatted) -> Problem:
    lines = document.halves[half].lines
    line = lines[min(max(rejected.line, 1), len(lines)) - 1] if lines else 1
    message = rejected.message.rstrip(".")
    return document.source.syntax_problem(line, max(rejected.column, 1), message, _STAYS)


def _unformatted(source: SourceText, line: int, message: str, remedy: str) -> Formatted:
    problem = Problem(source.path, line, 1, message, f"{remedy}; the file stays as it is")
    return Formatted(source.text, (problem,))


def _texts(runs: Iterable[Lines], half: Half) -> list[str]:
    return [run.text for run in runs if run.half == half]


def _lines(text: str) -> list[str]:
    """Return the lines that are not blank: blank ones stand in either half."""
    return [line for line in text.split("\n") if line.strip()]


def same_python(before: str, after: str) -> bool:
    """Whether two texts are the same program; docstrings may be indented in another way.

    False when one of them does not parse.
    """
    one, other = parse_module(before), parse_module(after)
    if isinstance(one, Broken) or isinstance(other, Broken):
        return False
    return ast.dump(_Plain().visit(one)) == ast.dump(_Plain().visit(other))


class _Plain(ast.NodeTransformer):
    """Takes away what formatters may change."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Take the indentation out of a string that stands for itself."""
        value = node.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            lines = inspect.cleandoc(value.value).split("\n")
            return ast.Expr(ast.Constant("\n".join(line.rstrip() for line in lines).strip()))
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Take away the prefix of ``u"text"``."""
        return ast.Constant(node.value)

    def visit_Delete(self, node: ast.Delete) -> ast.AST:
        """Take away the parentheses of ``del (a, b)``."""
        targets: list[ast.expr] = []
        for target in node.targets:
            inner = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
            targets += inner or [target]
        return self.generic_visit(ast.Delete(targets))
