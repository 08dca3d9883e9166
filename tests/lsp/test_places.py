from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from fxtrio.tools.lsp.documents.positions import Position, places_of, units
from fxtrio.tools.lsp.server import EditedText

CHARACTERS = st.sampled_from("ab \r\n\x0b\x0c\x1c\x85\u2028é😀\ud83d")
TEXTS = st.text(CHARACTERS, max_size=40)


def as_an_editor(text: str, start: tuple[int, int], end: tuple[int, int], new: str) -> str:
    """Edit a text as an editor does: as lines of UTF-16 units."""
    wide = text.encode("utf-16-le", "surrogatepass")
    units = [wide[index : index + 2] for index in range(0, len(wide), 2)]
    starts = [0]
    for index, unit in enumerate(units):
        after = units[index + 1] if index + 1 < len(units) else b""
        if unit == b"\n\0" or (unit == b"\r\0" and after != b"\n\0"):
            starts.append(index + 1)
    first, last = starts[start[0]] + start[1], starts[end[0]] + end[1]
    middle = new.encode("utf-16-le", "surrogatepass")
    return (b"".join(units[:first]) + middle + b"".join(units[last:])).decode(
        "utf-16-le", "surrogatepass"
    )


@given(TEXTS, st.data())
def test_places_lead_back_to_their_offsets(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    places = places_of(text)
    position = places.position(offset)
    line = text[: offset + (text[offset - 1 : offset + 1] == "\r\n")]

    assert position["character"] == units(
        line[places.offset({**position, "character": 0}) : offset]
    )
    if text[offset - 1 : offset + 1] != "\r\n":  # between the two there is no place
        assert places.offset(position) == offset


@given(st.text(st.sampled_from("ab\n\x0b\x0c\u2028é😀"), max_size=40), TEXTS, st.data())
def test_an_edit_changes_what_the_editor_has_changed(
    text: str, new: str, data: st.DataObject
) -> None:
    places = places_of(text)
    first = data.draw(st.integers(0, len(text)))
    last = data.draw(st.integers(first, len(text)))
    start, end = places.position(first), places.position(last)
    written = EditedText("file:///a", text)
    written.apply_change(change(start, end, new))
    expected = as_an_editor(
        text, (start["line"], start["character"]), (end["line"], end["character"]), new
    )

    assert written.source == expected


@pytest.mark.parametrize(
    ("line", "character", "offset"),
    [(0, 99, 2), (1, 0, 4), (1, 2, 5), (1, 1, 5), (7, 0, 6), (2, 5, 6)],
)
def test_a_place_behind_an_end_is_the_end(line: int, character: int, offset: int) -> None:
    places = places_of("ab\r\n😀\n")

    assert places.offset({"line": line, "character": character}) == offset


def change(start: Position, end: Position, text: str) -> types.TextDocumentContentChangePartial:
    range_ = types.Range(types.Position(**start), types.Position(**end))
    return types.TextDocumentContentChangePartial(range_, text)


def test_changes_are_applied_in_order() -> None:
    text = EditedText("file:///a", "")
    text.apply_change(types.TextDocumentContentChangeWholeDocument("abc"))
    for line, start, end, new in ((0, 1, 2, "XY\n"), (1, 0, 1, "")):
        first, last = {"line": line, "character": start}, {"line": line, "character": end}
        text.apply_change(change(first, last, new))

    assert text.source == "aXY\n"
