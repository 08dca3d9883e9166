"""Pictures of a project, described and encoded once for each content, in the cache `.fx/pictures`.

An entry is a folder that is named after all that its files depend on: the content, the encoder
and what is asked for. It holds `picture.json` and those files that were asked for.
"""

from __future__ import annotations

import hashlib
import re
import time
from base64 import b64encode
from collections.abc import Collection, Mapping
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Literal

import attrs
import msgspec
import PIL
from PIL import Image

from fxtrio.atomic_write import write_whole
from fxtrio.build_folder import UNUSABLE, require_no_link
from fxtrio.pictures.pixels import (
    PictureInvalid,
    is_animated,
    open_picture,
    pixels_of,
    resized,
    upright_size,
)

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


def display_size(width: int, height: int, most: int | None) -> tuple[int, int]:
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


FOLDER = ".fx/pictures"

_ENTRY = "picture.json"
_VERSION = "1"
"""Raised when the same content becomes other files."""

_UNUSED = 30 * 24 * 3600
"""How long an entry stays that nothing asks for (seconds)."""

_TINY = 16
"""Width of a placeholder (pixels): browsers enlarge it, which blurs it."""

_QUALITY = {
    AVIF: {"quality": 55, "speed": 8, "max_threads": 1},
    WEBP: {"quality": 75, "method": 2},
}
"""About the same errors for each type. Slower settings save a twentieth of the bytes, for twice
the time; an AVIF whose threads share the work is another file each time."""

_OF_PHOTOS = {AVIF: {**_QUALITY[AVIF], "speed": 9}, WEBP: _QUALITY[WEBP]}
"""For what was a JPEG: a third of the time, and as many bytes. Drawings and screenshots would
have twice as many."""

All = Literal["all"]

_SUFFIXES = {"JPEG": ".jpg", "PNG": ".png", "WEBP": ".webp", "AVIF": ".avif", "GIF": ".gif"}


@attrs.frozen
class Picture:
    """A picture of a page: an entry of the cache, whose files may still have to be encoded."""

    key: str
    """Name of the entry's folder."""

    width: int
    height: int
    """The size that it has on a page (CSS pixels)."""

    candidates: tuple[Candidate, ...]
    placeholder: str
    """A tiny copy as a data URL; "" for one that would show behind transparent pixels."""


@attrs.frozen
class PictureStore:
    """The pictures of the project in ``root``, a real path."""

    root: Path

    def find(self, file: Path, most: int | None, make: Collection[str] | All = ()) -> Picture:
        """Return the picture in ``file``, at most ``most`` CSS pixels wide.

        Its files that are named in ``make`` are made unless they are there. The whole file is
        decoded once, so that a damaged one is found here. Raises PictureInvalid, LinkInTheWay,
        and OSError where no file can be written.
        """
        data = self._read(file)
        key = _key(file, data, most)
        place = require_no_link(self.root, f"{FOLDER}/{key}/{_ENTRY}")
        try:
            picture = msgspec.json.decode(place.read_bytes(), type=Picture)
            place.touch()  # it is used
        except UNUSABLE:
            picture = _described(key, file, data, most)
            with suppress(OSError):  # who makes files gets it; others need none
                write_whole(place, msgspec.json.encode(picture))
        wanted = [one for one in picture.candidates if make == "all" or one.name in make]
        missing = [one for one in wanted if not (place.parent / one.name).is_file()]
        if missing:
            _make(place.parent, data, file.suffix, picture, missing)
        return picture

    def folder_of(self, picture: Picture) -> Path:
        """Return the folder of its files. Raises LinkInTheWay."""
        return require_no_link(self.root, f"{FOLDER}/{picture.key}")

    def _read(self, file: Path) -> bytes:
        real = file.resolve()
        if not real.is_relative_to(self.root):
            raise PictureInvalid("it is outside of the project", "Copy it into the project")
        try:
            return real.read_bytes()
        except OSError as error:
            cause = f"it cannot be read ({error.strerror})"
            raise PictureInvalid(cause, "Check the path and its permissions") from None

    def forget_unused(self) -> None:
        """Remove the entries that were not used for thirty days."""
        oldest = time.time() - _UNUSED
        for place in require_no_link(self.root, FOLDER).glob(f"*/{_ENTRY}"):
            with suppress(OSError):  # another process removes it as well, or makes it again
                if place.stat().st_mtime < oldest:
                    for file in place.parent.iterdir():
                        file.unlink()
                    place.parent.rmdir()


def _key(file: Path, data: bytes, most: int | None) -> str:
    entry = f"{_VERSION} {PIL.__version__} {_QUALITY} {_OF_PHOTOS} {most} {file.name}"
    return hashlib.sha256(entry.encode() + b"\0" + data).hexdigest()[:24]


def _described(key: str, file: Path, data: bytes, most: int | None) -> Picture:
    stem = re.sub(r"[^A-Za-z0-9]+", "-", file.stem).strip("-").lower()[:60] or "picture"
    with open_picture(data, file.suffix) as image:
        width, height = upright_size(image)
        displayed = display_size(width, height, most)
        if is_animated(image):
            image.load()
            kind = str(image.format)
            only = Candidate(stem + _SUFFIXES[kind], f"image/{kind.lower()}", width)
            return Picture(key, *displayed, (only,), "")
        candidates = candidates_of(stem, width, most)
        largest = max(one.width for one in candidates)
        if max(largest, height * largest // width) > MOST_SIDE:
            raise PictureInvalid(
                f"it is {width} x {height} pixels; a side may have {MOST_SIDE:,}",
                "Cut it into several pictures",
            )
        tiny = pixels_of(image, max(1, min(width, _TINY, _TINY * _TINY * width // height)))
    placeholder = ""
    if tiny.mode == "RGB":
        placeholder = "data:image/webp;base64," + b64encode(_encoded(tiny, WEBP, _QUALITY)).decode()
    return Picture(key, *displayed, candidates, placeholder)


def _make(
    folder: Path, data: bytes, suffix: str, picture: Picture, missing: Collection[Candidate]
) -> None:
    with open_picture(data, suffix) as image:
        largest = max(one.width for one in missing)
        pixels = None if is_animated(image) else pixels_of(image, largest)
        quality = _OF_PHOTOS if image.format == "JPEG" else _QUALITY
    for one in sorted(missing, key=lambda one: -one.width):
        if pixels is None:
            write_whole(folder / one.name, data)
            continue
        height = max(1, round(picture.height * one.width / picture.width))
        pixels = resized(pixels, (one.width, height))  # from the next larger: half the time
        write_whole(folder / one.name, _encoded(pixels, one.type, quality))


def _encoded(pixels: Image.Image, media: str, quality: Mapping[str, dict[str, int]]) -> bytes:
    encoded = BytesIO()
    pixels.save(encoded, media.removeprefix("image/").upper(), **quality[media])
    return encoded.getvalue()
