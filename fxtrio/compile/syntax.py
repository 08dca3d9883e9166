"""Syntax errors of UI halves, found by the parser of the bundler. Called by `fx check`.

A build needs none of this: the bundler reports the same errors.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import trio

from fxtrio.compile.problems import Problem
from fxtrio.compile.project import CheckedPage, CheckedProject
from fxtrio.compile.toolchain import JS, ensure_toolchain
from fxtrio.errors import BundlerCrashed, NodeMissing, ToolchainFailed
from fxtrio.node import find_node

_TAIL = 4000  # Characters of Node's output that an error shows.


async def check_ui(project: CheckedProject, *, report: Callable[[str], None]) -> list[Problem]:
    """Return the problems of the UI halves of the page files that divide into halves.

    Without Node or the toolchain they stay unchecked, and ``report`` is told so; it also
    gets a line for each thing that takes time. Raises BundlerCrashed for a defect.
    """
    pages = [page for page in project.pages if page.whole]
    if not pages:
        return []
    try:
        toolchain = await ensure_toolchain(report)
        return await ui_problems(pages, toolchain)
    except (NodeMissing, ToolchainFailed) as error:
        report(f"The UI code has not been checked. {error}")
        return []


async def ui_problems(pages: Iterable[CheckedPage], toolchain: Path) -> list[Problem]:
    """Return the syntax errors of the UI halves of ``pages``; cancelling it kills Node."""
    files = [{"path": page.module.source, "text": page.ui} for page in pages]
    node = await trio.to_thread.run_sync(find_node)
    done = await trio.run_process(
        [str(node.node), str(JS / "vite" / "syntax.js")],
        stdin=json.dumps({"toolchain": toolchain.as_posix(), "files": files}).encode(),
        capture_stdout=True,
        capture_stderr=True,
        check=False,
        deliver_cancel=_kill,
    )
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        raise BundlerCrashed(done.returncode, done.stderr.decode("utf-8", "replace")[-_TAIL:])
    return [_problem(found) for found in json.loads(lines[-1])["problems"]]


def _problem(found: dict[str, Any]) -> Problem:
    message = found["message"].rstrip(".")
    remedy = found["help"].rstrip(".") or "Correct the UI code here"
    place = found["path"], found["line"], found["column"]
    return Problem(*place, f"broken UI code: {_one_line(message)}", _one_line(remedy))


def _one_line(text: str) -> str:
    return " ".join(text.split())


async def _kill(process: trio.Process) -> None:
    """End Node at once: it holds nothing that it must put in order."""
    process.kill()
