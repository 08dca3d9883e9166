"""Dicts and lists that grow, and the built-in functions that make them of others."""

from __future__ import annotations

import decimal
import enum
from collections.abc import Callable, Mapping

from fxtrio.tools.types.inference.members import iterated
from fxtrio.tools.types.inference.scope import Arguments, without
from fxtrio.tools.types.inference.values import (
    NONE,
    Dict,
    Entry,
    Known,
    List,
    Live,
    Tuple,
    Unknown,
    Value,
    alike,
    either,
    parts_of,
    spoil,
)


def merge_into(owner: Dict, other: Value) -> None:
    """Add the keys of another dict, which win."""
    if not isinstance(other, Dict) or other.spoiled is not None:
        spoil(owner, Unknown("it is merged with an unknown value"))
        return
    if other.others is not None or owner.others is not None:
        _merge_alike(owner, other)
        return
    for key, entry in other.entries.items():
        before = owner.entries.get(key)
        if entry.optional and before is not None:
            value = either([before.value, entry.value])
            entry = Entry(value, before.optional, entry.place)
        owner.entries[key] = Entry(entry.value, entry.optional, entry.place)


def _merge_alike(owner: Dict, other: Dict) -> None:
    """Add the keys of another dict where it is not known which keys there are."""
    if owner.entries or other.entries:
        spoil(owner, Unknown("its keys are unknown"))
    owner.others = alike([*owner.values(), *other.values()])


def add_to(owner: List, *items: Value) -> None:
    """Add items to a list."""
    owner.item = either([*([owner.item] if owner.item is not None else []), *items])


def _listed(arguments: Arguments) -> Value:
    if not arguments[0]:
        return List(None)
    source = arguments[0][0]
    if isinstance(source, Live) and isinstance(source.value, enum.EnumMeta):
        return List(Known(source.value))
    if isinstance(source, List):
        return List(source.item, "list", source.spoiled)
    return List(iterated(source))


def _first_or_own(arguments: Arguments) -> Value:
    positional, named = arguments
    values = [iterated(positional[0])] if len(positional) == 1 else list(positional)
    return either([*values, *([named["default"]] if "default" in named else [])])


def _summed(arguments: Arguments) -> Value:
    named = [arguments[1]["start"]] if "start" in arguments[1] else []
    values = [iterated(arguments[0][0]), *arguments[0][1:], *named] if arguments[0] else []
    kinds = {part.annotation for one in values for part in parts_of(one) if isinstance(part, Known)}
    if values and kinds <= {int, float, bool} and all(isinstance(one, Known) for one in values):
        return Known(float if float in kinds else int)
    if kinds == {decimal.Decimal}:
        return either([Known(decimal.Decimal), *([Known(int)] if len(values) == 1 else [])])
    return Unknown("the type of the summed values is unknown")


def _rounded(arguments: Arguments) -> Value:
    value = arguments[0][0] if arguments[0] else NONE
    if value in (Known(int), Known(float), Known(bool)):
        return Known(float if len(arguments[0]) > 1 and value == Known(float) else int)
    return Unknown("the type of the rounded value is unknown")


def _same_number(arguments: Arguments) -> Value:
    value = arguments[0][0] if arguments[0] else NONE
    numbers = (Known(int), Known(float))
    return value if value in numbers else Unknown("the type of the number is unknown")


def _zipped(arguments: Arguments) -> Value:
    return List(Tuple(tuple(map(iterated, arguments[0]))))


def _numbered(arguments: Arguments) -> Value:
    inner = iterated(arguments[0][0]) if arguments[0] else Unknown("no argument is passed")
    return List(Tuple((Known(int), inner)))


def _dicted(arguments: Arguments) -> Value:
    positional, named = arguments
    merged = Dict({})
    for one in positional:
        merge_into(merged, one)
    merge_into(merged, Dict({name: Entry(value) for name, value in named.items()}))
    return merged


def _next(arguments: Arguments) -> Value:
    first = iterated(arguments[0][0]) if arguments[0] else Unknown("no argument is passed")
    return either([first, *arguments[0][1:]])


def _mapped(arguments: Arguments) -> Value:
    function = arguments[0][0] if arguments[0] else NONE
    simple = isinstance(function, Live) and any(
        function.value is one for one in (str, int, float, bool, repr)
    )
    if not simple:
        for one in (*arguments[0], *arguments[1].values()):
            spoil(one, Unknown("it is passed to a function"))
        return Unknown("the result of the function is unknown")
    kind = function.value if isinstance(function, Live) and function.value is not repr else str
    return List(Known(kind))


def _without_none(arguments: Arguments) -> Value:
    positional = arguments[0]
    inner = iterated(positional[-1]) if positional else Unknown("no argument is passed")
    if positional and positional[0] == NONE:
        inner = without(inner, lambda one: one == NONE)
    return List(inner)


CONTAINERS: Mapping[str, Callable[[Arguments], Value]] = {
    **dict.fromkeys(
        [f"builtins.{name}" for name in ("list", "sorted", "set", "frozenset", "reversed", "iter")],
        _listed,
    ),
    "builtins.tuple": _listed,
    "builtins.min": _first_or_own,
    "builtins.max": _first_or_own,
    "builtins.sum": _summed,
    "builtins.round": _rounded,
    "builtins.abs": _same_number,
    "builtins.zip": _zipped,
    "builtins.enumerate": _numbered,
    "builtins.dict": _dicted,
    "builtins.next": _next,
    "builtins.filter": _without_none,
    "builtins.map": _mapped,
}
"""By module and name: what a call gives."""
