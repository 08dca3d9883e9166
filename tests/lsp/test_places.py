from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxtrio.lsp.places import edited, places_of, units
from fxtrio.lsp.rpc import RequestRefused

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
    change = {"range": {"start": start, "end": end}, "text": new}
    expected = as_an_editor(
        text, (start["line"], start["character"]), (end["line"], end["character"]), new
    )

    assert edited(text, [change]) == expected


@pytest.mark.parametrize(
    ("line", "character", "offset"),
    [(0, 99, 2), (1, 0, 4), (1, 2, 5), (1, 1, 5), (7, 0, 6), (2, 5, 6)],
)
def test_a_place_behind_an_end_is_the_end(line: int, character: int, offset: int) -> None:
    places = places_of("ab\r\n😀\n")

    assert places.offset({"line": line, "character": character}) == offset


def test_changes_are_made_in_their_order() -> None:
    def change(line: int, start: int, end: int, text: str) -> dict[str, object]:
        places = {"line": line, "character": start}, {"line": line, "character": end}
        return {"range": dict(zip(("start", "end"), places, strict=True)), "text": text}

    assert edited("", [{"text": "abc"}, change(0, 1, 2, "XY\n"), change(1, 0, 1, "")]) == "aXY\n"


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"text": 1},
        {"text": "", "range": {}},
        {"text": "", "range": {"start": 1, "end": None}},
        3,
    ],
)
def test_what_is_no_change_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(RequestRefused):
        edited("abc", [change])
