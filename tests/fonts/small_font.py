"""A font that is generated for a test: its letters are boxes of known widths."""

from __future__ import annotations

from functools import cache
from io import BytesIO
from string import ascii_letters

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

EM = 1000


@cache
def small_font(family: str, *, width: int = 600, ascent: int = 900, flavor: str = "woff2") -> bytes:
    """Return a font whose letters and space are ``width`` wide (thousandths of an em).

    Its lines are ``ascent`` + 200 high.
    """
    pen = TTGlyphPen(None)
    pen.moveTo((50, 0))
    for corner in ((50, 500), (width - 50, 500), (width - 50, 0)):
        pen.lineTo(corner)
    pen.closePath()
    box = pen.glyph()
    names = {ord(one): one for one in ascii_letters}
    glyphs = {
        ".notdef": box,
        "space": TTGlyphPen(None).glyph(),
        **dict.fromkeys(names.values(), box),
    }
    builder = FontBuilder(EM, isTTF=True)
    builder.setupGlyphOrder(list(glyphs))
    builder.setupCharacterMap({**names, 32: "space"})
    builder.setupGlyf(glyphs)
    builder.setupHorizontalMetrics(dict.fromkeys(glyphs, (width, 50)))
    builder.setupHorizontalHeader(ascent=ascent, descent=-200)
    builder.setupNameTable({"familyName": family, "styleName": "Regular"})
    builder.setupOS2(usWeightClass=400, sTypoAscender=ascent, sTypoDescender=-200)
    builder.setupPost()
    builder.setupHead(unitsPerEm=EM, created=0, modified=0)
    builder.font.recalcTimestamp = False
    builder.font.flavor = flavor
    file = BytesIO()
    builder.save(file)
    return file.getvalue()
