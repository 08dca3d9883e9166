"""What loaders and actions return, as shapes: by their annotation, or else by their text.

Called by `gather`. An annotation is believed, unless it says no more than "a dict".
"""

from __future__ import annotations

import collections.abc
import logging
import sys
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import attrs
from starlette.responses import Response

from fxtrio.errors import Redirect
from fxtrio.tools.types.inference.call_inference import is_record, with_values
from fxtrio.tools.types.inference.members import iterated
from fxtrio.tools.types.inference.scope import Reader
from fxtrio.tools.types.inference.value_shapes import shape_of
from fxtrio.tools.types.inference.values import Known, Pending, Tuple, Unknown, Value, either
from fxtrio.tools.types.inference.values import parts_of as forms_of
from fxtrio.tools.types.python.annotations import Shaper
from fxtrio.tools.types.python.classes import hints_of
from fxtrio.tools.types.python.shapes import (
    NOTHING,
    Key,
    ObjectShape,
    Shape,
    UnionShape,
    UnknownType,
    union,
)

log = logging.getLogger("fx.types")

T = TypeVar("T")

_REMEDY = "Annotate what it returns: a TypedDict, an attrs class, a dataclass"
_GENERATORS = (
    collections.abc.AsyncIterator,
    collections.abc.AsyncIterable,
    collections.abc.AsyncGenerator,
)
_OPEN = (dict, collections.abc.Mapping)
_OWN_KEYS = frozenset({"ok", "background"})
"""Keys of an action's result that are not sent as they are."""


@attrs.frozen(eq=False)
class Returned:
    """Finds what the functions of one project return."""

    shaper: Shaper
    reader: Reader

    def by_loader(self, function: Any) -> Shape:
        """Return the type of ``data``: without the status, and without redirects."""
        return _read(function, lambda: self._returned(function, _without_status))

    def by_action(self, function: Any) -> Shape:
        """Return the type of an action's result, as it is beside ``ok``."""
        found = _read(function, lambda: self._returned(function, lambda value: value))
        if isinstance(found, UnionShape):
            return union(map(_as_result, found.parts))
        return _as_result(found)

    def by_generator(self, function: Any) -> Shape:
        """Return the type of what an async generator yields, by its annotation or its code.

        That of an `Event` is the type of its data; a `Missed` is no value.
        """
        return _read(function, lambda: self._by_generator(function))

    def _by_generator(self, function: Any) -> Shape:
        function = self.shaper.sources.seen_through(function)
        annotation = hints_of(function).get("return")
        values = typing.get_args(annotation)
        if typing.get_origin(annotation) not in _GENERATORS or not values:
            return self._yielded(function)
        missed = _of_realtime("Missed")
        yielded = [one for part in _values(values[0]) for one in _values(_data_of(part))]
        return union(shape_of(Known(one), self.shaper) for one in yielded if one is not missed)

    def _yielded(self, function: Any) -> Shape:
        self.reader.read = 0
        events = {_of_realtime("Event"), _of_realtime("Missed")}
        value = iterated(self.reader.run(function, ((), {})))
        if any(isinstance(one, Known) and one.annotation in events for one in forms_of(value)):
            value = Unknown("it yields events")
        shape = shape_of(value, self.shaper)
        if not isinstance(shape, UnknownType):
            return shape
        place = self.shaper.sources.place_of_function(function)
        cause = f"{function.__name__}() has no annotation of what it yields"
        return UnknownType(cause, place, "Annotate it with AsyncIterator[…]")

    def _returned(self, function: Any, sent: Callable[[Value], Value]) -> Shape:
        self.reader.read = 0
        function = self.shaper.sources.seen_through(function)
        is_wrapper = hasattr(function, "__wrapped__")  # which has the annotations of another one
        annotation = Any if is_wrapper else hints_of(function).get("return", Any)
        annotated = either(Known(one) for one in _values(annotation))
        value = self.reader.run(function, ((), {})) if _is_open(annotation) else annotated
        if is_record(annotation) and not _is_open(annotation):
            value = with_values(self.reader.run(function, ((), {})), annotation) or annotated
        if is_wrapper:  # which may be no coroutine function, but return what one gives
            value = either(
                one.value if isinstance(one, Pending) else one for one in forms_of(value)
            )
        parts = [sent(part) for part in forms_of(value) if not _is_no_data(part)]
        if not parts:
            return NOTHING  # nothing but redirects
        shape = union(shape_of(part, self.shaper) for part in parts)
        if not isinstance(shape, UnknownType) or shape.place is not None:
            return shape
        place = self.shaper.sources.place_of_function(function)
        return UnknownType(shape.reason, place, shape.remedy or _REMEDY)


def safely(name: str, find: Callable[[], T], unread: T) -> T:
    """Return what ``find`` finds of a function; ``unread`` if it fails: the others are found."""
    try:
        return find()
    except Exception:  # the application's classes take part, and its code may be of any depth
        log.debug("%s() cannot be read", name, exc_info=True)
        return unread


def _read(function: Any, find: Callable[[], Shape]) -> Shape:
    name = getattr(function, "__name__", "it")
    unread: Shape = UnknownType(f"{name}() cannot be read", None, _REMEDY)
    return safely(name, find, unread)


def _is_open(annotation: Any) -> bool:
    """Whether an annotation says nothing of the keys."""
    parts = list(_values(annotation))
    return not parts or any(
        one in (Any, object)
        or one in _OPEN
        or (typing.get_origin(one) in _OPEN and typing.get_args(one)[-1] in (Any, object))
        for one in parts
    )


def _values(annotation: Any) -> Iterator[Any]:
    """Yield the forms of a return annotation."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        for one in typing.get_args(annotation):
            yield from _values(one)
    elif annotation not in (typing.NoReturn, typing.Never):
        yield annotation


def _is_no_data(value: Value) -> bool:
    """Whether a form of a result leads elsewhere, or is an error: it is never data."""
    if isinstance(value, Known):
        kind = value.annotation
        if kind in (type(None), typing.Never, typing.NoReturn):
            return True
        return isinstance(kind, type) and issubclass(kind, (Redirect, Response))
    return False


def _data_of(annotation: Any) -> Any:
    """Return the type of an event's data; any other annotation as it is."""
    event = _of_realtime("Event")
    if event is None:
        return annotation
    if annotation is event:
        return Any
    return typing.get_args(annotation)[0] if typing.get_origin(annotation) is event else annotation


def _of_realtime(name: str) -> Any:
    """Return a class of `fx.realtime`; None in a project that has not imported it.

    It brings the event loop, which nothing else of the types needs.
    """
    module = sys.modules.get("fx.realtime")
    return None if module is None else getattr(module, name)


def _without_status(value: Value) -> Value:
    if isinstance(value, Tuple) and len(value.items) == 2:
        return value.items[0]
    if isinstance(value, Known) and typing.get_origin(value.annotation) is tuple:
        return Known(typing.get_args(value.annotation)[0])
    return value


def _as_result(shape: Shape) -> Shape:
    if not isinstance(shape, ObjectShape):
        return shape
    keys: tuple[Key, ...] = tuple(key for key in shape.keys if key.name not in _OWN_KEYS)
    return ObjectShape(keys, shape.place)
