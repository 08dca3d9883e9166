"""Formatting many texts at once, and what their halves mean before and after."""

from __future__ import annotations

import ast
import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import trio

from fxtrio.compile.bundling.toolchain import ensure_toolchain
from fxtrio.compile.split.halves import split
from fxtrio.tools.format.documents import Formatted, format_documents

PROGRAMS = Path(__file__).parent / "programs.mjs"


def quiet(line: str) -> None:
    """Take what takes time without a word."""


def format_all(root: Path, texts: Mapping[str, str]) -> dict[str, Formatted]:
    async def run() -> dict[str, Formatted]:
        with trio.fail_after(120):
            return await format_documents(root, texts, report=quiet)

    return trio.run(run)


def format_one(root: Path, text: str, name: str = "pages/index.fxl") -> Formatted:
    return format_all(root, {name: text})[name]


def programs(texts: Sequence[str]) -> list[dict[str, str]]:
    """Return what UI code means, without its form; ``{"error"}`` for what does not parse."""
    toolchain = trio.run(ensure_toolchain, quiet)
    done = subprocess.run(
        ["node", str(PROGRAMS), str(toolchain)],
        input=json.dumps(texts).encode(),
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    found: list[dict[str, str]] = json.loads(done.stdout)
    return found


def assert_well_formatted(root: Path, texts: Mapping[str, str]) -> dict[str, Formatted]:
    """Check that formatting keeps what each page means, and that a second time changes nothing."""
    first = format_all(root, texts)
    fine = {name: result.text for name, result in first.items() if not result.problems}
    again = format_all(root, fine)
    for name, text in fine.items():
        assert again[name].problems == (), name
        assert again[name].text == text, name
        assert program_of_python(texts[name]) == program_of_python(text), name
    before = programs([split(texts[name], name).ui for name in fine])
    after = programs([split(text, name).ui for name, text in fine.items()])
    for name, one, other in zip(fine, before, after, strict=True):
        # What is declared twice parses in no module, and is formatted all the same.
        assert ("error" in one and "error" in other) or one == other, (texts[name], fine[name])
    return first


def program_of_python(text: str) -> str:
    """Return what a page's Python half does, without its form; bare strings do nothing."""
    module = ast.parse(split(text, "a.fxl").python)
    for node in ast.walk(module):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ...
    return ast.dump(module)
