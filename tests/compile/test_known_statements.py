"""A page is divided in the same way whatever was read before, and an edit reads one statement."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fxtrio.compile.split import halves, known_statements
from fxtrio.compile.split.halves import Sections
from fxtrio.compile.split.known_statements import StatementReader
from fxtrio.compile.split.scanner import Scanner, Stop
from tests.compile.hostile import FRAGMENTS, LARGE, SAMPLES
from tests.short import amount

divide = halves._split.__wrapped__

PIECES = st.sampled_from(
    [
        "export function A({ data }) {\n  return <p>{data.name}</p>;\n}\n",
        "const b = [\n  1,\n]\n\n  \n",
        "const c = {\n  x: 1,\n};\n/re{2}/.test(c)\n",
        "function d(\n  x,\n) {\n  return x < 3;\n}\n",
        "const e = `a {\n}\n`;\n",
        "const f = css`\n  p {\n}\n${c}`;\n",
        "const g = (x) => {\n  return <T>(x) + 1;\n}\n",
        "const h = (\n  <T>(a)</T>\n);\n",
        "if (b) {\n}\n<p>text</p>;\n",
        "type I = {\n  a: number;\n}\n",
        "@server\nasync def load(request):\n    return {\n}\n\n",
        "const broken = (\n}\n",
        "/* {\n}\n*/\n",
        "x = {\n",
        "}\n",
        "   \n",
        "   ",
    ]
)


EDITED = [*SAMPLES, *(piece * 20 for piece in LARGE.values() if len(piece) < 200)]


def plainly(text: str) -> Sections:
    """Divide a text without anything that is known."""
    with pytest.MonkeyPatch.context() as patch:

        def next_line(reader: StatementReader) -> Stop | None:
            return reader._scanner.next_line()

        patch.setattr(StatementReader, "next_line", next_line)
        return divide(text, "a.fxl")


@settings(max_examples=amount(150, short=40, long=1000))
@given(st.lists(PIECES, max_size=8).map("".join))
def test_statements_that_are_known_are_what_they_are_when_they_are_read(text: str) -> None:
    for one in (text, text + text, f"export default () => {{\n{text}}}\n"):
        assert divide(one, "a.fxl") == plainly(one)


@settings(max_examples=amount(75, short=10, long=300))
@given(st.lists(FRAGMENTS, max_size=40).map("".join))
def test_so_is_any_mixture_of_fragments(text: str) -> None:
    assert divide(text, "a.fxl") == plainly(text)


@settings(max_examples=amount(75, short=20, long=300))
@given(st.data())
def test_so_is_a_page_that_is_edited(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(EDITED))
    for _ in range(3):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 30))
        put = data.draw(st.sampled_from(["", "\n", "}", "{", "`", "<T>(x)", "\n}\n", "(\n", " "]))
        text = text[:at] + put + text[at + cut :]
        assert divide(text, "a.fxl") == plainly(text)


def test_after_an_edit_only_its_statement_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(
        f"export function Part{n}() {{\n  return <p>{n}</p>;\n}}\n\n" for n in range(100)
    )
    divide(text, "a.fxl")
    read: list[str] = []
    plain = Scanner.next_line

    def noted(scanner: Scanner) -> Stop | None:
        start = scanner.offset
        stop = plain(scanner)
        read.append(scanner.source.text[start : scanner.offset])
        return stop

    monkeypatch.setattr(Scanner, "next_line", noted)
    edited = text.replace("<p>50</p>", "<b>50</b>")
    assert divide(edited, "a.fxl").ui == edited
    assert read == ["export function Part50() {\n  return <b>50</b>;\n}\n\n"]


@pytest.mark.parametrize("line", ["// {\n", "a(); // {\n", "a(`{`) // [\n"])
def test_lines_that_only_seem_to_open_a_bracket_are_read_once(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = line * 500 + "export const b = (\n  1\n);\n"
    sizes = []
    read = known_statements._read.__wrapped__

    def noted(statement: str, operand: bool, last: str) -> object:
        sizes.append(len(statement))
        return read(statement, operand, last)

    monkeypatch.setattr(known_statements, "_read", noted)
    assert divide(text, "a.fxl") == plainly(text)
    assert sum(sizes) <= len(text)
