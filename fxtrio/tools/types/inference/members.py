"""Attributes and items of values: of classes with annotations, of dicts, lists and text.

An attribute of None is an error in Python, so what comes of it comes of the other forms.
"""

from __future__ import annotations

import ast
import collections.abc
import enum
import functools
import inspect
import types
import typing
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import URL, FormData, Headers, QueryParams
from starlette.requests import Request

from fxtrio.tools.types.inference.builtin_methods import ATTRIBUTES, looked_up
from fxtrio.tools.types.inference.scope import Reader, without
from fxtrio.tools.types.inference.values import (
    NONE,
    Bound,
    Dict,
    Known,
    List,
    Live,
    Pending,
    Tuple,
    Unknown,
    Value,
    alike,
    either,
    parts_of,
)
from fxtrio.tools.types.python.annotations import substituted
from fxtrio.tools.types.python.classes import class_keys, hints_of, is_named_tuple

_REQUEST: Mapping[type, Mapping[str, Any]] = {
    Request: {
        "path_params": dict[str, str],
        "query_params": QueryParams,
        "headers": Headers,
        "cookies": dict[str, str],
        "method": str,
        "url": URL,
        "base_url": URL,
    },
    URL: {
        **dict.fromkeys(("path", "query", "scheme", "netloc", "fragment"), str),
        "hostname": str | None,
        "port": int | None,
    },
}
_TEXT_MAPS = (QueryParams, Headers)
_MAPPINGS = (dict, collections.abc.Mapping)


