"""Paths that a function around has checked: ``if (!data.note) return …`` before a closure. Pure.

TypeScript forgets in a closure the narrowed type of ``data.note``, since it might be changed before
the closure runs. Data of a loader is not changed, so plain JavaScript is believed there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_CLOSURE = re.compile(r"=>|\bfunction\b")
_LEAVES = re.compile(r"\b(?:return|throw|continue|break)\b")
_ABSENT = re.compile(r"===?\s*+(?:null|undefined)\b")
_PRESENT = re.compile(r"(?:!==?\s*+(?:null|undefined)\b|&&|\?(?![.?])|\))")
_IF = re.compile(r"\bif\s*+$")
_LONGEST = 20_000
"""Characters before a place that are looked at."""


def is_guarded_around(text: str, pairs: Mapping[int, int], offset: int, path: str) -> bool:
    """Whether ``path`` at ``offset`` stands in a closure, and is checked in front of it.

    ``pairs`` are the brackets of ``text``: offsets of the opening ones to the closing ones.
    """
    around = _around(pairs, offset)
    for start in _places(path, text, max(offset - _LONGEST, 0), offset):
        end = start + len(path)
        closures = _CLOSURE.finditer(text, end, offset)
        in_closure = any(_around(pairs, one.start()) <= around for one in closures)
        if in_closure and _holds(text, pairs, (start, end), offset, around):
            return True
    return False


def _places(path: str, text: str, start: int, end: int) -> Iterator[int]:
    """Yield where a path stands as a whole, between two offsets."""
    while (start := text.find(path, start, end)) >= 0:
        around = text[start - 1 : start] + text[start + len(path) : start + len(path) + 1]
        if not any(char.isalnum() or char in "_$" for char in around) and around[:1] != ".":
            yield start
        start += len(path)


def _around(pairs: Mapping[int, int], offset: int) -> frozenset[int]:
    return frozenset(start for start, end in pairs.items() if start < offset <= end)


def _holds(
    text: str,
    pairs: Mapping[int, int],
    test: tuple[int, int],
    offset: int,
    around: frozenset[int],
) -> bool:
    """Whether a tested value is known to exist at ``offset``."""
    start = test[0]
    end = _behind_blanks(text, test[1])
    absent = text[:start].rstrip().endswith("!") or _ABSENT.match(text, end) is not None
    if not absent and not _PRESENT.match(text, end):
        return False
    outer = set(_around(pairs, start)) - around
    condition = next((one for one in outer if _IF.search(text, 0, one)), None)
    if condition is None:  # ``path && …`` or ``path ? … : …``
        return not outer
    if outer != {condition}:
        return False
    body = _behind_blanks(text, pairs[condition] + 1)
    if absent:
        inner = text[body : pairs[body]] if body in pairs else ""
        return bool(_LEAVES.match(text, body) or _LEAVES.search(inner))
    return body in around


def _behind_blanks(text: str, offset: int) -> int:
    while offset < len(text) and text[offset].isspace():
        offset += 1
    return offset
