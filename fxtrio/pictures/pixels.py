"""A file in, upright pixels in sRGB out: all use of Pillow for reading."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO

from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

from fxtrio.errors import AssetInvalid, first_line

FORMATS = ("JPEG", "PNG", "WEBP", "AVIF", "GIF")
"""What is decoded: fewer decoders are fewer ways in for a damaged file."""

MOST_PIXELS = 80_000_000
"""Of one picture. A few kilobytes can claim gigapixels, and each takes four bytes of memory."""

MOST_BYTES = 100_000_000
"""Of one file."""

_BROKEN = (
    *(OSError, SyntaxError, ValueError, EOFError, TypeError, LookupError, ArithmeticError),
    *(struct.error, MemoryError, Image.DecompressionBombError, Image.DecompressionBombWarning),
)
"""What Pillow raises for files that it cannot decode."""

_ORIENTATION = 0x0112
_ON_ITS_SIDE = range(5, 9)
"""Values of that EXIF tag with which width and height change places."""


class PictureInvalid(AssetInvalid):
    """A file cannot be used as a picture."""


@contextmanager
def open_picture(data: bytes, suffix: str) -> Iterator[Image.Image]:
    """Have the picture in ``data``, not decoded yet. Raises PictureInvalid, also in the block.

    ``suffix`` is the one of the file's name.
    """
    if suffix.lower() == ".svg":
        raise PictureInvalid(
            "it is an SVG, which has no pixels", "Import it without '?picture', as a URL"
        )
    if len(data) > MOST_BYTES:
        raise PictureInvalid(
            f"it has {len(data):,} bytes; {MOST_BYTES:,} are allowed", "Save a smaller version"
        )
    try:
        with Image.open(BytesIO(data), formats=FORMATS) as image:
            pixels = image.width * image.height
            if pixels > MOST_PIXELS:
                raise _too_large(f"{image.width} x {image.height} pixels")
            yield image
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _too_large("too many pixels") from None
    except UnidentifiedImageError:
        raise PictureInvalid(
            "it is not a JPEG, PNG, WebP, AVIF or GIF that can be read", "Save it as one of these"
        ) from None
    except _BROKEN as error:
        raise PictureInvalid(f"it is damaged ({first_line(error)})", "Save it again") from error


def _too_large(size: str) -> PictureInvalid:
    return PictureInvalid(
        f"it has {size}; {MOST_PIXELS:,} pixels are allowed", "Save a smaller version"
    )


def upright_size(image: Image.Image) -> tuple[int, int]:
    """Return width and height as people see them, whatever way the camera was held."""
    width, height = image.size
    on_its_side = image.getexif().get(_ORIENTATION) in _ON_ITS_SIDE
    return (height, width) if on_its_side else (width, height)


def is_animated(image: Image.Image) -> bool:
    """Return whether it has several frames. Those of an MPO are pictures of their own."""
    return image.format != "MPO" and bool(getattr(image, "is_animated", False))


def pixels_of(image: Image.Image, width: int) -> Image.Image:
    """Return the pixels ``width`` wide, upright and in sRGB: RGB, or RGBA if any is transparent.

    A JPEG is decoded at a fraction of its size where that is enough.
    """
    own_width, own_height = upright_size(image)
    size = width, max(1, round(own_height * width / own_width))
    image.draft(None, (2 * max(size), 2 * max(size)))
    image = ImageOps.exif_transpose(image)
    transparent = image.has_transparency_data
    if image.mode.startswith("I"):  # 16 bits
        image = image.point(lambda value: value * (1 / 256)).convert("L")
    elif image.mode not in ("RGB", "L", "CMYK"):
        image = image.convert("RGBA" if transparent else "RGB")
    image = resized(image, size)
    alpha = image.getchannel("A") if image.mode == "RGBA" else None
    colours = _srgb(image if alpha is None else image.convert("RGB"), image.info)
    if alpha is not None and alpha.getextrema() != (255, 255):
        colours.putalpha(alpha)
    colours.info.clear()  # no place, no name of a camera: encoders would write them
    return colours


def resized(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Return a smaller copy."""
    if image.size == size:
        return image
    return image.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)


def _srgb(image: Image.Image, info: dict[str | tuple[int, int], object]) -> Image.Image:
    """Return RGB, whatever colour space the profile in ``info`` names."""
    profile = info.get("icc_profile")
    if isinstance(profile, bytes) and profile:
        try:
            embedded = ImageCms.ImageCmsProfile(BytesIO(profile))
            if "srgb" not in ImageCms.getProfileDescription(embedded).lower():
                wanted = ImageCms.createProfile("sRGB")
                converted = ImageCms.profileToProfile(image, embedded, wanted, outputMode="RGB")
                if converted is not None:
                    return converted
        except (ImageCms.PyCMSError, OSError, ValueError):
            pass  # browsers show a picture whose profile is damaged without it, too
    return image.convert("RGB")
