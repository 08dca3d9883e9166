"""Python that is nested too deeply is a problem of its file, at its place."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from fxtrio.compile.file_checks import check_page, check_python
from fxtrio.compile.source import read_text
from fxtrio.compile.split.python_statements import Broken, parse_module
from fxtrio.tools.format.documents import same_python
from tests.compile.deep import DEEP, UI

SIZES = (50, 150, 195, 300, 1500)


@pytest.mark.parametrize("what", DEEP)
def test_any_depth_is_either_read_or_a_problem_of_the_file(what: str, tmp_path: Path) -> None:
    for size in SIZES:
        code = DEEP[what](size)
        _, problems = check_page(read_text(code + UI, "pages/index.fxl"), tmp_path)
        messages = " ".join(problem.head for problem in problems)
        if size >= 300:
            assert "nested" in messages or "indentation" in messages, (size, messages[:300])
        elif size <= 50:
            assert "nested too deeply" not in messages, (size, messages[:300])
        (tmp_path / "module.py").write_text(code)
        assert isinstance(check_python(tmp_path, "module.py"), list)
        module = parse_module(code)
        if not isinstance(module, Broken):  # whoever walks through it has room for it
            ast.unparse(module)
            assert same_python(code, code)


def test_the_place_of_code_that_is_nested_too_deeply_is_reported() -> None:
    _, problems = check_page(read_text("a = 1\n" + DEEP["elif"](1500) + UI, "pages/index.fxl"))
    assert [problem.head for problem in problems] == [
        "pages/index.fxl:396:6: broken Python: it is nested too deeply. "
        "Move a part of it to a function or a variable."
    ]
