"""What is wrong with a project, as the commands print it and as an editor shows it."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import trio

from fxtrio.tools.lsp.documents.positions import Places, places_of
from tests.lsp.editor import Editor

Problems = list[tuple[str, int, int, str]]
"""Path, line and column (both from 1), and message with remedy, sorted."""


async def printed(root: Path) -> Problems:
    """Return what `fx check` and `fx typecheck` print; what both say of one place once."""
    found: dict[tuple[str, int, int], dict[str, Any]] = {}
    for name in ("check", "typecheck"):
        command = [sys.executable, "-m", "fxtrio", name, "--json"]
        done = await trio.run_process(command, cwd=root, capture_stdout=True, check=False)
        for one in json.loads(done.stdout)["problems"]:
            found.setdefault((one["path"], max(one["line"], 1), max(one["column"], 1)), one)
    return sorted(
        (*place, f"{one['message']}. {one['remedy']}".removesuffix("."))
        for place, one in found.items()
    )


def displayed(editor: Editor, root: Path) -> Problems:
    """Return what an editor shows."""
    return sorted(
        (
            file.relative_to(root).as_posix(),
            found["range"]["start"]["line"] + 1,
            _column(file, found["range"]["start"]),
            found["message"].removesuffix("."),
        )
        for uri, all_found in editor.diagnostics.items()
        for file in (Path(unquote(uri.removeprefix("file://"))),)
        for found in all_found
    )


def _column(file: Path, position: dict[str, int]) -> int:
    """Return a column in characters, from 1."""
    places = _places(file)
    return places.offset(position) - places.offset({**position, "character": 0}) + 1


@cache
def _places(file: Path) -> Places:
    return places_of(file.read_text("utf-8") if file.is_file() else "")
