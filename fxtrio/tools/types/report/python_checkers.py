"""The Python halves of page files, checked by the project's own checker: mypy, pyright, pyrefly.

The checker sees virtual modules, whose lines are those of the `.fxl` files. Without settings
for one of them, nothing is checked.
"""

from __future__ import annotations

import ast
import configparser
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
import trio

from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.problems import Problem
from fxtrio.compile.project import CheckedProject
from fxtrio.compile.split.python_statements import parse_source
from fxtrio.errors import PlacedError
from fxtrio.tools.types.ui.text_files import write_text
from fxtrio.tools.types.ui.virtual_project import FOLDER

_TAIL = 4000  # characters
_MYPY = re.compile(r"(?P<path>[^:\n]+):(?P<line>\d+):(?P<column>\d+): error: (?P<message>.*)")
_PYREFLY = re.compile(
    r"(?P<path>[^:\n]+):(?P<line>\d+):(?P<column>\d+)(?:-[\d:]+)?: (?P<message>.*)"
)
_PYRIGHT = re.compile(
    r"\s*+(?P<path>[^:\s][^:\n]*+):(?P<line>\d+):(?P<column>\d+) - error: (?P<message>.*)"
)


OWN = "pyrightconfig.json"

_PATHS = ("extraPaths", "stubPath", "typeshedPath", "venvPath")

_FILES = frozenset({"include", "exclude", "ignore", "strict", "executionEnvironments"})
"""What speaks of the project's files, and would pass over virtual ones."""


class CheckerFailed(PlacedError):
    """The project's checker of Python could not do its work."""

    remedy = "Correct its settings, or run 'fx typecheck --no-python'"

    def __init__(self, name: str, code: int, output: str) -> None:
        super().__init__(name, f"ended with {code}", output=output[-_TAIL:])


@attrs.frozen
class Checker:
    """A checker that a project has settings for."""

    name: str
    arguments: tuple[str, ...]
    interpreter: str
    """The option that names the Python whose packages are imported."""

    line: re.Pattern[str]
    """What it writes for each mistake."""


_CHECKERS: Mapping[str, Checker] = {
    "mypy": Checker(
        "mypy",
        (
            *("--show-column-numbers", "--no-error-summary", "--no-color-output", "--no-pretty"),
            *("--hide-error-context", "--explicit-package-bases"),
        ),
        "--python-executable",
        _MYPY,
    ),
    "pyright": Checker("pyright", (), "--pythonpath", _PYRIGHT),
    "pyrefly": Checker(
        "pyrefly",
        ("check", "--output-format", "min-text"),
        "--python-interpreter-path",
        _PYREFLY,
    ),
}


def configured_checker(root: Path) -> str | None:
    """Return the checker that the project in ``root`` has settings for; None without any."""
    files = {"mypy": ("mypy.ini", ".mypy.ini"), "pyright": (OWN,)}
    for name, own in {**files, "pyrefly": ("pyrefly.toml",)}.items():
        if any((root / file).is_file() for file in own):
            return name
    tools = _table(root / "pyproject.toml").get("tool", {})
    found = next((name for name in _CHECKERS if name in tools), None)
    return "mypy" if found is None and _has_section(root / "setup.cfg", "mypy") else found


def _has_section(path: Path, name: str) -> bool:
    sections = configparser.RawConfigParser()
    try:
        sections.read(path, "utf-8")
    except (OSError, ValueError, configparser.Error):
        return False
    return sections.has_section(name)


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}


async def check_python_halves(
    root: Path, project: CheckedProject, report: Callable[[str], None]
) -> list[Problem]:
    """Return what the project's checker says of the Python halves.

    Raises CheckerFailed. ``report`` is called for a checker that is not installed.
    """
    name = await trio.to_thread.run_sync(configured_checker, root)
    pages = [page for page in project.pages if page.module.code is not None and page.whole]
    if name is None or not pages:
        return []
    checker = _CHECKERS[name]
    command = _command(name)
    if command is None:
        report(f"The server halves have not been checked: {name} is not installed.")
        return []
    modules = await trio.to_thread.run_sync(_write_modules, root, pages)
    named = list(modules)
    if name == "pyright":
        named = ["--project", await trio.to_thread.run_sync(_write_settings, root, named)]
    done = await trio.run_process(
        [*command, *checker.arguments, checker.interpreter, sys.executable, *named],
        capture_stdout=True,
        stderr=subprocess.STDOUT,
        check=False,
        cwd=root,
        deliver_cancel=_kill,
    )
    output = done.stdout.decode("utf-8", "replace")
    problems = list(_read(output, checker, modules))
    if done.returncode not in (0, 1):
        raise CheckerFailed(name, done.returncode, output)
    return problems


