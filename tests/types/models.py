"""Strategies of models and their values, and what fits a shape: for tests of what is sent."""

from __future__ import annotations

import dataclasses
import enum
import itertools
import typing
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Literal, NamedTuple
from uuid import UUID

import attrs
import msgspec
from hypothesis import strategies as st
from pydantic import Field, create_model

from fxtrio.tools.types.python.shapes import (
    Constant,
    ListShape,
    Named,
    ObjectShape,
    Plain,
    RecordShape,
    Shape,
    TupleShape,
    UnionShape,
    UnknownType,
)

_numbers = itertools.count()
_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=4)


class Model(NamedTuple):
    """An annotation with the values that it holds."""

    annotation: Any
    values: st.SearchStrategy[Any]


def _plain(kind: Any, values: st.SearchStrategy[Any]) -> Model:
    return Model(kind, values)


PLAIN = [
    _plain(str, _TEXT),
    _plain(int, st.integers(-(2**60), 2**60)),
    _plain(float, st.floats(allow_nan=False, allow_infinity=False)),
    _plain(bool, st.booleans()),
    _plain(bytes, _TEXT.map(str.encode)),
    _plain(datetime, st.datetimes(timezones=st.sampled_from([None, UTC]))),
    _plain(date, st.dates()),
    _plain(time, st.times()),
    _plain(timedelta, st.timedeltas(timedelta(-9), timedelta(9))),
    _plain(Decimal, st.decimals(-100, 100, places=2)),
    _plain(UUID, st.uuids()),
]
NONE = Model(type(None), st.none())


@st.composite
def _enums(draw: st.DrawFn) -> Model:
    values = draw(st.lists(_TEXT | st.integers(0, 9), min_size=1, max_size=3, unique=True))
    members = {f"m{index}": one for index, one in enumerate(values)}
    kind = enum.Enum(f"K{next(_numbers)}", members)  # type: ignore[misc]  # made in the test
    return Model(kind, st.sampled_from(list(kind)))


@st.composite
def _literals(draw: st.DrawFn) -> Model:
    values = draw(
        st.lists(st.one_of(_TEXT, st.integers(0, 9), st.booleans()), min_size=1, max_size=3)
    )
    return Model(Literal[tuple(values)], st.sampled_from(values))


LEAVES = st.one_of(st.sampled_from(PLAIN), _enums(), _literals())


@st.composite
def _optional(draw: st.DrawFn, inner: st.SearchStrategy[Model]) -> Model:
    one = draw(inner)
    return Model(
        one.annotation | None if one is not NONE else None, st.one_of(st.none(), one.values)
    )


@st.composite
def _lists(draw: st.DrawFn, inner: st.SearchStrategy[Model]) -> Model:
    one = draw(inner)
    return Model(list[one.annotation], st.lists(one.values, max_size=3))  # type: ignore[name-defined]  # made while the test runs


@st.composite
def _dicts(draw: st.DrawFn, inner: st.SearchStrategy[Model]) -> Model:
    key, one = draw(st.sampled_from([PLAIN[0], PLAIN[1], PLAIN[10]])), draw(inner)
    values = st.dictionaries(key.values, one.values, max_size=2)
    return Model(dict[key.annotation, one.annotation], values)  # type: ignore[name-defined]  # as above


@st.composite
def _tuples(draw: st.DrawFn, inner: st.SearchStrategy[Model]) -> Model:
    items = draw(st.lists(inner, min_size=1, max_size=3))
    return Model(
        tuple[tuple(one.annotation for one in items)],  # type: ignore[misc]  # as above
        st.tuples(*(one.values for one in items)),
    )


@st.composite
def _classes(draw: st.DrawFn, inner: st.SearchStrategy[Model]) -> Model:
    fields = {f"f{index}": one for index, one in enumerate(draw(st.lists(inner, max_size=4)))}
    makers = [_attrs, _dataclass, _typed_dict, _named_tuple, _struct]
    make: Callable[[str, Mapping[str, Model]], Model] = draw(st.sampled_from(makers))
    return make(f"Class{next(_numbers)}", fields)


def _attrs(name: str, fields: Mapping[str, Model]) -> Model:
    kind: Any = attrs.make_class(
        name, {key: attrs.field(type=one.annotation) for key, one in fields.items()}
    )
    return Model(kind, st.builds(kind, **{key: one.values for key, one in fields.items()}))


