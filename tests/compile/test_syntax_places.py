"""A syntax error is reported at its place, with the lines around it."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from fxtrio.cli.check import check
from fxtrio.compile.file_checks import check_page
from fxtrio.compile.source import read_text
from tests.trees import write_tree


def page(*lines: str) -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f"export default function P({{ data }}) {{\n  return (\n{body}\n  );\n}}\n"


JSX = {
    "a tag that is not closed": (
        page("<main>", "  <div>", "    <p>x</p>", "</main>"),
        "4:7: <div> is never closed before the '</main>' of line 6. Add '</div>'.",
    ),
    "the last tag that is not closed": (
        page("<main>", "  <p>x</p>"),
        "3:5: <main> is never closed. Add '</main>'.",
    ),
    "a tag that is not closed in code": (
        page("<ul>", "  {data.map((x) => (", "    <li>{x}", "  ))}", "</ul>"),
        "5:9: <li> is never closed before the '</ul>' of line 7. Add '</li>'.",
    ),
    "a fragment that is not closed": (
        page("<main>", "  <>", "</main>"),
        "4:7: <> is never closed before the '</main>' of line 5. Add '</>'.",
    ),
    "an element without content": (
        page("<p>", '  a<br className="x">b', "</p>"),
        "4:8: <br> is never closed before the '</p>' of line 5. Write '<br />'.",
    ),
    "an element without content at the end": (
        page("<hr>"),
        "3:5: <hr> is never closed. Write '<hr />'.",
    ),
    "the wrong closing tag": (
        page("<b>", "  x", "</i>"),
        "5:5: '</i>' does not close the <b> of line 3. Write '</b>'.",
    ),
    "a bracket of a tag": (
        page("<main", "  <p>x</p>", "</main>"),
        "3:5: the tag <main> has no end. Add '>'.",
    ),
    "a brace of code": (
        page("<p>{data.x</p>"),
        "3:8: '{' is never closed before the ')' of line 4. Add '}'.",
    ),
    "a bracket of code": (
        page("<p>{data.map((x) => x}</p>"),
        "3:17: '(' is never closed before the '}' of line 3. Add ')'.",
    ),
}

PARSED = {
    "a closing tag too many": (
        page("<b>x</b></b>"),
        "3:13: broken client code: '</b>' closes nothing. Remove it.",
    ),
    "an attribute without quotes": (
        page("<p className=x>a</p>"),
        '3:18: broken client code: Unexpected token. Write className={…} or className="…".',
    ),
    "a character of code in text": (
        page("<p>a > b</p>"),
        "3:10: broken client code: Unexpected token. Did you mean `{'>'}` or `&gt;`?",
    ),
}


@pytest.mark.parametrize("case", JSX)
def test_the_tag_that_is_wrong_is_reported(case: str) -> None:
    text, message = JSX[case]
    [problem] = check_page(read_text(text, "a.fxl"))[1]
    assert str(problem).splitlines()[0] == f"a.fxl:{message}"
    line, column = map(int, message.split(":")[:2])
    assert problem.frame == frame(text, line, column)


def frame(text: str, line: int, column: int) -> str:
    """Three lines with their numbers, and a mark below the place."""
    lines = text.splitlines()
    width = len(str(line + 1))
    rows = [f"{number:{width}} | {lines[number - 1]}" for number in (line - 1, line, line + 1)]
    return "\n".join([*rows[:2], f"{' ' * width} | {' ' * (column - 1)}^", rows[2]])


@pytest.mark.node
async def test_what_the_parser_finds_is_reported_in_the_same_way(tmp_path: Path) -> None:
    files = {f"pages/{number}.fxl": text for number, (text, _) in enumerate(PARSED.values())}
    write_tree(tmp_path, files)
    with trio.fail_after(60):
        found = await check(tmp_path, app="", imports=False, report=lambda line: None)
    heads = [str(one).partition("fxl:")[2].splitlines()[0] for one in found.problems]
    assert heads == [head for _, head in PARSED.values()]
    assert [one.frame for one in found.problems] == [
        frame(text, one.line, one.column)
        for one, (text, _) in zip(found.problems, PARSED.values(), strict=True)
    ]


@pytest.mark.parametrize(
    ("python", "place"),
    [
        ("@server\nasync def load(request)\n    return {}\n", "2:24"),
        ("x = 1\n@server\nasync def load(r):\n    return {'a': 1, 'b' 2}\n", "4:23"),
        ("x = 1\nreturn x\n", "2:1"),
    ],
)
def test_broken_python_comes_with_its_lines(python: str, place: str) -> None:
    text = f"{python}\nexport default () => <p>x</p>;\n"
    [problem] = check_page(read_text(text, "a.fxl"))[1]
    line, column = map(int, place.split(":"))
    assert (problem.line, problem.column) == (line, column)
    assert problem.frame == frame(text, line, column)


@pytest.mark.node
async def test_a_broken_module_comes_with_its_lines(tmp_path: Path) -> None:
    files = {
        "store.py": "x = 1\ny = (1\nz = 2\n",
        "pages/index.fxl": "import store\n\nexport default () => <p>{1}</p>;\n",
    }
    write_tree(tmp_path, files)
    with trio.fail_after(60):
        found = await check(tmp_path, app="", report=lambda line: None)
    [problem] = found.problems
    assert problem.frame == frame(files["store.py"], 2, 5)
    assert "\n  1 | x = 1\n  2 | y = (1\n    |     ^\n  3 | z = 2" in str(problem)
