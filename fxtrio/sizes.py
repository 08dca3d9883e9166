"""Sizes as people write them: ``"50MB"`` is 50,000,000 bytes, ``"64MiB"`` 67,108,864."""

from __future__ import annotations

import re

_UNITS = {
    "": 1,
    "B": 1,
    "KB": 1000,
    "kB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "KiB": 1024,
    "kiB": 1024,
    "MiB": 1024**2,
    "GiB": 1024**3,
}
_SIZE = r"([0-9]{1,18})\s*(B|[kKMG]i?B|)"


def to_bytes(value: int | str) -> int:
    """Return a size in bytes from a whole number or text such as ``"64MiB"``.

    Raises ValueError, whose text follows the name of the setting.
    """
    wrong = f"must be a number of bytes or text such as '64MiB', not {value!r}"
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(wrong)
    if isinstance(value, int):
        return value
    found = re.fullmatch(_SIZE, value.strip())
    if found is None:
        raise ValueError(wrong)
    return int(found[1]) * _UNITS[found[2]]


def size_text(size: int) -> str:
    """Return a size in the largest unit that it is a whole number of: ``5 MB``, ``64 KiB``."""
    for unit in ("GiB", "GB", "MiB", "MB", "KiB", "KB"):
        if size and size % _UNITS[unit] == 0:
            return f"{size // _UNITS[unit]} {unit}"
    return f"{size} bytes"