def _dataclass(name: str, fields: Mapping[str, Model]) -> Model:
    kind: Any = dataclasses.make_dataclass(
        name, [(key, one.annotation) for key, one in fields.items()]
    )
    return Model(kind, st.builds(kind, **{key: one.values for key, one in fields.items()}))


def _typed_dict(name: str, fields: Mapping[str, Model]) -> Model:
    last = f"f{len(fields) - 1}"
    types = {
        key: typing.NotRequired[one.annotation] if key == last else one.annotation
        for key, one in fields.items()
    }
    kind: Any = typing.TypedDict(name, types)  # type: ignore[misc]  # as above
    needed = {key: one.values for key, one in fields.items() if key != last}
    optional = {key: one.values for key, one in fields.items() if key == last}
    return Model(kind, st.fixed_dictionaries(needed, optional=optional))


def _named_tuple(name: str, fields: Mapping[str, Model]) -> Model:
    kind = NamedTuple(name, [(key, one.annotation) for key, one in fields.items()])  # type: ignore[misc]  # as above
    return Model(kind, st.builds(kind, **{key: one.values for key, one in fields.items()}))


def _struct(name: str, fields: Mapping[str, Model]) -> Model:
    annotated = [(key, one.annotation) for key, one in fields.items()]
    kind = msgspec.defstruct(name, annotated, rename="camel", tag=len(fields) % 2 == 0)
    return Model(kind, st.builds(kind, **{key: one.values for key, one in fields.items()}))


@st.composite
def _pydantic(draw: st.DrawFn) -> Model:
    found = draw(st.lists(st.one_of(LEAVES, _optional(LEAVES), _lists(LEAVES)), max_size=4))
    fields = {f"f{index}": one for index, one in enumerate(found)}
    definitions: dict[str, Any] = {
        key: (one.annotation, Field(serialization_alias=f"{key}Sent"))
        if index % 2
        else (one.annotation, ...)
        for index, (key, one) in enumerate(fields.items())
    }
    kind = create_model(f"Class{next(_numbers)}", **definitions)
    return Model(kind, st.builds(kind, **{key: one.values for key, one in fields.items()}))


def models() -> st.SearchStrategy[Model]:
    """Return models of any kind."""
    makers: tuple[Callable[[Any], st.SearchStrategy[Model]], ...]
    makers = (_optional, _lists, _dicts, _tuples, _classes, _classes, _classes)
    leaves = st.one_of(LEAVES, _pydantic())
    return st.recursive(
        leaves, lambda inner: st.one_of([make(inner) for make in makers]), max_leaves=5
    )


def fits(value: Any, shape: Shape, named: Mapping[str, Shape]) -> bool:
    """Whether a JSON value has a shape."""
    if isinstance(shape, Named):
        return fits(value, named[shape.name], named)
    if isinstance(shape, UnknownType):
        return True
    if isinstance(shape, UnionShape):
        return any(fits(value, part, named) for part in shape.parts)
    if isinstance(shape, Constant):
        return type(value) is type(shape.value) and bool(value == shape.value)
    if isinstance(shape, Plain):
        return _kind_of(value) == shape.kind
    if isinstance(shape, RecordShape):
        return isinstance(value, dict) and all(
            fits(one, shape.value, named) for one in value.values()
        )
    if isinstance(shape, ObjectShape) and not shape.keys:
        return value is not None  # as TypeScript has it
    if isinstance(shape, ObjectShape):
        return isinstance(value, dict) and all(
            fits(value[key.name], key.shape, named) if key.name in value else key.optional
            for key in shape.keys
        )
    if isinstance(shape, TupleShape):
        return (
            isinstance(value, list)
            and len(value) == len(shape.items)
            and all(fits(one, inner, named) for one, inner in zip(value, shape.items, strict=True))
        )
    assert isinstance(shape, ListShape)
    return isinstance(value, list) and all(fits(one, shape.item, named) for one in value)


def _kind_of(value: Any) -> str:
    kinds = {str: "string", bool: "boolean", int: "number", float: "number", type(None): "null"}
    return kinds.get(type(value), "")


def changed(value: Any) -> list[Any]:
    """Return values that differ in one place: another type, a key less, an item less."""
    found: list[Any] = [None, True, 7, "other", [7], {"other": 7}]
    if isinstance(value, dict):
        for key in value:
            found.append({name: one for name, one in value.items() if name != key})
            found += [{**value, key: one} for one in changed(value[key])]
    elif isinstance(value, list) and value:
        found += [[*value, *value], value[:-1]]
        found += [[*value[:-1], one] for one in changed(value[-1])]
    return found
