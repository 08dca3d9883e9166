"""What a call gives: of functions with annotations, of classes, of methods of built-in types.

A function without annotations is read itself (`Reader.run`). One that is only annotated may
change the dicts and lists that it gets: what was known of them is forgotten, unless the
parameter is of a type that cannot be changed, such as `Sequence`.
"""

from __future__ import annotations

import collections
import collections.abc
import inspect
import types
import typing
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from starlette.datastructures import FormData, Headers, QueryParams

from fxtrio.deferred import defer
from fxtrio.runtime import invalidate_routes
from fxtrio.tools.types.inference.builtin_methods import FUNCTIONS, MAKERS, METHODS, looked_up
from fxtrio.tools.types.inference.containers import CONTAINERS, add_to, merge_into
from fxtrio.tools.types.inference.members import awaited, class_of, iterated, known
from fxtrio.tools.types.inference.scope import SPREAD, SPREAD_NAMES, Arguments, Reader
from fxtrio.tools.types.inference.values import (
    NONE,
    Bound,
    Dict,
    Entry,
    Known,
    List,
    Live,
    Pending,
    Promised,
    Tuple,
    Unknown,
    Value,
    alike,
    either,
    parts_of,
    spoil,
)
from fxtrio.tools.types.python.annotations import substituted
from fxtrio.tools.types.python.as_dict import AS_DICT, as_dict, dumped
from fxtrio.tools.types.python.classes import class_keys, hints_of

_READ_ONLY = (
    collections.abc.Sequence,
    collections.abc.Iterable,
    collections.abc.Collection,
    collections.abc.Mapping,
    collections.abc.Set,
)


def call(value: Value, arguments: Arguments, reader: Reader) -> Value:
    """Return what a call gives."""
    if isinstance(value, Live):
        return _call_live(value.value, arguments, reader)
    if isinstance(value, Bound):
        return _call_bound(value, arguments, reader)
    _spoil_all(arguments, "it is passed to an unknown function")
    if isinstance(value, Unknown):
        return value
    return Unknown("the called function is unknown")


def _spoil_all(arguments: Arguments, reason: str) -> None:
    for one in (*arguments[0], *arguments[1].values()):
        spoil(one, Unknown(reason))


def _call_live(function: Any, arguments: Arguments, reader: Reader) -> Value:
    positional = arguments[0]
    if function is invalidate_routes:
        return positional[0] if positional else Unknown("no argument is passed")
    if function is defer and positional:
        value = call(positional[0], (positional[1:], arguments[1]), reader)
        return Promised(awaited(value))
    if function is typing.cast and len(positional) == 2:
        target = positional[0]
        return (
            known(target.value)
            if isinstance(target, Live)
            else Unknown("the type of the cast is unknown")
        )
    name = _name_of(function)
    if name in FUNCTIONS:
        return known(FUNCTIONS[name])
    if name in AS_DICT:
        return as_dict(arguments)
    if name in CONTAINERS:
        return _contained(name, arguments)
    if function is collections.defaultdict and positional:
        factory = positional[0].value if isinstance(positional[0], Live) else None
        copying = (list, set, dict, int, float, str)  # `==` of an application's class may raise
        if any(factory is one for one in copying) and len(positional) == 1:
            return Dict({}, factory=factory)
    if isinstance(function, type):
        return _instance(function, arguments)
    unwrapped = reader.sources.seen_through(function)
    if inspect.isfunction(unwrapped):
        return _call_function(unwrapped, arguments, reader, None)
    if inspect.ismethod(unwrapped):
        owner: Value = Live(unwrapped.__self__)
        if not isinstance(unwrapped.__self__, type):
            owner = Known(type(unwrapped.__self__))
        inner = (owner, *positional), arguments[1]
        return _call_function(unwrapped.__func__, inner, reader, owner)
    _spoil_all(arguments, f"it is passed to {name.removeprefix('.')}()")
    return Unknown(f"{name.removeprefix('builtins.')}() says nothing of what it returns")


