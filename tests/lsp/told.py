"""What is wrong with a project, as the commands print it and as an editor shows it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import trio

from tests.lsp.editor import Editor

Told = list[tuple[str, int, str]]
"""Path, line, and message with remedy, sorted."""


async def printed(root: Path) -> Told:
    """Return what the commands print: path, line, and message with remedy.

    What both say of one place is told once.
    """
    found: dict[tuple[str, int, int], dict[str, Any]] = {}
    for name in ("check", "typecheck"):
        command = [sys.executable, "-m", "fxtrio", name, "--json"]
        done = await trio.run_process(command, cwd=root, capture_stdout=True, check=False)
        for one in json.loads(done.stdout)["problems"]:
            found.setdefault((one["path"], one["line"], one["column"]), one)
    return sorted(
        (one["path"], one["line"], f"{one['message']}. {one['remedy']}".removesuffix("."))
        for one in found.values()
    )


def shown(editor: Editor, root: Path) -> Told:
    """Return what an editor shows."""
    return sorted(
        (
            Path(unquote(uri.removeprefix("file://"))).relative_to(root).as_posix(),
            found["range"]["start"]["line"] + 1,
            found["message"].removesuffix("."),
        )
        for uri, all_found in editor.diagnostics.items()
        for found in all_found
    )
