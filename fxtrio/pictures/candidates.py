"""Which files a picture becomes: widths and formats, without looking at pixels. Pure."""

from __future__ import annotations

import attrs

AVIF = "image/avif"
WEBP = "image/webp"

_WIDTHS = (320, 480, 720, 1080, 1620, 2160)
"""Widths of files (pixels), each half as large again: the most that is loaded for nothing."""

MOST_SIDE = 16_383
"""Of a file (pixels): what WebP allows."""

_NEAR = 0.85
"""A width that is nearer than this to the largest one saves too few bytes for a file of its own."""


@attrs.frozen
class Candidate:
    """A file that browsers may choose."""

    name: str
    """Without a folder."""

    type: str
    """Its media type."""

    width: int
    """In pixels."""


def shown_size(width: int, height: int, most: int | None) -> tuple[int, int]:
    """Return the size that a page gives a picture: its own, or at most ``most`` wide (pixels)."""
    if most is None or most >= width:
        return width, height
    return most, max(1, round(height * most / width))


def candidates_of(stem: str, width: int, most: int | None) -> tuple[Candidate, ...]:
    """Return the files of a picture that is ``width`` pixels wide, AVIF first, narrowest first.

    None is wider than the picture, nor than twice ``most``, which screens of high density show.
    Browsers without AVIF are few and old: every second width is WebP.
    """
    largest = min(width, _WIDTHS[-1] if most is None else 2 * most)
    widths = [*(one for one in _WIDTHS if one < largest * _NEAR), largest]
    avif = [Candidate(f"{stem}-{one}.avif", AVIF, one) for one in widths]
    webp = [Candidate(f"{stem}-{one}.webp", WEBP, one) for one in widths[::-1][::2][::-1]]
    return (*avif, *webp)
