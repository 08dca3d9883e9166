"""Page files fall into a Python half and a UI half, line for line."""

from __future__ import annotations

from pathlib import Path

import pytest

from fxtrio.compile.problems import format_text
from fxtrio.compile.source import SourceText, read_bytes
from fxtrio.compile.split.halves import split, split_source
from tests.compile.halves import halves_of

CASES = Path(__file__).parent / "cases"


@pytest.mark.parametrize("case", sorted(CASES.glob("*.fxl")), ids=lambda path: path.stem)
def test_a_sample_file_splits_as_written_beside_it(case: Path) -> None:
    source = read_bytes(case.read_bytes(), case.name)
    assert isinstance(source, SourceText)
    sections = split_source(source)
    found = halves_of(sections)
    found += format_text(sections.problems).replace(f"{case.name}:", "! ")
    assert found == case.with_suffix(".halves").read_text()


@pytest.mark.parametrize("case", sorted(CASES.glob("*.fxl")), ids=lambda path: path.stem)
def test_every_line_of_a_sample_file_is_in_one_half_as_it_was(case: Path) -> None:
    source = read_bytes(case.read_bytes(), case.name)
    assert isinstance(source, SourceText)
    sections = split_source(source)
    lines = source.text.split("\n")
    assert len(lines) == sections.python.count("\n") + 1 == sections.ui.count("\n") + 1
    for line, python, ui in zip(
        lines, sections.python.split("\n"), sections.ui.split("\n"), strict=True
    ):
        assert python + ui in (line, "") and "" in (python, ui)


def problems_of(text: str) -> list[str]:
    return [problem.head.removeprefix("a.fxl:") for problem in split(text, "a.fxl").problems]


def test_crlf_and_a_byte_order_mark_change_no_position() -> None:
    text = "\ufeffx = 1\r\nconst a = 2\r\n@server\r\nasync def load(request:\r\n    return 1\r\n"
    assert problems_of(text) == [
        "4:15: broken Python: '(' was never closed. Write the bracket that closes '('."
    ]


def test_a_nul_byte_is_reported_and_nothing_is_split() -> None:
    sections = split("x = 1\nexport\0 default 1", "a.fxl")
    assert [problem.head for problem in sections.problems] == [
        "a.fxl:2:7: there is a NUL byte. Save the file as text, in UTF-8."
    ]
    assert (sections.python, sections.ui) == ("\n", "\n")


def test_bytes_that_are_not_utf_8_are_reported_with_their_place() -> None:
    problem = read_bytes(b"x = 1\r\ny = '\xff'", "a.fxl")
    assert str(problem) == "a.fxl:2:6: byte 0xff is not UTF-8. Save the file as UTF-8."


@pytest.mark.parametrize(
    "line",
    [
        "def f(:",
        "def f(x)",
        "def f",
        "async def load(request) -> :",
        "class A(B",
        "class A(B) pass:",
        "@server",
        "@server(",
        "from a import",
        "from . import 1",
        "import a.",
        "import a.b from c",
        "import a as",
        "HEAD = [",
        "HEAD = <title>x</title>",
        "CACHE = {'revalidate' 3}",
        "STANDALONE = true && false",
        "if x y:",
        "for x on y:",
        "with open(x) f:",
        "try:",
        "raise Foo(",
        "assert x,",
        '"""never closed',
    ],
)
def test_a_line_that_begins_like_python_and_does_not_parse_is_broken_python(line: str) -> None:
    text = f"import x from 'y'\n{line}\n"
    sections = split(text, "a.fxl")
    assert len(sections.problems) == 1
    assert sections.problems[0].message.startswith("broken Python: ")
    assert sections.problems[0].line in (2, 3)
    assert (sections.python.strip(), sections.ui.strip()) == ("", "import x from 'y'")


def test_python_below_code_whose_bracket_is_open_names_the_bracket() -> None:
    text = "export function A() {\n  if (x) {\n}\n\nasync def load(request):\n    return {}\n"
    sections = split(text, "a.fxl")
    assert [problem.head for problem in sections.problems] == [
        "a.fxl:1:21: '{' is never closed before the Python of line 5. Add '}'."
    ]
    assert halves_of(sections) == "ui 1-3\npython 5-6\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("const a = 'x\nconst b = 1", "1:11: the string that starts with ' has no end. Add '."),
        ('const a = "x\\', '1:11: the string that starts with " has no end. Add ".'),
        ("const a = 1 /* x", "1:13: the comment has no end. Add '*/'."),
        ("const a = `x${1}", "1:11: '`' is never closed. Add '`'."),
        ("const a = `x${1", "1:13: '${' is never closed. Add '}'."),
        ("const a = <p>x", "1:11: <p> is never closed. Add '</p>'."),
        ("const a = <p x='1>", "1:16: the string that starts with ' has no end. Add '."),
        ("const a = <p", "1:11: <p> is never closed. Add '>'."),
        ("const a = <A<b x", "1:13: '<' is never closed. Add '>'."),
        ("const a = <>x</p>", "1:14: '</p>' does not close the <> of line 1. Write '</>'."),
        ("const a = (1]", "1:13: ']' does not close the '(' of line 1. Write ')'."),
        ("const a = 1)", "1:12: ')' closes nothing. Remove it."),
        ("const a = <p>a <= b</p>", "1:16: '<' in JSX text starts no element. Write {'<'}."),
        ("const a = <p;>", "1:13: ';' does not belong in the tag <p>. Remove it"),
        ("const a = \x01", "1:11: '\\x01' has no meaning in JavaScript. Remove it."),
        ("x = '", "1:5: broken Python: unterminated string literal (detected at line 1)."),
        ("y = 1\nx = '''\n\n", "2:5: broken Python: unterminated triple-quoted string literal "),
        ("x = 1\n  y = 2\n", "2:3: unexpected indentation. Start the statement in column 1."),
        ("const a = 1\n  def f(): pass\n", "2:3: Python is indented. Start the statement in"),
        ("if x:\n\ty\n        z\n", "3:1: broken Python: inconsistent use of tabs"),
        ("x = 1\n# --- ui ---\ny = 1\n# --- ui ---\n", "4:1: there is a second '# --- ui ---'"),
        ("x = (\n# --- ui ---\ny = 1\n", "1:5: broken Python: '(' was never closed."),
        (
            "# --- ui ---\ny = 1\ndef x(): pass",
            "3:1: there is Python below the '# --- ui ---' line",
        ),
        ("-" * 100_000 + "1", "1:1: broken Python: it is nested too deeply."),
    ],
)
def test_what_has_no_end_or_no_sense_is_one_problem_with_its_place(text: str, problem: str) -> None:
    found = problems_of(text)
    assert len(found) == 1
    assert found[0].startswith(problem)


