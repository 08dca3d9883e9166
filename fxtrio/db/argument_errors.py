"""Finds the argument that an engine cannot store, after the engine rejected a statement."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fxtrio.db.errors import ArgumentInvalid

log = logging.getLogger("fx.db")

Rule = tuple[str, Callable[[Any], bool]]
"""The description of an invalid value for the message, and the test for it."""


def _beyond(bits: int) -> Callable[[Any], bool]:
    most: int = 2 ** (bits - 1)
    return lambda value: isinstance(value, int) and not -most <= value < most


def _has_nul(value: Any) -> bool:
    return isinstance(value, str) and "\0" in value


def _has_half_a_pair(value: Any) -> bool:
    return isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value)


HALF_A_PAIR: Rule = ("text with a lone surrogate, which is not a character", _has_half_a_pair)
NUL: Rule = ("text with a NUL (U+0000), which PostgreSQL cannot store", _has_nul)
ABOVE_32: Rule = ("an integer that is too large for its column", _beyond(32))
ABOVE_64: Rule = ("an integer of more than 64 bits, which SQLite cannot store", _beyond(64))


def find_invalid_argument(rows: Iterable[Sequence[Any]], *rules: Rule) -> ArgumentInvalid | None:
    """Return the error for the first argument that breaks a rule; None when none does."""
    for args in rows:
        for number, value in enumerate(args, 1):
            for what, breaks in rules:
                if _anywhere(value, breaks):
                    error = ArgumentInvalid(number, what)
                    log.warning("%s", error)
                    return error
    return None


def _anywhere(value: Any, breaks: Callable[[Any], bool]) -> bool:
    """Whether a value, or one that it contains, breaks a rule."""
    if isinstance(value, dict):
        return any(_anywhere(each, breaks) for pair in value.items() for each in pair)
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(_anywhere(each, breaks) for each in value)
    return breaks(value)