def kinds_of(annotation: Any) -> list[Any]:
    """Return the annotations of which one holds."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return [kind for one in arguments for kind in kinds_of(one)]
    if origin in (typing.Annotated, typing.Required, typing.NotRequired, typing.Final):
        return kinds_of(arguments[0])
    if isinstance(annotation, typing.NewType):
        return kinds_of(annotation.__supertype__)
    return [type(None) if annotation is None else annotation]


def known(annotation: Any, why: str = "it is annotated as Any") -> Value:
    """Return the value of an annotation, a union in its forms."""
    if annotation in (Any, object, inspect.Parameter.empty) or _has_variables(annotation):
        return Unknown(why)
    return either(
        Unknown(why) if kind in (Any, object) or isinstance(kind, typing.TypeVar) else Known(kind)
        for kind in kinds_of(annotation)
    )


def _has_variables(annotation: Any) -> bool:
    return isinstance(annotation, typing.TypeVar) or bool(
        not isinstance(annotation, type) and getattr(annotation, "__parameters__", ())
    )


def class_of(annotation: Any) -> tuple[type | None, tuple[Any, ...]]:
    """Return the class of an annotation, and its arguments."""
    if typing.get_origin(annotation) is typing.Literal:
        return type(typing.get_args(annotation)[0]), ()
    kind = typing.get_origin(annotation) or annotation
    return (kind if isinstance(kind, type) else None), typing.get_args(annotation)


def member(value: Value, name: str, reader: Reader) -> Value:
    """Return an attribute."""
    return either(
        _member(part, name, reader)
        for part in parts_of(without(value, lambda one: one == NONE and not hasattr(None, name)))
    )


def _member(value: Value, name: str, reader: Reader) -> Value:
    if isinstance(value, (Dict, List)):
        return Bound(value, name)
    if isinstance(value, Unknown):
        return value
    if not isinstance(value, Known):
        return Unknown(f"the type of '.{name}' is unknown")
    kind, arguments = class_of(value.annotation)
    if kind is None:
        return Unknown(f"the type of '.{name}' is unknown")
    found = looked_up(_REQUEST, kind, name) or looked_up(ATTRIBUTES, kind, name)
    if found is not None:
        return known(found)
    if issubclass(kind, enum.Enum) and name in ("value", "name"):
        return _of_enum(kind, name)
    for key in class_keys(kind) or ():
        if key.attribute == name:
            return known(substituted(key.annotation, _bound(kind, arguments)))
    for key in class_keys(kind, incoming=True) or ():  # private attributes
        if key.attribute == name:
            return known(substituted(key.annotation, _bound(kind, arguments)))
    return _of_class(value, kind, arguments, name, reader)


def _bound(kind: type, arguments: tuple[Any, ...]) -> dict[Any, Any]:
    return dict(zip(getattr(kind, "__parameters__", ()), arguments, strict=False))


def _of_enum(kind: type[enum.Enum], name: str) -> Value:
    if name == "name":
        return Known(str)
    return either(Known(type(one.value)) for one in kind)


def _of_class(
    value: Known, kind: type, arguments: tuple[Any, ...], name: str, reader: Reader
) -> Value:
    """Return what a class says of an attribute: an annotation, a property, a method."""
    fields = getattr(kind, "model_fields", {})
    if name in fields:
        return known(fields[name].annotation)
    found = inspect.getattr_static(kind, name, None)
    function = getattr(found, "fget", None) or getattr(found, "func", None)
    if isinstance(found, property | functools.cached_property) and function is not None:
        returned = hints_of(function).get("return", Any)
        if returned is not Any:
            return known(_with_self(substituted(returned, _bound(kind, arguments)), value))
        return reader.run(function, ([value], {}))
    if issubclass(kind, _TEXT_MAPS):  # whose methods say nothing: `call_inference` knows them
        return Bound(value, name)
    if isinstance(found, staticmethod | classmethod):
        owner = () if isinstance(found, staticmethod) else (Live(kind),)
        return Bound(owner[0] if owner else NONE, name, found)
    if inspect.isfunction(found):
        return Bound(value, name, found)
    if (found is not None and kind.__module__ == "builtins") or inspect.ismethoddescriptor(found):
        return Bound(value, name)
    hints = hints_of(kind)
    if name in hints:
        return known(substituted(hints[name], _bound(kind, arguments)))
    annotation = _assigned_in_methods(kind, name, reader)
    if annotation is not None:
        return known(annotation)
    return Unknown(
        f"'{kind.__name__}.{name}' has no annotation",
        reader.sources.place_of_class(kind),
        f"Annotate '{name}' in the class",
    )


def _assigned_in_methods(kind: type, name: str, reader: Reader) -> Any:
    """Return the annotation of ``self.name: …`` in a method; None without one."""
    for one in inspect.getmro(kind):
        found = reader.sources.of_class(one)
        for node in ast.walk(found[1]) if found is not None else ():
            if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Attribute):
                continue
            target = node.target
            if ast.unparse(target) == f"self.{name}":
                return annotation_in(one.__module__, ast.unparse(node.annotation))
    return None


def annotation_in(module: str, text: str) -> Any:
    """Return the type that an annotation denotes in a module; Any if it cannot be resolved."""
    # `typing.get_type_hints` resolves the annotations of objects, not of texts.
    holder = type("_", (), {"__annotations__": {"it": text}, "__module__": module})
    return hints_of(holder).get("it", Any)


def _with_self(annotation: Any, owner: Value) -> Any:
    is_self = getattr(annotation, "__name__", getattr(annotation, "_name", "")) == "Self"
    return owner.annotation if is_self and isinstance(owner, Known) else annotation


def item(value: Value, key: object, *, is_slice: bool = False) -> Value:
    """Return what ``value[key]`` is; ``key`` is None when it is not known."""
    return either(
        _item(part, key, is_slice) for part in parts_of(without(value, lambda one: one == NONE))
    )


def _item(value: Value, key: object, is_slice: bool) -> Value:
    if isinstance(value, Dict):
        return value.spoiled or _of_key(value, key)
    if isinstance(value, List):
        if value.spoiled is not None or value.item is None:
            return value.spoiled or Unknown("the list is empty")
        return List(value.item, value.kind) if is_slice else value.item
    if isinstance(value, Tuple):
        if is_slice or not isinstance(key, int) or not -len(value.items) <= key < len(value.items):
            return either(value.items) if not is_slice else Unknown("a part of a tuple")
        return value.items[key]
    if isinstance(value, Known):
        return _known_item(value, key, is_slice)
    return value if isinstance(value, Unknown) else Unknown("the type of its items is unknown")


def _of_key(owner: Dict, key: object) -> Value:
    entry = owner.entries.get(key) if isinstance(key, str) else None
    if entry is not None:
        return entry.value
    if owner.others is None and owner.factory is not None:
        owner.others = _from_factory(owner.factory)
    if isinstance(key, str) and owner.others is None:
        return Unknown("the key is unknown")
    return alike(owner.values())  # a key that is not there is an error


def _from_factory(factory: Any) -> Value:
    if factory is list or factory is set:
        return List(None, factory.__name__)
    return Dict({}) if factory is dict else Known(factory)


def _known_item(value: Known, key: object, is_slice: bool) -> Value:
    kind, arguments = class_of(value.annotation)
    if kind is str:
        return value
    if kind is None:
        return Unknown("the type of its items is unknown")
    if typing.is_typeddict(kind):
        found = [one for one in class_keys(kind) or () if one.name == key]
        return known(found[0].annotation) if found else Unknown("the key is unknown")
    if issubclass(kind, _TEXT_MAPS):
        return Known(str)
    if issubclass(kind, _MAPPINGS):
        return known(arguments[1]) if len(arguments) == 2 else Unknown("its values may be any")
    if is_named_tuple(kind):
        keys = class_keys(kind) or ()
        one = keys[key] if isinstance(key, int) and -len(keys) <= key < len(keys) else None
        return Unknown("the index is unknown") if one is None else known(one.annotation)
    if kind is tuple and arguments and arguments[-1] is not Ellipsis:
        return item(Tuple(tuple(map(known, arguments))), key, is_slice=is_slice)
    if is_slice and issubclass(kind, (list, tuple)):
        return value
    return iterated(value) if issubclass(kind, collections.abc.Sequence) else Unknown("its items")


def iterated(value: Value) -> Value:
    """Return what a loop over a value gives."""
    return either(_iterated(part) for part in parts_of(without(value, lambda one: one == NONE)))


def _iterated(value: Value) -> Value:
    if isinstance(value, Dict):
        return value.spoiled or Known(str)
    if isinstance(value, List):
        return value.spoiled or value.item or Unknown("the list is empty")
    if isinstance(value, Tuple):
        return either(value.items) if value.items else Unknown("the tuple is empty")
    if not isinstance(value, Known):
        return value if isinstance(value, Unknown) else Unknown("the type of its items is unknown")
    kind, arguments = class_of(value.annotation)
    if kind is str:
        return value
    if kind is None:
        return Unknown("the type of its items is unknown")
    if issubclass(kind, (*_TEXT_MAPS, FormData)) or typing.is_typeddict(kind):
        return Known(str)
    if issubclass(kind, enum.Enum):
        return Unknown("the type of its items is unknown")
    if is_named_tuple(kind):
        return either(known(one.annotation) for one in class_keys(kind) or ())
    if kind is tuple and arguments and arguments[-1] is not Ellipsis:
        return either(map(known, arguments))
    if issubclass(kind, collections.abc.Iterable) or kind.__module__ == "collections.abc":
        return known(arguments[0]) if arguments else Unknown("its items may be any")
    return Unknown("the type of its items is unknown")


def awaited(value: Value) -> Value:
    """Return what comes of waiting for a value."""
    return either(
        part.value if isinstance(part, Pending) else _awaited(part) for part in parts_of(value)
    )


def _awaited(value: Value) -> Value:
    if isinstance(value, Known):
        kind, arguments = class_of(value.annotation)
        if kind is not None and issubclass(kind, collections.abc.Awaitable) and arguments:
            return known(arguments[-1])
    return value if isinstance(value, Unknown) else Unknown("it is awaited")
