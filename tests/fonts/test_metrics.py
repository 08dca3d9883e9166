"""What a stylesheet says of a font, so that another one takes the same space."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from fxtrio.fonts.describe import describe
from fxtrio.fonts.metrics import MONO, SANS, SERIF, FontInvalid, read_font
from tests.fonts.small_font import small_font


def test_letters_and_lines_of_the_fallback_take_the_space_of_the_font() -> None:
    font = read_font(small_font("Wide", width=800, ascent=1100))

    assert (font.family, font.weight, font.style) == ("Wide", "400", "normal")
    assert (font.generic, font.locals[0]) == ("sans-serif", "Arial")
    enlarged = font.size / 100
    assert SANS.average * enlarged == pytest.approx(0.8, rel=0.001)
    assert font.ascent / 100 * enlarged == pytest.approx(1.1, rel=0.001)
    assert font.descent / 100 * enlarged == pytest.approx(0.2, rel=0.001)
    assert font.gap == 0


def test_each_format_says_the_same() -> None:
    fonts = {read_font(small_font("Wide", flavor=one)) for one in ("woff2", "woff")}

    assert len(fonts) == 1


def test_an_average_letter_of_text_is_narrower_in_times_than_in_arial() -> None:
    assert SERIF.average < SANS.average < MONO.average


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"", "it is not a font"),
        (b"<html>", "it is not a font"),
        (small_font("Wide")[:200], "it is damaged"),
        (b"wOF2" + bytes(100), "it is damaged"),
        (b"\0\1\0\0" + bytes(12), "it is damaged"),
        (b"wOF2" + bytes(10_000_000), "10,000,000 are allowed"),
    ],
)
def test_a_file_that_is_no_font_is_rejected(data: bytes, cause: str) -> None:
    with pytest.raises(FontInvalid, match=cause):
        read_font(data)


def test_a_font_outside_of_the_project_is_not_read(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    (tmp_path / "a.woff2").write_bytes(small_font("Wide"))
    (root / "a.woff2").symlink_to(tmp_path / "a.woff2")
    (root / "b.woff2").write_bytes(small_font("Wide"))

    assert describe(root, root / "a.woff2")["problem"]["message"] == "it is outside of the project"
    assert describe(root, root / "none.woff2")["problem"]["message"].startswith("it cannot be read")
    assert describe(root, root / "b.woff2") == {"font": attrs.asdict(read_font(small_font("Wide")))}
