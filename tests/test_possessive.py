"""No pattern can meet a fault that `re` had before Python 3.11.5, which Debian 12 still ships.

When the last try of a possessive group fails halfway, the search went on from where it had failed
instead of where the try began. What cannot fail halfway is right, and so is an atomic group,
``(?>(?:…)*)`` in place of ``(?:…)*+``.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import fxtrio

Parsed = Sequence[tuple[Any, Any]]

REPEATS = (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT)
CHARACTERS = (kinds.LITERAL, kinds.NOT_LITERAL, kinds.IN, kinds.ANY)
NOTED = (kinds.ASSERT, kinds.ASSERT_NOT, kinds.ATOMIC_GROUP)
"""Parts whose end is noted, even if what follows fails."""


def patterns() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Yield the patterns that stand in modules, with their places."""
    for found in pkgutil.walk_packages(fxtrio.__path__, "fxtrio."):
        if found.name.endswith(".__main__"):
            continue
        for name, value in vars(import_module(found.name)).items():
            if isinstance(value, re.Pattern):
                yield f"{found.name}:{name}", value


def fails_halfway(parts: Parsed, *, at_start: bool = True) -> bool:
    """Return whether a try of these parts may note a place within itself, and fail then."""
    for number, (kind, value) in enumerate(parts):
        rest = list(parts)[number + 1 :]
        if kind is kinds.SUBPATTERN:
            return fails_halfway([*value[3], *rest], at_start=at_start)
        if kind is kinds.BRANCH:
            return not at_start or any(fails_halfway([*one, *rest]) for one in value[1])
        if kind in NOTED:
            return True
        if kind in REPEATS:
            least, _, repeated = value
            if kind is kinds.POSSESSIVE_REPEAT and is_character(repeated):
                if not at_start and (least > 0 or can_fail(rest)):
                    return True
            elif can_fail(rest) or (least > 0 and not (at_start and is_character(repeated))):
                return True
        if kind is not kinds.AT:
            at_start = False
    return False


def can_fail(parts: Parsed) -> bool:
    return not all(kind in REPEATS and value[0] == 0 for kind, value in parts)


def is_character(parts: Parsed) -> bool:
    return len(parts) == 1 and parts[0][0] in CHARACTERS


def wrong_groups(parts: Parsed) -> Iterator[Parsed]:
    """Yield what possessive groups repeat, where a try may fail halfway."""
    for kind, value in parts:
        match kind:
            case kinds.MAX_REPEAT | kinds.MIN_REPEAT | kinds.POSSESSIVE_REPEAT:
                inner = [value[2]]
            case kinds.SUBPATTERN:
                inner = [value[3]]
            case kinds.BRANCH:
                inner = value[1]
            case kinds.ASSERT | kinds.ASSERT_NOT:
                inner = [value[1]]
            case kinds.ATOMIC_GROUP:
                inner = [value]
            case _:
                continue
        possessive = kind is kinds.POSSESSIVE_REPEAT and not is_character(inner[0])
        if possessive and fails_halfway(inner[0]):
            yield inner[0]
        for one in inner:
            yield from wrong_groups(one)


def is_wrong(pattern: str, flags: int = 0) -> bool:
    return any(wrong_groups(parser.parse(pattern, flags & ~re.UNICODE)))


def test_no_possessive_group_can_fail_halfway() -> None:
    found = list(patterns())
    assert len(found) > 300
    assert [place for place, one in found if is_wrong(one.pattern, one.flags)] == []


@pytest.mark.parametrize(
    ("pattern", "wrong"),
    [
        (r"(?:ab?c)*+", True),
        (r"(?:\$(?!\{)[^$]*+)*+", True),
        (r"(?:(?!ab)a)*+", True),
        (r"(?:a(?:bc|de))*+", True),
        (r"(?:[a-z]*+ x++y)*+", True),
        (r"(?>(?:ab?c)*)", False),
        (r"(?:[a-z]++ )*+", False),
        (r"(?:\\.|[^\\])*+", False),
        (r"[a-z]*+b", False),
    ],
)
def test_wrong_patterns_are_found(pattern: str, wrong: bool) -> None:
    assert is_wrong(pattern) is wrong