def _contained(name: str, arguments: Arguments) -> Value:
    """Return what a built-in function makes of values."""
    positional, named = arguments[0], dict(arguments[1])
    rest, names = named.pop(SPREAD, None), named.pop(SPREAD_NAMES, None)
    if names is not None and name == "builtins.dict":
        result = CONTAINERS[name]((positional, named))
        if isinstance(result, Dict):
            merge_into(result, names)
        return result
    if rest is not None and name in ("builtins.min", "builtins.max"):
        return CONTAINERS[name](([List(either([rest, *positional]))], named))
    if rest is not None or names is not None:
        _spoil_all(arguments, "it is passed with a star")
        return Unknown("the number of arguments is unknown")
    return CONTAINERS[name](arguments)


def _instance(kind: type, arguments: Arguments) -> Value:
    """Return an instance of a class."""
    if class_keys(kind) is None:  # a class with fields holds what they say
        _spoil_all(arguments, f"it is passed to {kind.__name__}()")
    if kind.__module__ == "builtins" and kind not in (str, int, float, bool, bytes, object):
        return Unknown(f"{kind.__name__}() may contain anything")
    if getattr(kind, "__parameters__", ()):
        return Unknown(f"the type parameter of {kind.__name__} is unknown")
    return Known(kind)


def _call_function(
    function: Any, arguments: Arguments, reader: Reader, owner: Value | None
) -> Value:
    is_wrapper = hasattr(function, "__wrapped__")  # which has the annotations of another one
    hints = {} if is_wrapper else hints_of(function)
    returned = hints.get("return", inspect.Parameter.empty)
    generator = inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)
    if returned is inspect.Parameter.empty:
        return _pending(function, _placed_at_call(function, reader.run(function, arguments)))
    if owner is None and is_record(returned) and not generator:
        read = _keys_of(function, returned, arguments, reader)
        if read is not None:
            return read
    bound = _variables(function, hints, arguments)
    _spoil_changeable(function, hints, arguments)
    if owner is not None and _is_self(returned):
        return _pending(function, owner if isinstance(owner, Known) else _instance_of(owner))
    why = f"{function.__name__}() is annotated with what may be any"
    return _pending(function, known(substituted(returned, bound), why))


