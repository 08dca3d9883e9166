"""Mistakes in UI code: syntax, undefined names, imports. Called by `fx check` and by builds.

Node does the work (`fxtrio/js/check/check.js`), with the parser of the bundler.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import attrs
import trio

from fxtrio.compile.bundling.bundle_errors import BundlerCrashed
from fxtrio.compile.bundling.installation import JS
from fxtrio.compile.bundling.toolchain import ToolchainFailed, ensure_toolchain
from fxtrio.compile.check.names.bindings import names_of
from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.check.python_declarations import kind_of
from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.problems import Problem
from fxtrio.compile.project import CheckedProject
from fxtrio.compile.source import SourceText, read_bytes
from fxtrio.compile.split.python_statements import Broken, parse_module
from fxtrio.node import NodeMissing, find_node, tool_environment

_TAIL = 4000  # Characters of Node's output that an error shows.

_MOST_PARSED = 2000
"""Python halves whose names are remembered: `fx dev` asks again after each save."""


async def check_ui(
    root: Path, project: CheckedProject, *, report: Callable[[str], None]
) -> list[Problem]:
    """Return the problems of the UI halves of a project, and of the components they import.

    ``root`` is the project folder. Without Node or the toolchain they stay unchecked, and
    ``report`` gets a message about it, and a line for each step that takes time. Raises
    BundlerCrashed for a defect.
    """
    if not any(page.whole for page in project.pages):
        return []
    try:
        toolchain = await ensure_toolchain(report)
        found = await ui_problems(root, project, toolchain)
    except (NodeMissing, ToolchainFailed) as error:
        report(f"The client code has not been checked. {error}")
        return []
    return [*found.certain, *found.likely]


@attrs.frozen
class UiProblems:
    """The problems of the UI code of a project."""

    certain: tuple[Problem, ...] = ()
    """For which it cannot work: imports that lead nowhere, actions that do not exist."""

    likely: tuple[Problem, ...] = ()
    """For which it fails unless there is more to it, such as a global of another script."""


def ui_order(
    root: Path,
    project: CheckedProject,
    toolchain: Path,
    files: Sequence[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return what Node is to look at (`Order` of `fxtrio/js/check/checker.js`).

    ``files`` are those of all page files that divide into halves, as `ui_file` gives them.
    """
    if files is None:
        files = [ui_file(page) for page in project.pages if page.whole]
    return {
        "toolchain": toolchain.as_posix(),
        "root": root.as_posix(),
        "pages": project.pages_dir,
        "files": files,
        "shared": project.shared_actions,
        "python": sys.executable,
    }


def ui_found(root: Path, answer: dict[str, Any]) -> UiProblems:
    """Return the problems that Node has found."""
    return UiProblems(
        tuple(_problem(found, root) for found in answer["problems"] if found["certain"]),
        tuple(_problem(found, root) for found in answer["problems"] if not found["certain"]),
    )


async def ui_problems(root: Path, project: CheckedProject, toolchain: Path) -> UiProblems:
    """Return the problems of the page files that divide into halves; cancelling it kills Node."""
    node = await trio.to_thread.run_sync(find_node)
    done = await trio.run_process(
        [str(node.node), str(JS / "check" / "check.js")],
        stdin=json.dumps(ui_order(root, project, toolchain)).encode(),
        capture_stdout=True,
        capture_stderr=True,
        check=False,
        env=tool_environment(),
        deliver_cancel=_kill,
    )
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        raise BundlerCrashed(done.returncode, done.stderr.decode("utf-8", "replace")[-_TAIL:])
    return ui_found(root, json.loads(lines[-1]))


def ui_file(page: CheckedPage) -> dict[str, Any]:
    """Return a page file that divides into halves, in the form for Node."""
    is_page = kind_of(page.module.source) == "page"
    return {
        "path": page.module.source,
        "text": page.ui,
        "python": _python_names(page),
        # Elsewhere a form or a stream is of the current page, whichever it is.
        "actions": page.module.actions if is_page else None,
        "streams": page.module.streams if is_page else None,
    }


def _python_names(page: CheckedPage) -> list[str]:
    """Return the names that the Python half defines: using them in the UI is a mistake."""
    return [*_names_in(page.python.rstrip())]


@lru_cache(maxsize=_MOST_PARSED)
def _names_in(python: str) -> tuple[str, ...]:
    module = parse_module(python)
    return () if isinstance(module, Broken) else tuple(sorted(names_of(module.body).bound))


def _problem(found: dict[str, Any], root: Path) -> Problem:
    source = read_bytes((root / found["path"]).read_bytes(), "") if found["syntax"] else None
    return ui_problem(found, source if isinstance(source, SourceText) else None)


def ui_problem(found: dict[str, Any], source: SourceText | None) -> Problem:
    """Return a problem as Node tells it; with a mistake of syntax goes the frame in ``source``."""
    place = found["line"], found["column"]
    texts = _one_line(found["message"]), _one_line(found["remedy"])
    frame = source.frame(*place) if found["syntax"] and source is not None else ""
    kind = FindingKind.UI if found["certain"] else FindingKind.LIKELY
    return Problem(found["path"], *place, *texts, frame, kind)


def _one_line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


async def _kill(process: trio.Process) -> None:
    """End Node at once: it holds nothing that it must put in order."""
    process.kill()
