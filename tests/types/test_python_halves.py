"""The Python halves are checked by the project's own checker, with the lines of the pages."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import trio

from fxtrio.compile.project import check_project
from fxtrio.config import Config
from fxtrio.tools.types.report.python_checkers import (
    CheckerFailed,
    check_python_halves,
    configured_checker,
)
from tests.trees import write_tree

PAGE = '''"""A page."""

from store import count


@server
async def load(request):
    number: str = count()
    if not number:
        raise LoaderError("None", 404)
    return {"number": number}


export default function Page({ data }) {
  return <p>{data.number}</p>;
}
'''
STORE = "def count() -> int:\n    return 1\n"

MYPY = """[mypy]
check_untyped_defs = True
[mypy-fxtrio.*]
follow_imports = skip
"""
"""Settings without what fxtrio is and imports, which mypy would check as well, for ten seconds."""


async def problems_of(root: Path) -> tuple[list[str], list[str]]:
    lines: list[str] = []
    project = check_project(root, Config())
    assert project.problems == ()
    with trio.fail_after(120):
        found = await check_python_halves(root, project, lines.append)
    return [f"{one.path}:{one.line}:{one.column}: {one.message}" for one in found], lines


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, None),
        ({"pyproject.toml": "[project]\n"}, None),
        ({"pyproject.toml": "[tool.mypy]\n"}, "mypy"),
        ({"mypy.ini": "[mypy]\n"}, "mypy"),
        ({"setup.cfg": "[metadata]\n[mypy]\n"}, "mypy"),
        ({"setup.cfg": "[metadata]\n"}, None),
        ({"setup.cfg": "["}, None),
        ({"pyrightconfig.json": "{}"}, "pyright"),
        ({"pyproject.toml": "[tool.pyrefly]\n"}, "pyrefly"),
    ],
)
def test_a_checker_is_used_that_has_settings(
    tmp_path: Path, files: dict[str, str], expected: str | None
) -> None:
    write_tree(tmp_path, files)

    assert configured_checker(tmp_path) == expected


@pytest.mark.parametrize(
    ("file", "settings", "cause"),
    [
        ("mypy.ini", MYPY, "Incompatible types in assignment"),
        ("pyproject.toml", "[tool.pyrefly]\n", "`int` is not assignable to `str`"),
        ("pyrightconfig.json", "{} // JSON with comments", '"int" is not assignable to'),
        (
            "pyproject.toml",
            '[tool.pyright]\ninclude = ["nowhere"]\nextraPaths = ["lib"]\n',
            '"int" is not assignable to',
        ),
    ],
)
async def test_mistakes_have_the_lines_of_the_page(
    tmp_path: Path, file: str, settings: str, cause: str
) -> None:
    pages = {"pages/index.fxl": PAGE, "pages/a/b.fxl": PAGE, "pages/a_b.fxl": PAGE}
    write_tree(tmp_path, {**pages, file: settings})
    write_tree(tmp_path, {"lib/store.py" if "lib" in settings else "store.py": STORE})
    problems, lines = await problems_of(tmp_path)

    found = sorted(one.partition(": ")[0] for one in problems)
    assert found == [f"{page}:8:19" for page in sorted(pages)], lines
    assert cause in problems[0]


async def test_without_settings_nothing_is_checked(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": PAGE, "store.py": STORE})

    assert await problems_of(tmp_path) == ([], [])


async def test_a_checker_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    write_tree(tmp_path, {"pages/index.fxl": PAGE, "store.py": STORE, "pyrefly.toml": ""})
    problems, lines = await problems_of(tmp_path)

    assert problems == []
    assert lines == ["The server halves have not been checked: pyrefly is not installed."]


async def test_settings_that_the_checker_rejects_are_an_error(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": PAGE, "store.py": STORE})
    write_tree(tmp_path, {"mypy.ini": "[mypy]\npython_version = 1.0\nplugins = nowhere\n"})
    with pytest.raises(CheckerFailed, match="mypy: ended with 2"):
        await problems_of(tmp_path)
