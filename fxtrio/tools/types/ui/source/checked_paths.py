"""Paths that have been checked in a way that TypeScript does not follow. Pure.

TypeScript forgets in a closure the narrowed type of ``data.note``, since it might be changed before
the closure runs. Data of a loader is not changed, so plain JavaScript is believed there, and
where it names a check (``const isDue = note.due !== null``) or filters a list by it. Objects of a
union are declared to lack the keys of the others, so that ``"error" in result`` says too little.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping

_CLOSURE = re.compile(r"=>|\bfunction\b")
_LEAVES = re.compile(r"\b(?:return|throw|continue|break)\b")
_ABSENT = re.compile(r"===?\s*+(?:null|undefined)\b")
_PRESENT = re.compile(r"(?:!==?\s*+(?:null|undefined)\b|&&|\?(?![.?])|\))")
_IF = re.compile(r"\bif$")
_EXISTS = r"(?:\s*+!==?\s*+(?:null|undefined))?"
_CALLBACK = r"\??\.\s*+\w++\(\s*+(?:async\s++)?\(?\s*+%s\b"
_LONGEST = 20_000
"""Characters before a place that are looked at."""

_BLANKS = 200
"""Characters in front of a place that are looked at where there may be blanks."""

_MOST = 200
"""Checks of one path, and closures, that are looked at: the nearest ones (count)."""


def is_guarded(text: str, pairs: Mapping[int, int], offset: int, path: str) -> bool:
    """Whether ``path`` at ``offset`` is checked in a way that TypeScript does not follow.

    ``pairs`` are the brackets of ``text``: offsets of the opening ones to the closing ones.
    """
    return (
        _is_guarded_around(text, pairs, offset, path)
        or is_narrowed(text, pairs, offset, path)
        or _is_named(text, pairs, offset, path)
        or _is_filtered(text, pairs, offset, path)
    )


def is_narrowed(text: str, pairs: Mapping[int, int], offset: int, path: str) -> bool:
    """Whether ``"error" in result`` is checked before ``result.error`` is read."""
    owner, _, name = path.rpartition(".")
    test = re.compile(rf"""["']{re.escape(name)}["']\s++in\s++{re.escape(owner)}(?![\w$.\[])""")
    return bool(owner) and any(
        _holds(text, pairs, found.span(), offset, _around(pairs, offset))
        for found in deque(test.finditer(text, max(offset - _LONGEST, 0), offset), _MOST)
    )


def _is_named(text: str, pairs: Mapping[int, int], offset: int, path: str) -> bool:
    """Whether a constant that says that ``path`` exists has been checked."""
    there = rf"(?:(?:!!\s*+)?{re.escape(path)}{_EXISTS}|Boolean\({re.escape(path)}\))"
    named = re.compile(rf"\bconst\s++([\w$]++)\s*+=\s*+{there}\s*+;")
    around = _around(pairs, offset)
    first: dict[str, int] = {}
    for found in named.finditer(text, max(offset - _LONGEST, 0), offset):
        first.setdefault(found[1], found.end())
    tests = sorted(
        (start, start + len(name))
        for name, end in list(first.items())[-_MOST:]
        for start in _places(name, text, end, offset)
    )
    return any(_holds(text, pairs, test, offset, around) for test in tests[-_MOST:])


def _is_filtered(text: str, pairs: Mapping[int, int], offset: int, path: str) -> bool:
    """Whether ``path`` is of an element of a list, and the list has been filtered by it."""
    root, _, rest = path.partition(".")
    start = max(offset - _LONGEST, 0)
    callbacks = list(re.finditer(_CALLBACK % re.escape(root), text[start:offset]))
    if not rest or not callbacks:
        return False
    tested = re.compile(
        rf"\.filter\(\s*+\(?(?P<one>[\w$]++)\)?\s*+=>\s*+(?:!!\s*+)?"
        rf"(?P=one)\.{re.escape(rest)}{_EXISTS}\s*+(?:\)|&&)"
    )
    end = start + callbacks[-1].start()
    listed = text[_start_of_chain(text, end) : end].strip()
    if listed.isidentifier():
        declaration = re.search(rf"\bconst\s++{listed}\s*+=", text)
        listed = text[declaration.end() :].partition(";")[0] if declaration is not None else ""
    return tested.search(listed) is not None


def _start_of_chain(text: str, offset: int) -> int:
    """Return where the expression begins that calls in front of ``offset`` belong to."""
    depth = 0
    for index in range(offset - 1, max(offset - _LONGEST, -1), -1):
        char = text[index]
        if char in ")]}":
            depth += 1
        elif char in "([{" and depth:
            depth -= 1
        elif not depth and not (char.isalnum() or char in "_$.?"):
            if char.isspace() and text[index:offset].lstrip()[:1] in (".", "?"):
                continue
            return index + 1
    return offset


def _is_guarded_around(text: str, pairs: Mapping[int, int], offset: int, path: str) -> bool:
    around = _around(pairs, offset)
    closures = deque(_CLOSURE.finditer(text, max(offset - _LONGEST, 0), offset), _MOST)
    inside = (one.start() for one in reversed(closures) if _around(pairs, one.start()) <= around)
    closure = next(inside, -1)
    return any(
        start + len(path) <= closure
        and _holds(text, pairs, (start, start + len(path)), offset, around)
        for start in _places(path, text, max(offset - _LONGEST, 0), offset)
    )


def _places(path: str, text: str, start: int, end: int) -> Iterable[int]:
    """Return where a path stands as a whole, and is a test, between two offsets."""
    tests = (
        one for one in _all_places(path, text, start, end) if _is_test(text, one, one + len(path))
    )
    return deque(tests, _MOST)


def _all_places(path: str, text: str, start: int, end: int) -> Iterator[int]:
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
    if not _is_test(text, start, test[1]):
        return False
    absent = _is_absent(text, start, end)
    outer = set(_around(pairs, start)) - around
    condition = next((one for one in outer if _IF.search(_in_front(text, one))), None)
    if condition is None:  # ``path && …`` or ``path ? … : …``
        return not outer
    if outer != {condition}:
        return False
    body = _behind_blanks(text, pairs[condition] + 1)
    if absent:
        inner = text[body : pairs[body]] if body in pairs else ""
        return bool(_LEAVES.match(text, body) or _LEAVES.search(inner))
    return body in around or (text[body] != "{" and _is_in_statement(text, pairs, body, offset))


def _is_test(text: str, start: int, end: int) -> bool:
    """Whether code checks that the expression between two offsets exists."""
    end = _behind_blanks(text, end)
    return _is_absent(text, start, end) or _PRESENT.match(text, end) is not None


def _is_absent(text: str, start: int, end: int) -> bool:
    return _in_front(text, start).endswith("!") or _ABSENT.match(text, end) is not None


def _in_front(text: str, offset: int) -> str:
    """Return some text that ends in front of an offset and of the blanks before it."""
    return text[max(offset - _BLANKS, 0) : offset].rstrip()


def _is_in_statement(text: str, pairs: Mapping[int, int], start: int, offset: int) -> bool:
    """Whether the statement that begins at ``start`` reaches as far as ``offset``."""
    while start < offset:
        if pairs.get(start, -1) >= offset:
            return True
        if text[start] == ";":
            return False
        start = pairs.get(start, start) + 1
    return True


def _behind_blanks(text: str, offset: int) -> int:
    while offset < len(text) and text[offset].isspace():
        offset += 1
    return offset