def test_lines_that_a_message_of_python_names_are_lines_of_the_file() -> None:
    found = problems_of("x = 1\n\n\ny = (\n    1]\n")
    assert "does not match opening parenthesis '(' on line 4" in found[0]
    assert found[0].startswith("5:6: ")


def test_all_broken_statements_are_reported_at_once() -> None:
    text = "x = = 1\ny = 2\nprint 'a'\nconst a = 1\ndef f(: pass\nexport {}\nimport a.\n"
    assert [int(found.split(":")[0]) for found in problems_of(text)] == [1, 3, 5, 7]


@pytest.mark.parametrize(
    ("text", "halves"),
    [
        ("HEAD = 'a'\nlet HEAD_2 = 1\nHEAD_2 = 5\nHEAD = 'b'", "python 1\nui 2-3\npython 4\n"),
        ("const a =\nHEAD_2 = 5", "ui 1-2\n"),
        ("const a = 1\nHEAD_2 = f(5)", "ui 1-2\n"),
        ("const a = 1\nHEAD_2 = [1, {'a': (2,)}]", "ui 1\npython 2\n"),
        ("const a = 1\n__all__ = (1,)", "ui 1\npython 2\n"),
        ("const a = 1\nif (x) y:", "ui 1\n! "),
        ("const a = 1\nif (a) { // see:\n}", "ui 1-3\n"),
        ("const a = b ?\n  match(x) :\n  c", "ui 1-3\n"),
        ("x = 1\nif (y) z()", "python 1\nui 2\n"),
        ("x = 1\nif (y)\n    z()", "python 1\n! "),
        ("x = 1\ntype A = string | 'b'", "python 1\nui 2\n"),
        ("x = 1\ntype = 3", "python 1-2\n"),
        ("await x()", "ui 1\n"),
        ("x = a ? b : c", "ui 1\n"),
        ("x = a => b", "ui 1\n"),
        ("x.y(function () {\n})", "ui 1-2\n"),
        ("{\n  a()\n}", "ui 1-3\n"),
        ("window.x = 1", "ui 1\n"),
        ("x = 1;", "ui 1\n"),
        ("X = 1;", "python 1\n"),
        ("a: int = 1", "python 1\n"),
        ("'doc'", "python 1\n"),
        ("'use strict'", "ui 1\n"),
        ("import a\nfrom b import c", "python 1-2\n"),
        ("import a\nfrom 'b'", "ui 1-2\n"),
        ("import a\n  from 'b'", "ui 1-2\n"),
        ("import('b')", "ui 1\n"),
        ("@a\n@b(\n  1,\n)\ndef f(): pass", "python 1-5\n"),
        ("@a\n@b({x: 1})\nexport class F {}", "ui 1-3\n"),
        ("@a class F {}", "ui 1\n"),
        ("const a = 1\n@a\nclass F:\n    pass", "ui 1\npython 2-4\n"),
        ("const a = 1\n# note", "ui 1\npython 2\n"),
        ("export default 1 # 2", "ui 1\n"),
        ("x = 1\n\n\n\n  import a from 'b'\n  export {}", "python 1\nui 5-6\n"),
    ],
)
def test_a_line_that_could_be_either_goes_where_its_signs_point(text: str, halves: str) -> None:
    sections = split(text, "a.fxl")
    found = halves_of(sections) + "".join("! " for _ in sections.problems)
    assert found == halves


@pytest.mark.parametrize(
    ("text", "exports"),
    [
        ("export default 1", True),
        ("export default function A() {}", True),
        ("const a = 1; export default class {}", True),
        ("const a = 1\nexport { b, a as default }", True),
        ("export { default } from './x'", True),
        ("export * from './x'", False),
        ("export const a = `\nexport default 1`", False),
        ("function a() { /* export default */ }\n// export default", False),
        ("const a = <p>\nexport default 1\n</p>", False),
        ("export { defaults }", False),
        ('"""\nexport default 1\n"""', False),
    ],
)
def test_a_default_export_counts_only_as_a_statement(text: str, exports: bool) -> None:
    assert split(text, "a.fxl").exports_default is exports
