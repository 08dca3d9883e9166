"""Where the keys of a JSON text stand. Pure; called for the messages about settings."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from json import JSONDecoder

Place = tuple[int, int]
"""Line and column, both from 1, the column in characters."""

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = JSONDecoder()


def key_places(text: str) -> dict[str, Place]:
    """Return the place of every key and list entry of a JSON ``text``, by its path.

    Paths are those of `ConfigProblem.key`: ``plugins.0.settings``. A text that is no JSON, such
    as one that is half written, has none.
    """
    offsets: dict[str, int] = {}
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return {}
    _value(text, _skip(text, 0), "", offsets)
    return {path: _place(text, offset) for path, offset in offsets.items()}


def nearest_place(places: Mapping[str, Place], key: str) -> Place | None:
    """Return the place of ``key``, or of what it is part of; None without either."""
    while key not in places:
        key, separator, _ = key.rpartition(".")
        if not separator:
            return None
    return places[key]


def _value(text: str, at: int, path: str, offsets: dict[str, int]) -> int:
    """Note what the value at ``at`` holds, and return the offset behind it."""
    if text[at] not in "{[":
        return _DECODER.raw_decode(text, at)[1]
    is_object = text[at] == "{"
    at = _skip(text, at + 1)
    index = 0
    while text[at] not in "}]":
        start, name = at, str(index)
        if is_object:
            name, end = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, end) + 1)  # behind the colon
        inner = f"{path}.{name}" if path else name
        offsets[inner] = start
        at = _skip(text, _value(text, at, inner, offsets))
        at = _skip(text, at + 1) if text[at] == "," else at
        index += 1
    return at + 1


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _place(text: str, offset: int) -> Place:
    before = text[:offset]
    return before.count("\n") + 1, offset - before.rfind("\n")
