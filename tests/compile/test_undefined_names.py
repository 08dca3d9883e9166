"""Names that nothing defines, in Python that writes builtins in unusual ways."""

from __future__ import annotations

import ast

import pytest

from fxtrio.compile.check.names.undefined_names import undefined_names
from fxtrio.compile.source import read_text


@pytest.mark.parametrize(
    "python",
    [
        "total = sum([1, 2])\n",
        "kept = \N{LATIN SMALL LIGATURE FI}lter(None, [1])\n",
        'count: "\\x69nt" = 1\n',
    ],
)
def test_builtins_are_defined_however_they_are_written(python: str) -> None:
    assert undefined_names(read_text(python, "a.py"), ast.parse(python), ()) == []


def test_a_builtin_that_a_function_assigns_later_is_undefined_before() -> None:
    python = "def first():\n    print(len)\n    len = 1\n"
    [problem] = undefined_names(read_text(python, "a.py"), ast.parse(python), ())
    assert problem.message == "undefined name 'len'"
