"""A page file means the same on every Python: `languages.json` is the same split on each."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from fxtrio.compile.file_checks import check_page
from fxtrio.compile.source import read_text
from fxtrio.compile.split.halves import split
from fxtrio.compile.split.newer_syntax import find_newer, in_older_words
from tests.compile.halves import halves_of

pytestmark = pytest.mark.each_python

Case = dict[str, Any]
CASES: list[Case] = json.loads(Path(__file__).with_name("languages.json").read_text())


def text_of(case: Case) -> str:
    return "\n".join(case["lines"]) + "\n"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_halves_of_a_page_are_the_same_on_every_python(case: Case) -> None:
    sections = split(text_of(case), "pages/index.fxl")
    assert halves_of(sections).splitlines() == case["halves"]
    assert len(sections.problems) == case["problems"], sections.problems


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_page_that_needs_a_newer_python_says_which_and_where(case: Case) -> None:
    if case["problems"]:
        return
    _, problems = check_page(read_text(text_of(case), "pages/index.fxl"))
    wanted = {
        (line, version)
        for version, lines in case["needs"].items()
        for line in lines
        if tuple(map(int, version.split("."))) > sys.version_info[:2]
    }
    found = {
        (problem.line, problem.message.partition(" needs Python ")[2].partition(",")[0])
        for problem in problems
        if " needs Python " in problem.message
    }
    assert found == wanted
    assert not [problem for problem in problems if problem.message.startswith("broken Python")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_newer_syntax_is_found_with_its_version_and_lines(case: Case) -> None:
    python = split(text_of(case), "pages/index.fxl").python
    found: dict[str, list[int]] = {}
    for piece in find_newer(python):
        version = ".".join(map(str, piece.version))
        found.setdefault(version, []).append(python.count("\n", 0, piece.start) + 1)
    assert found == case["needs"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_what_this_python_knows_can_be_said_in_older_words(case: Case) -> None:
    python = split(text_of(case), "pages/index.fxl").python
    older = ast.parse(in_older_words(python), feature_version=(3, 11))
    try:
        newest = ast.parse(python)
    except SyntaxError:
        assert case["needs"] or case["problems"]
    else:
        assert [node.lineno for node in newest.body] == [node.lineno for node in older.body]
