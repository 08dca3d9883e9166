"""Classes with fields, as JSON has them: attrs, dataclasses, TypedDict, NamedTuple, msgspec.

Called by `annotations`. Which keys the encoder writes follows msgspec: private attributes of
attrs classes are left out, those of dataclasses are not.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from operator import itemgetter
from typing import Any

import attrs
import msgspec


@attrs.frozen
class ClassKey:
    """One key of the object that a class is encoded as, or decoded from."""

    name: str
    """As in JSON."""

    attribute: str
    """As in Python."""

    annotation: Any
    optional: bool = False
    """Whether it may be missing."""

    constant: Any = None
    """Its only value: a tag."""


def class_keys(kind: type, *, incoming: bool = False) -> tuple[ClassKey, ...] | None:
    """Return the keys of a class; None for a class that has none to know of."""
    if typing.is_typeddict(kind):
        required = kind.__required_keys__  # type: ignore[attr-defined]  # a TypedDict has them
        return tuple(
            ClassKey(name, name, annotation, _may_be_missing(annotation, name not in required))
            for name, annotation in hints_of(kind).items()
        )
    if attrs.has(kind):
        return _attrs_keys(kind, incoming)
    if dataclasses.is_dataclass(kind):
        return _dataclass_keys(kind, incoming)
    if issubclass(kind, msgspec.Struct):
        return _struct_keys(kind)
    if is_named_tuple(kind):
        hints = hints_of(kind)
        names = kind._fields  # type: ignore[attr-defined]  # a NamedTuple has them
        defaults = kind._field_defaults  # type: ignore[attr-defined]  # as above
        return tuple(
            ClassKey(name, name, _or_none(hints.get(name, Any), defaults.get(name, ...)))
            for name in names
        )
    return None


def _may_be_missing(annotation: Any, default: bool) -> bool:
    """Whether a key may be missing; Python itself does not see it where annotations are text."""
    while (origin := typing.get_origin(annotation)) is not None:
        if origin in (typing.Required, typing.NotRequired):
            return bool(origin is typing.NotRequired)
        if origin is not typing.Annotated:
            break
        annotation = typing.get_args(annotation)[0]
    return default


def is_named_tuple(kind: type) -> bool:
    """Whether a class is a NamedTuple."""
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def is_sent_as_list(kind: type) -> bool:
    """Whether JSON has a list of the values, without names."""
    if issubclass(kind, msgspec.Struct):
        return bool(kind.__struct_config__.array_like)
    return is_named_tuple(kind)


def hints_of(kind: Any) -> dict[str, Any]:
    """Return the annotations of a class or function, as far as they can be evaluated."""
    try:
        return typing.get_type_hints(kind, include_extras=True)
    except Exception:  # annotations are application code, and names in them may be missing
        return _hints_one_by_one(kind)


def _hints_one_by_one(kind: Any) -> dict[str, Any]:
    """Return what each annotation means by itself; those that mean nothing are Any."""
    found: dict[str, Any] = {}
    for one in reversed(inspect.getmro(kind)) if isinstance(kind, type) else (kind,):
        for name, annotation in getattr(one, "__annotations__", {}).items():
            holder = type("_", (), {"__annotations__": {name: annotation}})
            holder.__module__ = getattr(one, "__module__", "")
            space = getattr(one, "__globals__", None)
            try:
                hints = typing.get_type_hints(holder, globalns=space, include_extras=True)
                found[name] = hints[name]
            except Exception:  # as above
                found[name] = Any
    return found


def _attrs_keys(kind: Any, incoming: bool) -> tuple[ClassKey, ...]:
    hints = hints_of(kind)
    fields = attrs.fields(kind)
    if incoming:  # as cattrs structures it: by the attribute's name, without absent attributes
        return tuple(
            ClassKey(one.name, one.name, hints.get(one.name, Any), one.default is not attrs.NOTHING)
            for one in fields
            if one.init
        )
    keys = [
        ClassKey(
            one.name,
            one.name,
            _or_none(hints.get(one.name, Any), one.default),
            _may_be_unset(one, kind),
        )
        for one in fields
        if not one.name.startswith("_")
    ]
    names = {key.name for key in keys}
    members: dict[str, Any] = {}
    for one in reversed(kind.__mro__):
        members.update(vars(one))
    for name, value in sorted(members.items(), key=itemgetter(0)):
        if isinstance(value, functools.cached_property) and name not in names:
            keys.append(ClassKey(name, name, hints_of(value.func).get("return", Any), True))
    return tuple(keys)


def _or_none(annotation: Any, default: Any) -> Any:
    """Return an annotation that allows its default: ``name: str = None`` is often written."""
    return typing.Union[annotation, None] if default is None else annotation  # noqa: UP007 - text


def _may_be_unset(field: Any, kind: Any) -> bool:
    unset = not field.init and field.default is attrs.NOTHING
    return unset and not _is_set_later(kind, "__attrs_post_init__", field.name)


def _is_set_later(kind: Any, method: str, name: str) -> bool:
    """Whether what runs after ``__init__`` names an attribute: it is what sets it."""
    code = getattr(getattr(kind, method, None), "__code__", None)
    return code is not None and name in code.co_names


def _dataclass_keys(kind: Any, incoming: bool) -> tuple[ClassKey, ...]:
    hints = hints_of(kind)
    nothing = dataclasses.MISSING
    keys = []
    for one in dataclasses.fields(kind):
        needed = one.default is nothing and one.default_factory is nothing
        if incoming and not one.init:
            continue
        # A default of an attribute that is no argument stays in the class, and is not sent.
        unset = not one.init and one.default_factory is nothing
        unset = unset and not _is_set_later(kind, "__post_init__", one.name)
        optional = not needed if incoming else unset
        hint = hints.get(one.name, Any)
        hint = hint if incoming else _or_none(hint, one.default)
        keys.append(ClassKey(one.name, one.name, hint, optional))
    return tuple(keys)


def _struct_keys(kind: Any) -> tuple[ClassKey, ...]:
    config = kind.__struct_config__
    names = dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))
    hints = hints_of(kind)
    fields = msgspec.structs.fields(kind)
    defaults = {one.name for one in fields if not one.required}
    values = {one.name: one.default for one in fields}
    keys = [
        ClassKey(
            names[name],
            name,
            _without_unset(_or_none(hints.get(name, Any), values.get(name, ...))),
            (config.omit_defaults and name in defaults) or _may_be_left_out(hints.get(name)),
        )
        for name in kind.__struct_fields__
    ]
    if config.tag is not None:
        keys.insert(0, ClassKey(config.tag_field, config.tag_field, Any, constant=config.tag))
    return tuple(keys)


def _may_be_left_out(annotation: Any) -> bool:
    return msgspec.UnsetType in typing.get_args(annotation)


def _without_unset(annotation: Any) -> Any:
    if not _may_be_left_out(annotation):
        return annotation
    rest = [one for one in typing.get_args(annotation) if one is not msgspec.UnsetType]
    return typing.Union[tuple(rest)]  # noqa: UP007 - there may be any number
