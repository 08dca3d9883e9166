"""Adapts Python values that SQLite lacks a type for."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

_PLAIN = frozenset({str, int, float, bytes, bool, type(None)})


def to_sqlite(value: Any) -> Any:
    """Return a value as SQLite stores it.

    Dates and times are text in ISO 8601, UUID and Decimal are text, lists and dicts are
    JSON, a member of an Enum is its value. Other values are passed to SQLite, which may reject
    them.
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Enum):
        return to_sqlite(value.value)
    for kind, convert in _CONVERSIONS:
        if isinstance(value, kind):
            return convert(value)
    return value


_CONVERSIONS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    ((datetime, date, time), lambda value: value.isoformat()),
    ((UUID, Decimal), str),
    ((list, tuple, dict), lambda value: json.dumps(value, separators=(",", ":"))),
)