def is_record(annotation: Any) -> bool:
    """Whether an annotation is a dict with texts as keys: the code may say which ones."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    return origin in (dict, collections.abc.Mapping) and len(inner) == 2 and inner[0] is str


def with_values(value: Value, annotation: Any) -> Value | None:
    """Return the dicts that code shows; what it does not show of their values is annotated.

    None when it does not show the keys.
    """
    parts = parts_of(value)
    wanted = known(typing.get_args(annotation)[1])
    for part in parts:
        if not isinstance(part, Dict) or part.spoiled is not None or not part.entries:
            return None
        for entry in part.entries.values():
            if isinstance(entry.value, Unknown):
                entry.value = wanted
    return value


def _keys_of(function: Any, returned: Any, arguments: Arguments, reader: Reader) -> Value | None:
    """Return what the code of a function shows of the dict that it is annotated with."""
    place = reader.sources.place_of_function(function)
    if place is None or PurePath(place.path).is_absolute():  # of a library
        return None
    found = with_values(reader.run(function, arguments), returned)
    return None if found is None else _pending(function, found)


def _name_of(function: Any) -> str:
    """Return ``module.name`` of the called function."""
    return f"{getattr(function, '__module__', '') or ''}.{getattr(function, '__qualname__', '')}"


def _placed_at_call(function: Any, value: Value) -> Value:
    """Return the result of a function; one unknown in a library gets the place of the call."""
    place = value.place if isinstance(value, Unknown) else None
    if place is None or not PurePath(place.path).is_absolute():
        return value
    return Unknown(f"{_name_of(function).removeprefix('.')}() says nothing of what it returns")


def _instance_of(owner: Value) -> Value:
    is_class = isinstance(owner, Live) and isinstance(owner.value, type)
    return Known(owner.value) if is_class else Unknown("it returns itself")  # type: ignore[union-attr]  # a class is Live


def _is_self(annotation: Any) -> bool:
    return getattr(annotation, "_name", getattr(annotation, "__name__", "")) == "Self"


def _pending(function: Any, value: Value) -> Value:
    return Pending(value) if inspect.iscoroutinefunction(function) else value


def _paired(function: Any, arguments: Arguments) -> Mapping[str, Value]:
    """Return the arguments by the names of their parameters."""
    others = {name: one for name, one in arguments[1].items() if name not in (SPREAD, SPREAD_NAMES)}
    spread = len(others) < len(arguments[1])
    signature = inspect.signature(function)
    try:
        bound = (signature.bind_partial if spread else signature.bind)(*arguments[0], **others)
    except (TypeError, ValueError):
        return {}
    return {name: one for name, one in bound.arguments.items() if not isinstance(one, tuple | dict)}


def _variables(function: Any, hints: Mapping[str, Any], arguments: Arguments) -> dict[Any, Any]:
    """Return what the type variables of a function stand for in a call."""
    bound: dict[Any, Any] = {}
    for name, value in _paired(function, arguments).items():
        hint = hints.get(name)
        inner = typing.get_args(hint)
        if isinstance(hint, typing.TypeVar) and isinstance(value, Known):
            bound[hint] = value.annotation
        elif typing.get_origin(hint) is type and isinstance(inner[0], typing.TypeVar):
            if isinstance(value, Live):
                bound[inner[0]] = value.value
        elif isinstance(value, Known) and inner:
            for one, other in zip(inner, typing.get_args(value.annotation), strict=False):
                if isinstance(one, typing.TypeVar):
                    bound[one] = other
    return bound


def _spoil_changeable(function: Any, hints: Mapping[str, Any], arguments: Arguments) -> None:
    paired = _paired(function, arguments)
    reason = Unknown(f"it is passed to {function.__name__}(), which may change it")
    safe = [one for name, one in paired.items() if class_of(hints.get(name))[0] in _READ_ONLY]
    for one in (*arguments[0], *arguments[1].values()):
        if not any(one is other for other in safe):
            spoil(one, reason)


def _call_bound(method: Bound, arguments: Arguments, reader: Reader) -> Value:
    owner, function = method.owner, method.function
    if isinstance(function, staticmethod | classmethod):
        inner = function.__func__
        first = () if isinstance(function, staticmethod) else (owner,)
        passed = (*first, *arguments[0]), arguments[1]
        return _call_function(reader.sources.seen_through(inner), passed, reader, owner)
    kind = class_of(owner.annotation)[0] if isinstance(owner, Known) else None
    found = looked_up(METHODS, kind, method.name) if kind is not None else None
    if found is not None:
        return known(found)
    result = dumped(owner, arguments) if method.name == "model_dump" else None
    if result is not None:
        return result
    if function is not None:
        passed = (owner, *arguments[0]), arguments[1]
        return _call_function(reader.sources.seen_through(function), passed, reader, owner)
    if isinstance(owner, Dict):
        return _of_dict(owner, method.name, arguments)
    if isinstance(owner, List):
        return _of_list(owner, method.name, arguments)
    if isinstance(owner, Known):
        return _of_known(owner, method.name, arguments)
    return Unknown(f"the result of .{method.name}() is unknown")


def _of_known(owner: Known, name: str, arguments: Arguments) -> Value:
    kind, inner = class_of(owner.annotation)
    if kind is None:
        return Unknown(f"the result of .{name}() is unknown")
    if issubclass(kind, QueryParams | Headers):
        inner = (str, str)
        if name == "getlist":
            return Known(list[str])
    if issubclass(kind, collections.abc.Mapping) and len(inner) == 2:
        return _of_mapping(inner, name, arguments)
    if issubclass(kind, FormData) or typing.is_typeddict(kind):
        return Unknown(f"the result of .{name}() depends on its key")
    if name in ("index", "count", "__len__"):
        return Known(int)
    if name == "pop" and issubclass(kind, collections.abc.MutableSequence) and inner:
        return known(inner[0])
    if name == "copy" and kind in (list, dict, set):
        return owner
    for one in (*arguments[0], *arguments[1].values()):
        spoil(one, Unknown(f"it is stored by .{name}()"))
    return Unknown(f"the result of {kind.__name__}.{name}() is unknown")


def _of_mapping(inner: tuple[Any, ...], name: str, arguments: Arguments) -> Value:
    key, value = known(inner[0]), known(inner[1])
    if name in ("get", "pop", "setdefault"):
        default = arguments[0][1] if len(arguments[0]) > 1 else NONE
        return either([value] if name == "pop" and default is NONE else [value, default])
    if name == "values":
        return List(value)
    if name == "keys":
        return List(key)
    if name == "items":
        return List(Tuple((key, value)))
    return Unknown(f"the result of .{name}() is unknown")


def _of_dict(owner: Dict, name: str, arguments: Arguments) -> Value:
    positional = arguments[0]
    if owner.spoiled is not None:
        _spoil_all(arguments, "it is put into an unknown object")
        return owner.spoiled
    values = owner.values()
    if name == "values":
        return List(either(values) if values else None)
    if name == "keys":
        return List(Known(str))
    if name == "items":
        return List(Tuple((Known(str), either(values)))) if values else List(None)
    if name == "copy":
        return Dict(dict(owner.entries), owner.place, others=owner.others)
    if name == "update" and len(positional) <= 1:
        named = dict(arguments[1])
        names = [named.pop(SPREAD_NAMES)] if SPREAD_NAMES in named else []
        others = [*positional, Dict({key: Entry(one) for key, one in named.items()}), *names]
        if all(isinstance(one, Dict) and one.spoiled is None for one in others):
            for one in others:
                merge_into(owner, one)
            return NONE
    if name == "get" and positional:  # of constants in dicts that have them, see `expressions`
        return either([alike(values), positional[1] if len(positional) > 1 else NONE])
    if name == "setdefault" and len(positional) > 1 and not owner.entries:
        is_empty = isinstance(positional[1], (List, Dict)) and _is_empty(positional[1])
        if owner.others is None or not is_empty:
            owner.others = alike([*values, positional[1]])
        return owner.others
    spoil(owner, Unknown(f"it is changed by .{name}()"))
    _spoil_all(arguments, "it is put into an unknown object")
    return Unknown(f"the result of .{name}() is unknown")


def _is_empty(value: List | Dict) -> bool:
    return value.item is None if isinstance(value, List) else not value.values()


def _of_list(owner: List, name: str, arguments: Arguments) -> Value:
    positional = arguments[0]
    if name in ("append", "add", "insert", "appendleft") and positional:
        add_to(owner, positional[-1])
        return NONE
    if name in ("extend", "update") and positional:
        add_to(owner, *(iterated(one) for one in positional))
        return NONE
    if name in ("sort", "reverse", "remove", "clear", "discard"):
        return NONE
    if name in ("index", "count"):
        return Known(int)
    if name in ("pop", "popleft"):
        return owner.spoiled or owner.item or Unknown("the list is empty")
    if name == "copy":
        return List(owner.item, owner.kind, owner.spoiled)
    spoil(owner, Unknown(f"it is changed by .{name}()"))
    return Unknown(f"the result of .{name}() is unknown")


def maker(kind: type, name: str) -> Value | None:
    """Return what a method of a class gives that makes instances of it; None for another one."""
    for known_kind, names in MAKERS.items():
        if issubclass(kind, known_kind) and name in names:
            return Known(kind)
    return None


def is_function(value: object) -> bool:
    """Whether an object is a function, method or class of Python code or built in."""
    return inspect.isroutine(value) or isinstance(value, type | types.ModuleType)