def _command(name: str) -> list[str] | None:
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.is_file() else shutil.which(name)
    return None if found is None else [found]


def _write_modules(root: Path, pages: Iterable[CheckedPage]) -> dict[str, tuple[str, int]]:
    """Write the virtual modules; return their sources and the line that was put in, by path."""
    found: dict[str, tuple[str, int]] = {}
    for page in pages:
        flat = re.sub(r"\W", "_", page.module.source.removesuffix(".fxl"))
        path = FOLDER / "python" / f"{flat}.py"
        if path.as_posix() in found:  # of two pages such as a/b.fxl and a_b.fxl
            path = FOLDER / "python" / f"{flat}_{len(found)}.py"
        text, line = _with_injected(page)
        write_text(root, path, text)
        found[path.as_posix()] = page.module.source, line
    return found


def _write_settings(root: Path, modules: Iterable[str]) -> str:
    """Write settings for pyright; return their path."""
    table = _table(root / "pyproject.toml").get("tool", {}).get("pyright", {})
    settings = pyright_settings(root, table, [root / path for path in modules])
    path = FOLDER / "python" / OWN
    write_text(root, path, json.dumps(settings, indent=1))
    return path.as_posix()


def _with_injected(page: CheckedPage) -> tuple[str, int]:
    """Return the module with a line that imports the injected names, and its number; 0 without."""
    names = ", ".join(page.module.inject)
    if not names:
        return page.python, 0
    lines = page.python.split("\n")
    line = 1
    for node in parse_source(page.python).body:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not (is_text or is_future):
            break
        line = (node.end_lineno or node.lineno) + 1
    lines.insert(line - 1, f"from fxtrio.runtime import {names}")
    return "\n".join(lines), line


def _read(
    output: str, checker: Checker, modules: Mapping[str, tuple[str, int]]
) -> Iterable[Problem]:
    for line in output.splitlines():
        found = checker.line.match(line)
        if found is None:
            continue
        path = found["path"].strip()
        named = [name for name in modules if path.endswith(name)]
        if not named:
            continue
        source, added = modules[named[0]]
        line_number = int(found["line"])
        if added and line_number > added:
            line_number -= 1
        message = found["message"].strip().rstrip(".")
        place = line_number, int(found["column"])
        remedy = f"See {checker.name}'s documentation"
        yield Problem(source, *place, message, remedy, kind=FindingKind.PYTHON_TYPES)


async def _kill(process: trio.Process) -> None:
    """End the checker at once: it holds nothing that it must put in order."""
    process.kill()


# Pyright passes over files in hidden folders, such as `.fx`, even when they are named, unless its
# settings say what to exclude.
def pyright_settings(
    root: Path, table: Mapping[str, Any], modules: Iterable[Path]
) -> dict[str, Any]:
    """Return the settings for ``modules``, all paths absolute.

    ``table`` is ``[tool.pyright]``, which counts when there is no `pyrightconfig.json`.
    """
    if (root / OWN).is_file():
        found: dict[str, Any] = {"extends": (root / OWN).as_posix()}
    else:
        found = {key: value for key, value in table.items() if key not in _FILES}
        for key in _PATHS:
            if key in found:
                found[key] = _absolute(root, found[key])
    return {
        **found,
        "include": [path.as_posix() for path in modules],
        "exclude": [],
        "ignore": [],
        "executionEnvironments": [{"root": root.as_posix()}],
    }


def _absolute(root: Path, paths: Any) -> Any:
    if isinstance(paths, list):
        return [_absolute(root, path) for path in paths]
    return (root / str(paths)).as_posix()
