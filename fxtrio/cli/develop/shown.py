"""What is wrong, as the overlay of the browser shows it (`Shown` of settings.d.ts)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict

from fxtrio.cli.develop.handover import Swapped
from fxtrio.compile.problems import Problem
from fxtrio.compile.project import CheckedPage
from fxtrio.compile.source import SourceText, read_bytes
from fxtrio.manifest import PageModule

_FRAME = re.compile(r'  File "([^"]+)", line (\d+)')


class Shown(TypedDict):
    """One thing that is wrong; `file` is absolute, "" when none is to blame."""

    title: str
    message: str
    file: str
    line: int
    column: int
    frame: str


def shown_problem(problem: Problem, root: Path) -> Shown:
    """Return a mistake that the compiler has found."""
    path = root / problem.path
    frame = problem.frame
    if not frame and problem.line:
        source = _read(path, problem.path)
        frame = source.frame(problem.line, problem.column) if source is not None else ""
    end = "" if problem.remedy.endswith("?") else "."
    return Shown(
        title=problem.path,
        message=f"{problem.message}. {problem.remedy}{end}",
        file=str(path),
        line=problem.line,
        column=problem.column,
        frame=frame,
    )


def shown_failure(swapped: Swapped, root: Path) -> Shown:
    """Return why new Python code is not in use."""
    places = [
        (path, int(line))
        for path, line in _FRAME.findall(swapped.failed)
        if Path(path).is_relative_to(root)
    ]
    file, line = places[-1] if places else ("", 0)
    return Shown(
        title="The new code cannot be imported; the code from before is in use",
        message=swapped.error,
        file=file,
        line=line,
        column=1 if line else 0,
        frame=swapped.failed.rstrip(),
    )


def broken_page(source: str, problems: Iterable[Problem]) -> CheckedPage:
    """Return what stands in for a page file that is wrong and has never been right."""
    text = json.dumps("\n".join(map(str, problems)))
    ui = f"export default function Broken() {{\n  throw new Error({text});\n}}\n"
    return CheckedPage(PageModule(source=source), "", ui)


def _read(path: Path, name: str) -> SourceText | None:
    try:
        source = read_bytes(path.read_bytes(), name)
    except OSError:
        return None
    return source if isinstance(source, SourceText) else None
