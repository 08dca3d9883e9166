from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxtrio.tools.lsp.documents.page import parse_page
from fxtrio.tools.lsp.documents.ui_half import moved_places
from fxtrio.tools.types.ui.source.jsx_positions import read_places
from tests.lsp.test_across import FILES

ROOT = Path("/project")
TEXT = FILES["pages/index.fxl"]
UI = parse_page(ROOT, "pages/index.fxl", TEXT).checked.ui


def test_an_edit_of_the_server_half_keeps_the_client_half() -> None:
    before = parse_page(ROOT, "pages/index.fxl", TEXT)
    python = parse_page(ROOT, "pages/index.fxl", TEXT.replace("async def", "async  def"), 2, before)
    other = parse_page(ROOT, "pages/index.fxl", TEXT.replace("<Link", "<Link  ", 1), 3, python)

    assert python.ui is before.ui
    assert other.ui is not before.ui


@given(st.integers(0, len(UI)), st.text("ab_$.", max_size=6))
def test_places_move_with_a_word_that_is_written(at: int, new: str) -> None:
    places = read_places(UI)
    after = UI[:at] + new + UI[at:]
    moved = moved_places(UI, places, after)

    if moved is not None:
        before_chars = sorted((UI[one], UI[other]) for one, other in places.pairs.items())
        chars = sorted((after[one], after[other]) for one, other in moved.pairs.items())
        assert chars == before_chars
        assert all(after.startswith("export", one) for one in moved.exports)


def test_an_unfinished_tag_moves_the_positions_behind_it() -> None:
    places = read_places(UI)
    at = UI.index("<") + 1
    at = UI.index(">", at) + 1
    moved = moved_places(UI, places, UI[:at] + "<Li" + UI[at:])

    assert moved is not None
    assert set(moved.pairs) == {one + 3 * (one >= at) for one in places.pairs}


@pytest.mark.parametrize("new", ["{", "(", '"', "/*", "`"])
def test_places_are_read_again_when_they_may_pair_otherwise(new: str) -> None:
    at = UI.index("<")
    assert moved_places(UI, read_places(UI), UI[:at] + new + UI[at:]) is None
