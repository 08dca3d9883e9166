"""Whatever a page file holds: no wrong split without a problem, no exception, linear time."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fxtrio.compile.file_checks import check_page
from fxtrio.compile.source import read_text
from fxtrio.compile.split.halves import Sections, split
from fxtrio.compile.split.python_statements import Broken, parse
from tests.compile.hostile import (
    DECLARATIONS,
    FRAGMENTS,
    LARGE,
    NEWER_PYTHON,
    PYTHON,
    SAMPLES,
    UI,
)
from tests.linear.work import MOST_STEPS, Work
from tests.short import amount

ANY_PYTHON = [*PYTHON, *NEWER_PYTHON]


@given(st.lists(st.sampled_from(ANY_PYTHON) | st.sampled_from(UI), max_size=12), st.booleans())
def test_statements_go_to_their_half_in_any_order(pieces: list[str], crlf: bool) -> None:
    text = "".join(pieces)
    python = "".join(piece if piece in ANY_PYTHON else "\n" * piece.count("\n") for piece in pieces)
    ui = "".join(piece if piece in UI else "\n" * piece.count("\n") for piece in pieces)
    sections = split(text.replace("\n", "\r\n") if crlf else text, "a.fxl")
    assert sections.problems == ()
    assert (sections.python, sections.ui) == (python, ui)


def without_blanks(line: str) -> str:
    """Return a line without what is blank at its ends, in JavaScript a byte order mark as well."""
    return line.strip().strip("\ufeff").strip()


def holds_together(text: str, sections: Sections) -> None:
    """Check what is true of every split."""
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    python, ui = sections.python.split("\n"), sections.ui.split("\n")
    assert len(lines) == len(python) == len(ui)
    for line, python_line, ui_line in zip(lines, python, ui, strict=True):
        assert "" in (python_line, ui_line)
        assert python_line + ui_line in ("", line)
        if not sections.problems and not line.lstrip(" \t\f").startswith("#"):
            assert without_blanks(python_line + ui_line) == without_blanks(line)
    if not sections.problems:
        assert not isinstance(parse(sections.python), Broken)
    for problem in sections.problems:
        assert 1 <= problem.line <= len(lines)
        assert problem.column >= 1
        assert "\n" not in problem.head
        assert len(problem.frame) < 1000


@example("\ufeff\ufeff`")
@settings(max_examples=amount(75, short=10, long=300))
@given(st.lists(FRAGMENTS, max_size=40).map("".join))
def test_any_mixture_of_fragments_holds_together(text: str) -> None:
    holds_together(text, split(text, "a.fxl"))


@given(st.text(max_size=80))
def test_any_text_holds_together(text: str) -> None:
    holds_together(text, split(text, "a.fxl"))


@settings(max_examples=amount(50, short=10, long=200))
@given(st.data())
def test_a_sample_with_a_piece_cut_out_holds_together(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(SAMPLES))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 60)))
    cut = text[:start] + data.draw(st.sampled_from(["", '"', "`", "{", "<a>", "("])) + text[end:]
    holds_together(cut, split(cut, "a.fxl"))


@pytest.mark.parametrize("piece", LARGE.values(), ids=LARGE)
def test_the_work_is_linear_in_the_size(piece: str) -> None:
    work = Work()

    def read(text: bytes) -> None:
        split(text.decode(), "a.fxl")

    # A chain has other names in each line, so that it is not repeated but shortened.
    parts = piece.splitlines(keepends=True)[:400] if len(piece) > 10_000 else [piece] * 32
    small = work.of(read, "".join(parts[: len(parts) // 8]).encode())
    large = work.of(read, "".join(parts).encode())
    assert 0 < large < MOST_STEPS
    assert large <= 2 * 8 * small


@pytest.mark.parametrize("piece", LARGE.values(), ids=LARGE)
def test_a_long_page_holds_together(piece: str) -> None:
    text = piece * (amount(25_000, long=100_000) // len(piece))
    holds_together(text, split(text, "a.fxl"))


@settings(max_examples=amount(50, short=10, long=200))
@given(st.lists(FRAGMENTS | st.sampled_from(DECLARATIONS), max_size=30).map("".join))
def test_any_mixture_can_be_checked(text: str) -> None:
    page, problems = check_page(read_text(text, "pages/index.fxl"))
    assert page.whole or problems
    if not problems:
        compile(page.python, "page", "exec")


@pytest.mark.parametrize(
    "text",
    [
        "HEAD = " + " + ".join(["'a'"] * 900),
        "x = y" + ".a" * 900,
        "@server" + "()" * 500 + "\nasync def load(request): ...",
        "x = " + "lambda: " * 90 + "1",
        "CACHE = {'revalidate': " + "9" * 4200 + "}",
        "CACHE = {'revalidate': " + "*".join(["9" * 4000] * 50) + "}",
        "HEAD = '" + "<a " * 10_000 + "'",
        "def f():\n" + "  @server\n  async def g(r): ...\n" * 500,
        "@server\nasync def load(r): ...\n" * 500,
    ],
)
def test_extreme_python_is_reported_and_not_raised(text: str) -> None:
    assert check_page(read_text(text, "pages/index.fxl"))[1]
