"""docs/security.md: every line of the checklists names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs/security.md"
LINK = re.compile(r"\[`([^`]+)`\]\((\S+?)\)")
JS_TEST = re.compile(r"^test\('([^']+)'", re.MULTILINE)
UNSHOWN = "Your responsibilities"


def lines() -> list[str]:
    """Return the lines of the checklists; each is one bullet."""
    text = PAGE.read_text(encoding="utf-8").partition(f"## {UNSHOWN}")[0]
    return [line for line in text.splitlines() if line.startswith("- ")]


def names_in(path: Path) -> set[str]:
    if path.suffix == ".js":
        return set(JS_TEST.findall(path.read_text(encoding="utf-8")))
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in tree.body if isinstance(node, functions)}


def test_the_page_has_its_checklists() -> None:
    assert len(lines()) >= 35


@pytest.mark.parametrize("line", lines(), ids=lambda line: line.split("**")[1])
def test_every_line_links_to_tests_that_exist(line: str) -> None:
    links = LINK.findall(line)
    assert links, "no test shows this line"
    for name, target in links:
        assert name in names_in((PAGE.parent / target).resolve())
