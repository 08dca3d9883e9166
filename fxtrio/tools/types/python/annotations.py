"""Python annotations in, shapes out: what JSON the encoder makes of them, or what bodies may be.

What msgspec sends decides (`fxtrio/encode.py`): a Decimal is text, a set is a list, an Enum
its value. What it refuses, such as a subclass of `str`, is unknown: it is never sent.
"""

from __future__ import annotations

import collections
import collections.abc
import datetime
import decimal
import enum
import inspect
import types
import typing
import uuid
from collections.abc import Callable
from typing import Any

import attrs

from fxtrio.deferred import Deferred
from fxtrio.tools.types.python.class_names import Definitions
from fxtrio.tools.types.python.classes import ClassKey, class_keys, is_sent_as_list
from fxtrio.tools.types.python.pydantic_models import PydanticReader, is_pydantic
from fxtrio.tools.types.python.shapes import (
    BOOLEAN,
    INTEGER,
    NULL,
    NUMBER,
    TEXT,
    Constant,
    Key,
    ListShape,
    Named,
    ObjectShape,
    Plain,
    PromiseShape,
    RecordShape,
    Shape,
    TupleShape,
    UnknownType,
    union,
)
from fxtrio.tools.types.python.sources import Sources
from fxtrio.uploads import UploadFile

_DEEPEST = 40
"""Annotations inside of each other (count)."""

_EXACT: dict[Any, Shape] = {
    str: TEXT,
    int: INTEGER,
    float: NUMBER,
    bool: BOOLEAN,
    type(None): NULL,
    None: NULL,
    bytes: Plain("string", "byte"),
    bytearray: Plain("string", "byte"),
    memoryview: Plain("string", "byte"),
    datetime.datetime: Plain("string", "date-time"),
    datetime.date: Plain("string", "date"),
    datetime.time: Plain("string", "time"),
    datetime.timedelta: Plain("string", "duration"),
    uuid.UUID: Plain("string", "uuid"),
    decimal.Decimal: Plain("string", "decimal"),
}
_LISTS = (list, set, frozenset, tuple)
_ABSTRACT_LISTS = (
    collections.abc.Sequence,
    collections.abc.MutableSequence,
    collections.abc.Collection,
    collections.abc.Iterable,
    collections.abc.Set,
    collections.abc.MutableSet,
)
_KEYS = (str, int, float, bytes, uuid.UUID, decimal.Decimal, datetime.date, datetime.time)


