"""Marks of a merge, in each kind of file that a project is checked with."""

from __future__ import annotations

from pathlib import Path

import pytest

from fxtrio.compile.file_checks import check_page, check_python
from fxtrio.compile.source import read_text
from tests.compile.test_ui import check
from tests.trees import write_tree

CONFLICT = "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> feature/a b\n"
PYTHON = "@server\nasync def load(request):\n    return {'a': 1}\n\n"
UI = "export default function P({ data }) {\n  return (\n    <p>{data.a}</p>\n  );\n}\n"


def conflict(one: str, other: str) -> str:
    return CONFLICT.format(one, other)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (conflict("x = 1", "x = 2") + PYTHON + UI, 1),
        (PYTHON.replace("    return {'a': 1}\n", conflict("    return 1", "    return 2")) + UI, 3),
        (PYTHON + UI.replace("    <p>{data.a}</p>\n", conflict("<p />", "<b />")), 7),
        (PYTHON + conflict("import a from './a';", "import b from './b';") + UI, 5),
        (conflict(PYTHON + UI, PYTHON + UI).replace("\n", "\r\n"), 1),
    ],
)
def test_a_conflict_is_the_one_problem_of_a_page(text: str, line: int) -> None:
    _, problems = check_page(read_text(text, "pages/a.fxl"))

    (found,) = problems
    assert (found.line, found.column) == (line, 1)
    assert found.message.startswith("a merge conflict is not resolved: 'HEAD' up to line ")
    assert "then 'feature/a b' up to line " in found.message
    assert found.remedy == "Keep one side, or join them, and remove the three marks"


def test_each_conflict_is_reported_and_a_page_that_quotes_one_is_fine() -> None:
    twice = conflict("x = 1", "x = 2") + PYTHON + conflict("y = 1", "y = 2") + UI
    quoted = f'"""\n{conflict("a", "b")}"""\n{PYTHON}{UI}'

    assert [one.line for one in check_page(read_text(twice, "pages/a.fxl"))[1]] == [1, 10]
    assert check_page(read_text(quoted, "pages/a.fxl"))[1] == []


def test_a_conflict_in_a_module_is_reported(tmp_path: Path) -> None:
    write_tree(tmp_path, {"app.py": conflict("x = 1", "x = 2")})

    (found,) = check_python(tmp_path, "app.py")
    assert found.message.startswith("a merge conflict is not resolved")


@pytest.mark.node
async def test_conflicts_in_components_and_stylesheets_are_reported(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "card.jsx": f"export const a = 1;\n{conflict('export let b;', 'export let c;')}",
            "styles/site.css": '@import "parts/base.css";\np { color: red }\n',
            "styles/parts/base.css": f"a {{\n{conflict('color: red;', 'color: blue;')}}}\n",
        },
    )
    imports = 'import "../styles/site.css";\nimport { a } from "../card.jsx";\n'
    page = imports + UI.replace("data.a", "a")
    found = await check(tmp_path, {"index.fxl": page, "other.fxl": page})

    message = (
        "a merge conflict is not resolved: 'HEAD' up to line 4, then 'feature/a b' up to line 6"
    )
    remedy = "Keep one side, or join them, and remove the three marks."
    assert found == [
        f"card.jsx:2:1: {message}. {remedy}",
        f"styles/parts/base.css:2:1: {message}. {remedy}",
    ]


@pytest.mark.node
async def test_a_brace_that_closes_nothing_is_reported_at_its_place(tmp_path: Path) -> None:
    style = 'p { color: red }\n}\n/* } */\nb::before { content: "}\\""; background: url(a}b) }\n'
    write_tree(tmp_path, {"site.css": style})
    page = f'import "../site.css";\n{UI.replace("data.a", "1")}'

    [found] = await check(tmp_path, {"index.fxl": page})

    assert found == (
        "site.css:2:1: '}' closes nothing. Remove it, or write the '{' that it closes."
    )


@pytest.mark.node
async def test_braces_behind_strings_count(tmp_path: Path) -> None:
    style = '[role="alert"] {\n}\n[title=\'a\'] { color: red }\nb { content: "}" }\n'
    write_tree(tmp_path, {"site.css": style})
    page = f'import "../site.css";\n{UI.replace("data.a", "1")}'

    assert await check(tmp_path, {"index.fxl": page}) == []
