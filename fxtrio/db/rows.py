"""Rows of the type that the caller requests, all at once or in parts.

These are dicts, `TypedDict`, attrs classes, dataclasses and pydantic models.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import (
    Any,
    NotRequired,
    Required,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)
from uuid import UUID

import attrs

from fxtrio.db.engine import Rows
from fxtrio.db.errors import RowMismatch

Row = TypeVar("Row")

Make = Callable[[Sequence[Any]], Any]
"""Builds a row's object from its values, which are in the order of the columns."""


def row_maker(row: Any, names: tuple[str, ...]) -> Make:
    """Return a function that builds a ``row`` from the values of the columns ``names``.

    Values that already have their attribute's type are used as they are, others are
    converted by cattrs. Columns without an attribute are ignored. Raises RowMismatch if one
    is missing, and TypeError for other classes.
    """
    return _row_maker(row, names)


@lru_cache(maxsize=1000)
def _row_maker(row: Any, names: tuple[str, ...]) -> Make:
    if row is dict:
        return lambda values: dict(zip(names, values, strict=True))
    if hasattr(row, "model_validate"):
        validate = row.model_validate
        return lambda values: validate(dict(zip(names, values, strict=True)))
    if attrs.has(row):
        known = {
            field.name: (field.alias or field.name, field.default is attrs.NOTHING)
            for field in attrs.fields(row)
            if field.init
        }
    elif dataclasses.is_dataclass(row):
        nothing = dataclasses.MISSING
        known = {
            field.name: (field.name, field.default is nothing and field.default_factory is nothing)
            for field in dataclasses.fields(row)
            if field.init
        }
    elif is_typeddict(row):
        hints = get_type_hints(row, include_extras=True)
        known = {name: (name, _is_needed(row, name, hint)) for name, hint in hints.items()}
    else:
        raise TypeError(
            f"fx.db: {row!r} is not a class for rows. Give dict, a TypedDict, an attrs class, a "
            "dataclass or a pydantic model."
        )
    missing = [name for name, (_, needed) in known.items() if needed and name not in names]
    if missing:
        raise RowMismatch(row, missing, names)
    types = get_type_hints(row)
    taken = [
        (place, known[name][0], _conversion(types.get(name, Any)))
        for place, name in enumerate(names)
        if name in known
    ]

    def make(values: Sequence[Any]) -> Any:
        return row(
            **{
                argument: values[place] if convert is None else convert(values[place])
                for place, argument, convert in taken
            }
        )

    return make


def _is_needed(row: Any, name: str, hint: Any) -> bool:
    """Whether a key is required; Python does not know it if annotations are strings."""
    origin = get_origin(hint)
    return origin is Required or (origin is not NotRequired and name in row.__required_keys__)


def _conversion(target: Any) -> Callable[[Any], Any] | None:
    """Return a converter from a column's value to ``target``; None if none is needed."""
    if target in (Any, object, str, int, float, bytes, type(None)):
        return None
    parts = get_args(target)
    optional = type(None) in parts
    wanted = tuple(part for part in parts if part is not type(None)) if optional else (target,)
    plain = wanted[0] if len(wanted) == 1 else None
    if optional and plain is not None and _conversion(plain) is None:
        return None
    hook = _converter().get_structure_hook(target)
    known = plain if isinstance(plain, type) and get_origin(plain) is None else None

    def convert(value: Any) -> Any:
        if known is not None and type(value) is known:
            return value
        return hook(value, target)

    return convert


@lru_cache(maxsize=1)
def _converter() -> Any:
    """Return the `cattrs.Converter` of columns, created on first use because it is expensive."""
    import cattrs

    converter = cattrs.Converter()
    for kind, read in (
        (datetime, datetime.fromisoformat),
        (date, date.fromisoformat),
        (time, time.fromisoformat),
        (UUID, UUID),
        (Decimal, Decimal),
    ):
        converter.register_structure_hook(kind, _reader(kind, read))
    converter.register_structure_hook_factory(_is_json, _from_json)
    return converter


def _reader(kind: Any, read: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda value, _: value if isinstance(value, kind) else read(value)


def _is_json(kind: Any) -> bool:
    """Whether a type is stored as JSON: a list, a dict, an attrs class…"""
    origin: Any = get_origin(kind)
    return kind in _NESTED or origin in _NESTED or attrs.has(kind)


def _from_json(kind: Any) -> Callable[[Any, Any], Any]:
    """Return a reader of a JSON column: text in SQLite, already parsed with PostgreSQL."""
    import cattrs

    inner = cattrs.Converter()

    def read(value: Any, _: Any) -> Any:
        return inner.structure(json.loads(value) if isinstance(value, str) else value, kind)

    return read


_NESTED: tuple[Any, ...] = (list, tuple, dict)


class Stream(AsyncIterator[Row]):
    """Rows that come in parts. Valid until its block ends."""

    def __init__(self, cursor: Rows, make: Make) -> None:
        self._cursor = cursor
        self._make = make
        self._rows: list[Sequence[Any]] = []

    async def __anext__(self) -> Row:
        """Return the next row."""
        if not self._rows:
            self._rows = list(reversed(await self._cursor.fetch()))
            if not self._rows:
                raise StopAsyncIteration
        row: Row = self._make(self._rows.pop())
        return row