@attrs.define(eq=False)
class Shaper:
    """Turns annotations into shapes, and names the classes that it meets."""

    sources: Sources
    definitions: Definitions
    """Grows by the classes that are met."""

    incoming: bool = False
    """Whether shapes are of bodies; else of encoded values."""

    _named: dict[Any, str] = attrs.field(factory=dict)
    _depth: int = 0

    def shape(self, annotation: Any) -> Shape:
        """Return the shape of an annotation."""
        if self._depth > _DEEPEST:
            return UnknownType("the type is too deep")
        self._depth += 1
        try:
            return self._shape(annotation)
        except (TypeError, AttributeError, NameError, RecursionError) as error:
            return UnknownType(f"its annotation cannot be read: {error}")
        finally:
            self._depth -= 1

    def _shape(self, annotation: Any) -> Shape:
        known = _hashed(_EXACT, annotation)
        if known is not None:
            return self._number_or_text(known)
        if annotation in (Any, object) or annotation is inspect.Parameter.empty:
            return UnknownType("it is Any")
        if isinstance(annotation, typing.TypeVar):
            return UnknownType(f"{annotation} may be any type")
        if isinstance(annotation, typing.NewType):
            return self.shape(annotation.__supertype__)
        if hasattr(annotation, "__value__") and type(annotation).__name__ == "TypeAliasType":
            return self.shape(annotation.__value__)
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if origin in (typing.Annotated, typing.Required, typing.NotRequired, typing.Final):
            return self.shape(arguments[0])
        if origin in (typing.Union, types.UnionType):
            return union(map(self.shape, arguments))
        if origin is typing.Literal:
            return union(map(self._constant, arguments))
        kind = annotation if origin is None else origin
        return self._class(kind, arguments, annotation) if isinstance(kind, type) else _odd(kind)

    def _number_or_text(self, shape: Shape) -> Shape:
        """Return a shape as bodies have it: a Decimal may come as a number."""
        if self.incoming and shape == _EXACT[decimal.Decimal]:
            return union([shape, NUMBER])
        return shape

    def _class(self, kind: type, arguments: tuple[Any, ...], annotation: Any) -> Shape:
        if issubclass(kind, enum.Enum):
            return self._enum(kind)
        if issubclass(kind, UploadFile):
            return Plain("string", "file") if self.incoming else _odd(kind)
        if is_pydantic(kind):
            read = PydanticReader(self.sources, self.definitions, self.incoming, self._named)
            return self._name(annotation, lambda: read.shape(annotation))
        if class_keys(kind, incoming=self.incoming) is not None:
            if is_sent_as_list(kind) and not self.incoming:
                return self._sent_as_list(kind)
            return self._name(annotation, lambda: self._object(kind, arguments))
        if issubclass(kind, Deferred):
            return PromiseShape(self.shape(arguments[0] if arguments else Any))
        if issubclass(kind, collections.abc.Mapping):
            return self._mapping(kind, arguments)
        if kind is tuple and arguments and arguments[-1] is not Ellipsis:
            return TupleShape(tuple(map(self.shape, () if arguments == ((),) else arguments)))
        if kind in _ABSTRACT_LISTS or issubclass(kind, _LISTS):
            item = arguments[0] if arguments else Any
            return ListShape(self.shape(item))
        return _odd(kind)

    def _enum(self, kind: type[enum.Enum]) -> Shape:
        if issubclass(kind, enum.Flag):
            return INTEGER
        values = [member.value for member in kind]
        found: list[Shape] = [self._constant(value) for value in values]
        if self.incoming:  # the text of a value stands for its member, too
            found += [Constant(str(value)) for value in values]
        return union(found)

    def _constant(self, value: Any) -> Shape:
        if value is None:
            return NULL
        if isinstance(value, enum.Enum):
            return self._constant(value.value)
        if type(value) in (str, int, float, bool):
            return Constant(value)
        return self.shape(type(value))

    def _mapping(self, kind: type, arguments: tuple[Any, ...]) -> Shape:
        key = arguments[0] if arguments else Any
        if kind is collections.Counter:
            return RecordShape(INTEGER)
        value = arguments[1] if len(arguments) == 2 else Any
        plain = typing.get_origin(key) or key
        known = isinstance(plain, type) and plain not in (object, Any)
        if known and not issubclass(plain, (*_KEYS, enum.Enum)):
            return UnknownType(f"JSON has no keys of the type {plain.__name__}")
        return RecordShape(self.shape(value))

    def _object(self, kind: type, arguments: tuple[Any, ...]) -> Shape:
        bound = dict(zip(getattr(kind, "__parameters__", ()), arguments, strict=False))
        places = self.sources.attribute_places(kind)
        keys = class_keys(kind, incoming=self.incoming) or ()
        return ObjectShape(
            tuple(
                Key(
                    key.name,
                    self._of_key(key, bound),
                    key.optional,
                    places.get(key.attribute),
                    "" if key.attribute == key.name else key.attribute,
                )
                for key in keys
            ),
            self.sources.place_of_class(kind),
        )

    def _of_key(self, key: ClassKey, bound: dict[Any, Any]) -> Shape:
        if key.constant is not None:
            return self._constant(key.constant)
        return self.shape(substituted(key.annotation, bound))

    def _sent_as_list(self, kind: type) -> Shape:
        keys = class_keys(kind, incoming=self.incoming) or ()
        return TupleShape(tuple(self.shape(key.annotation) for key in keys))

    def _name(self, annotation: Any, make: Callable[[], Shape]) -> Shape:
        """Return the name of a class, and define it when it is met for the first time."""
        known = self._named.get(annotation)
        if known is not None:
            return Named(known)
        kind = typing.get_origin(annotation) or annotation
        name = self.definitions.reserve(kind.__name__, incoming=self.incoming)
        self._named[annotation] = name
        place = self.sources.place_of_class(kind)
        python = f"{kind.__module__}.{kind.__qualname__}"
        self.definitions.fill(name, make(), place, python)
        return Named(name)


def _odd(kind: Any) -> UnknownType:
    return UnknownType(f"JSON cannot hold {getattr(kind, '__name__', kind)}")


def _hashed(table: dict[Any, Shape], key: Any) -> Shape | None:
    try:
        return table.get(key)
    except TypeError:
        return None


def substituted(annotation: Any, bound: dict[Any, Any]) -> Any:
    """Return an annotation with its type variables replaced where they are known."""
    if not bound:
        return annotation
    if isinstance(annotation, typing.TypeVar):
        return bound.get(annotation, annotation)
    parameters = getattr(annotation, "__parameters__", ())
    if not parameters or isinstance(annotation, type):
        return annotation
    try:
        return annotation[tuple(bound.get(one, Any) for one in parameters)]
    except TypeError:  # of a ParamSpec
        return Any
