from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from fxtrio.tools.lsp.answers.symbols import Setting, thing_at
from fxtrio.tools.lsp.checks.checking import diagnostic_of, moved
from fxtrio.tools.lsp.documents.page import parse_page
from fxtrio.tools.lsp.documents.positions import places_of, position_in
from fxtrio.tools.types.gather.page_types import PageTypes
from tests.lsp.test_across import FILES

ROOT = Path("/project")
TEXT = FILES["pages/index.fxl"]


@settings(max_examples=60)
@given(st.integers(0, len(TEXT)), st.integers(0, 300), st.text(max_size=5), st.booleans())
def test_a_half_written_file_is_looked_at(at: int, cut: int, new: str, ends: bool) -> None:
    text = TEXT[:at] + new + ("" if ends else TEXT[at + cut :])
    page = parse_page(ROOT, "pages/index.fxl", text)
    setting = Setting(page, PageTypes("pages/index.fxl", "page"), None)

    thing_at(setting, (), page.places.position(at))
    for problem in page.problems:
        found = diagnostic_of(problem, page.places).range
        start, end = (page.places.offset(position_in(one)) for one in (found.start, found.end))
        assert start <= end
        assert page.places.position(start) == position_in(found.start)


def test_a_problem_moves_with_its_line() -> None:
    before = "one = 1\ntwo = 2\nimport three\nfour = 4\n"
    page = parse_page(ROOT, "pages/index.fxl", before)
    (problem,) = [
        one
        for one in parse_page(ROOT, "pages/index.fxl", before + "x = nowhere\n").problems
        if "nowhere" in one.message
    ]
    after = places_of("zero = 0\n" + before + "x = nowhere\n")
    now = places_of(before + "x = nowhere\n")

    assert [one.line for one in moved([problem], now, after)] == [6]
    assert [one.line for one in moved([problem], now, now)] == [5]
    assert moved([problem], now, page.places) == []
