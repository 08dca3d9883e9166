"""Lists, sets, tuples and objects of typed bodies: only the first errors are reported.

cattrs reports every invalid item. A body of 200 kB can hold a hundred thousand of them,
which cost 3 s on the event loop and a response of 4 MB.
"""

from __future__ import annotations

import collections.abc
import functools
import typing
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

import cattrs

MOST = 20
"""Errors that are collected for one body (count)."""

_KINDS: dict[Any, Callable[[Iterable[Any]], Any]] = {
    list: list,
    collections.abc.MutableSequence: list,
    tuple: tuple,
    collections.abc.Sequence: tuple,  # as cattrs does
    set: set,
    collections.abc.MutableSet: set,
    frozenset: frozenset,
    collections.abc.Set: frozenset,
}
_OBJECTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_NAMES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    Decimal: "a number",
    UUID: "a UUID",
    str: "text",
    dict: "an object",
    list: "a list",
}

Structure = Callable[[Any, Any], Any]


def expected(kind: type) -> ValueError:
    """Return the error of a value that is no ``kind``."""
    return ValueError(f"Expected {_NAMES.get(kind, kind.__name__)}")


def is_items(kind: Any) -> bool:
    """Whether values of ``kind`` are any number of items of one type."""
    origin = typing.get_origin(kind) or kind
    if not isinstance(origin, type) or origin not in _KINDS:
        return False
    parts = typing.get_args(kind)
    return origin is not tuple or not parts or parts[-1] is Ellipsis


def items_factory(kind: Any, converter: cattrs.BaseConverter) -> Structure:
    """Return a hook that structures a list, set or tuple. It rejects text and objects."""
    make = _KINDS[typing.get_origin(kind) or kind]
    item_kind = (typing.get_args(kind) or (Any,))[0]
    find = _hook(item_kind, converter)

    def structure(value: Any, _: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            raise expected(list)
        build = find()
        items: list[Any] = []
        errors: list[Exception] = []
        for index, item in enumerate(value):
            try:
                items.append(build(item, item_kind))
            except Exception as error:  # validators and converters are application code
                _collect(errors, error, index, kind)
        _raise_if_any(errors, kind)
        return make(items)

    return structure


def is_object(kind: Any) -> bool:
    """Whether values of ``kind`` are objects with any keys."""
    return (typing.get_origin(kind) or kind) in _OBJECTS


def object_factory(kind: Any, converter: cattrs.BaseConverter) -> Structure:
    """Return a hook that structures a dict."""
    key_kind, value_kind = typing.get_args(kind) or (Any, Any)
    find_key, find_value = _hook(key_kind, converter), _hook(value_kind, converter)

    def structure(value: Any, _: Any) -> Any:
        if not isinstance(value, Mapping):
            raise expected(dict)
        build_key, build_value = find_key(), find_value()
        found: dict[Any, Any] = {}
        errors: list[Exception] = []
        for name, item in value.items():
            try:
                found[build_key(name, key_kind)] = build_value(item, value_kind)
            except Exception as error:  # validators and converters are application code
                _collect(errors, error, name, kind)
        _raise_if_any(errors, kind)
        return found

    return structure


def _hook(kind: Any, converter: cattrs.BaseConverter) -> Callable[[], Structure]:
    """Return a lookup of the hook for ``kind``, run at its first value: types may be recursive."""
    return functools.cache(lambda: converter.get_structure_hook(kind))


def _collect(errors: list[Exception], error: Exception, place: Any, kind: Any) -> None:
    """Keep an error under its place. Raises them all when there are enough."""
    error.add_note(cattrs.IterableValidationNote("", place, kind))
    errors.append(error)
    if len(errors) >= MOST or sum(map(problems, errors)) >= MOST:
        _raise_if_any(errors, kind)


def problems(error: BaseException) -> int:
    """Return how many problems an error is, with those that it groups."""
    if isinstance(error, cattrs.BaseValidationError):
        return sum(map(problems, error.exceptions))
    return 1


def _raise_if_any(errors: list[Exception], kind: Any) -> None:
    if errors:
        raise cattrs.IterableValidationError("items that do not fit", errors, kind)
