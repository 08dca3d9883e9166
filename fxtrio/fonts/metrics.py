"""A font file in, out what a stylesheet says of it, and of the font that stands in for it."""

from __future__ import annotations

import struct
from io import BytesIO
from typing import Any

import attrs
import brotli
from fontTools.ttLib import TTFont, TTLibError

from fxtrio.errors import AssetInvalid, first_line

MOST_BYTES = 10_000_000
"""Of a font file: the largest with all Chinese characters have about this size."""

_BROKEN = (
    *(TTLibError, OSError, ValueError, EOFError, TypeError, AssertionError, AttributeError),
    *(LookupError, ArithmeticError, ImportError, struct.error, MemoryError, brotli.error),
)
"""What fontTools raises for files that it cannot read."""

_USE_TYPO_METRICS = 1 << 7
_ITALIC = 1 << 0

_LETTERS = "abcdefghijklmnopqrstuvwxyz "


def _by_letter(*values: float) -> dict[str, float]:
    return dict(zip(_LETTERS, values, strict=True))


_SHARES = _by_letter(
    *(65, 13, 22, 33, 104, 18, 16, 49, 57, 1, 6, 35, 20, 57, 62, 15, 1, 50, 53, 75),
    *(23, 8, 17, 1, 14, 1, 182),
)
"""How often letters are used in English text (per mille). Fonts differ more in the width of an
average letter than languages do."""


@attrs.frozen
class StandIn:
    """A font that all systems have, or have one of the same widths for."""

    generic: str
    locals: tuple[str, ...]
    """Its names, and those of fonts of the same widths."""

    average: float
    """Width of an average letter of text (em)."""


_ARIAL = _by_letter(
    *(556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556),
    *(556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 278),
)
_TIMES = _by_letter(
    *(444, 500, 444, 500, 444, 333, 500, 500, 278, 278, 500, 278, 778, 500),
    *(500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 250),
)
"""Widths of letters (thousandths of an em), as Adobe published them for Helvetica and Times."""


def average_width(widths: dict[str, float]) -> float:
    """Return the width of an average letter of text, of those letters that there are."""
    shares = {letter: share for letter, share in _SHARES.items() if letter in widths}
    total = sum(shares.values())
    return sum(widths[letter] * share for letter, share in shares.items()) / total if total else 0


SANS = StandIn(
    "sans-serif",
    ("Arial", "ArialMT", "Liberation Sans", "Arimo", "Helvetica"),
    average_width({letter: width / 1000 for letter, width in _ARIAL.items()}),
)
SERIF = StandIn(
    "serif",
    ("Times New Roman", "TimesNewRomanPSMT", "Liberation Serif", "Tinos", "Times"),
    average_width({letter: width / 1000 for letter, width in _TIMES.items()}),
)
MONO = StandIn(
    "monospace", ("Courier New", "CourierNewPSMT", "Liberation Mono", "Cousine", "Courier"), 0.6
)


class FontInvalid(AssetInvalid):
    """A file cannot be used as a font."""


@attrs.frozen
class Font:
    """What a stylesheet says of a font."""

    family: str
    weight: str
    """One number, or the two ends of the range of a variable font."""

    style: str
    generic: str
    locals: tuple[str, ...]
    """Names of the fonts that stand in."""

    size: float
    """How large letters of these are, so that text is as wide (per cent)."""

    ascent: float
    descent: float
    gap: float
    """What lines of these have above, below and between them (per cent of the enlarged letters)."""


def read_font(data: bytes) -> Font:
    """Read a TTF, OTF, WOFF or WOFF2. Raises FontInvalid."""
    if len(data) > MOST_BYTES:
        raise FontInvalid(
            f"it has {len(data):,} bytes; {MOST_BYTES:,} are allowed",
            "Leave out characters that no page has, such as with pyftsubset",
        )
    if data[:4] not in (b"wOF2", b"wOFF", b"OTTO", b"true", b"\0\1\0\0"):
        raise FontInvalid("it is not a font", "Use a WOFF2, WOFF, TTF or OTF file")
    try:
        with TTFont(BytesIO(data), lazy=True) as font:
            return _font(font)
    except _BROKEN as error:
        raise FontInvalid(f"it is damaged ({first_line(error)})", "Get the file again") from error


def _font(font: Any) -> Font:
    names, os2, em = font["name"], font["OS/2"], font["head"].unitsPerEm
    family = names.getDebugName(16) or names.getDebugName(1)
    if not family:
        raise ValueError("it has no name")
    axes = {axis.axisTag: axis for axis in font["fvar"].axes} if "fvar" in font else {}
    weight = axes.get("wght")
    stand_in = _stand_in(font)
    characters, advances = font.getBestCmap(), font["hmtx"].metrics
    widths = {
        letter: advances[characters[ord(letter)]][0] / em
        for letter in _SHARES
        if ord(letter) in characters
    }
    size = (average_width(widths) / stand_in.average) or 1
    ascent, descent, gap = _line(font)
    return Font(
        str(family),
        _weight(os2) if weight is None else f"{weight.minValue:g} {weight.maxValue:g}",
        "italic" if os2.fsSelection & _ITALIC else "normal",
        stand_in.generic,
        stand_in.locals,
        round(size * 100, 2),
        *(round(one / em / size * 100, 2) for one in (ascent, descent, gap)),
    )


def _weight(os2: Any) -> str:
    return str(min(max(os2.usWeightClass, 1), 1000))  # what CSS allows


def _line(font: Any) -> tuple[float, float, float]:
    """Return ascent, descent and gap as browsers take them."""
    os2, hhea = font["OS/2"], font["hhea"]
    if os2.fsSelection & _USE_TYPO_METRICS:
        return os2.sTypoAscender, -os2.sTypoDescender, os2.sTypoLineGap
    return hhea.ascent, -hhea.descent, hhea.lineGap


def _stand_in(font: Any) -> StandIn:
    if font["post"].isFixedPitch:
        return MONO
    panose = font["OS/2"].panose
    is_serif = panose.bFamilyType == 2 and 2 <= panose.bSerifStyle <= 10
    return SERIF if is_serif or 0 < font["OS/2"].sFamilyClass >> 8 < 8 else SANS
