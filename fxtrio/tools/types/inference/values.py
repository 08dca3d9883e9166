"""Inferred values of names and expressions while the body of a function is read.

A `Dict` and a `List` change as the code changes the objects that they describe, and all names of
one object share one of them, so that ``data["key"] = 1`` is seen through every name. Where the
code branches, each branch gets a copy of all names (`fork`), in which the shared ones are still
shared; where branches meet, `join` merges the copies of one object by their common ``origin``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Never, TypeGuard

import attrs

from fxtrio.tools.types.python.shapes import Place

_MOST = 8
"""Alternatives of one value; with more of them it is unknown (count)."""


@attrs.frozen
class Unknown:
    """Anything."""

    reason: str
    place: Place | None = None
    remedy: str = ""


@attrs.frozen
class Known:
    """A value of an annotation, which is believed."""

    annotation: Any


@attrs.frozen
class Live:
    """A module, class or function: the object itself."""

    value: Any = attrs.field(eq=id)
    """Compared by identity: ``==`` of an application's object may do anything."""


@attrs.frozen(eq=False)
class Bound:
    """A function of a value, such as ``text.strip``."""

    owner: Value
    name: str
    function: Any = None
    """The function; None for a method of a built-in type."""


@attrs.frozen(eq=False)
class Pending:
    """An awaitable, and the value that awaiting it returns."""

    value: Value


@attrs.frozen(eq=False)
class Promised(Pending):
    """A value that a loader has deferred with `defer`."""


@attrs.define
class Entry:
    """One key of a `Dict`."""

    value: Value
    optional: bool = False
    place: Place | None = None
    fixed: str | int | None = None
    """The constant that is written there; True also for text that is not empty."""


@attrs.define(eq=False)
class Dict:
    """A dict whose keys are known, or in which the values of all keys are alike."""

    entries: dict[str, Entry]
    place: Place | None = None
    spoiled: Unknown | None = None
    """Why nothing is known of it any more."""

    origin: object = attrs.field(factory=object)
    """The same in all copies of one object (`fork`)."""

    others: Value | None = None
    """What is under keys that are not known; None when there are no such keys."""

    factory: Any = None
    """What a defaultdict makes of a missing key: ``list``, ``set``, ``dict`` or ``int``."""

    def values(self) -> list[Value]:
        """Return what may be under any of its keys."""
        found = [entry.value for entry in self.entries.values()]
        return found if self.others is None else [*found, self.others]


@attrs.define(eq=False)
class List:
    """A list, set or the like; ``item`` is None while it is empty."""

    item: Value | None
    kind: str = "list"
    spoiled: Unknown | None = None
    origin: object = attrs.field(factory=object)


@attrs.frozen(eq=False)
class Tuple:
    """A tuple of a known length."""

    items: tuple[Value, ...]


@attrs.frozen(eq=False)
class Either:
    """One of several."""

    parts: tuple[Value, ...]


Value = Unknown | Known | Live | Bound | Pending | Dict | List | Tuple | Either
Names = dict[str, Value]

NONE = Known(type(None))
NEVER = Known(Never)
"""The result of a function that always raises."""


def copied(value: Value, copies: dict[int, Value]) -> Value:
    """Return a copy of a value that may change, and an immutable one as it is.

    ``copies`` has the copies so far by the id of their original: one object that has two names
    is copied once, and one that contains itself ends.
    """
    if id(value) in copies:
        return copies[id(value)]
    copy: Value
    if isinstance(value, Dict):
        copy = copies[id(value)] = Dict({}, value.place, value.spoiled, value.origin)
        copy.others = None if value.others is None else copied(value.others, copies)
        copy.factory = value.factory
        copy.entries = {
            name: Entry(copied(one.value, copies), one.optional, one.place, one.fixed)
            for name, one in value.entries.items()
        }
    elif isinstance(value, List):
        copy = copies[id(value)] = List(None, value.kind, value.spoiled, value.origin)
        copy.item = None if value.item is None else copied(value.item, copies)
    elif isinstance(value, Tuple):
        copy = copies[id(value)] = Tuple(tuple(copied(one, copies) for one in value.items))
    elif isinstance(value, Either):
        copy = copies[id(value)] = Either(tuple(copied(one, copies) for one in value.parts))
    else:  # nothing in it changes; a `Bound` is called, and a `Pending` awaited, at once
        copy = value
    return copy


def fork(names: Names) -> Names:
    """Return a copy of all names for one branch of the code."""
    copies: dict[int, Value] = {}
    return {name: copied(value, copies) for name, value in names.items()}


def parts_of(value: Value) -> tuple[Value, ...]:
    """Return the alternatives of a value."""
    return value.parts if isinstance(value, Either) else (value,)


def either(values: Iterable[Value]) -> Value:
    """Return a value with these alternatives; equal ones count once."""
    flat: list[Value] = []
    for value in values:
        for part in parts_of(value):
            if isinstance(part, Unknown):
                return part  # with its reason, and the place where an annotation would help
            # One by one: they are equal by what they hold, with which no hash goes.
            known = next((one for one in flat if part is one or same(part, one)), None)
            if known is None:
                flat.append(part)
            elif known is not part:
                _unfix(known, part, set())
    if len(flat) > 1:
        flat = [part for part in flat if part != NEVER]
    if not flat:
        return Unknown("there is no value")
    if len(flat) > _MOST:
        return Unknown("it has too many variants")
    return flat[0] if len(flat) == 1 else Either(tuple(flat))


def alike(values: Iterable[Value]) -> Value:
    """Return what one of ``values`` is, of which it is not known which one.

    Values of different types are unknown: whoever reads one knows which one it is.
    """
    value = either(values)
    there = [part for part in parts_of(value) if part != NONE]
    if len(there) < 2 or all(isinstance(part, Dict) for part in there):
        return value
    return Unknown("its values have different types")


def is_whole(value: Value) -> TypeGuard[Dict]:
    """Whether a value is a dict with just these keys."""
    if not isinstance(value, Dict) or value.spoiled is not None or value.others is not None:
        return False
    return not any(entry.optional for entry in value.entries.values())


_Pairs = set[tuple[int, int]]
"""Ids of the values that are being compared: those that contain themselves are met again."""


def same(one: Value, other: Value, met: _Pairs | None = None) -> bool:
    """Whether two values are equal as far as they are known.

    ``met`` has the pairs around these two, which are taken for equal inside of themselves.
    """
    met = set() if met is None else met
    if one is other or (id(one), id(other)) in met:
        return True
    met.add((id(one), id(other)))
    if isinstance(one, Dict) and isinstance(other, Dict):
        return (
            one.spoiled == other.spoiled
            and _same_inside(one.others, other.others, met)
            and one.entries.keys() == other.entries.keys()
            and all(
                entry.optional == other.entries[name].optional
                and same(entry.value, other.entries[name].value, met)
                for name, entry in one.entries.items()
            )
        )
    if isinstance(one, List) and isinstance(other, List):
        return one.spoiled == other.spoiled and _same_inside(one.item, other.item, met)
    if isinstance(one, Tuple | Either) and isinstance(other, type(one)):
        its = _inner(other)
        return len(_inner(one)) == len(its) and all(
            same(part, other_part, met) for part, other_part in zip(_inner(one), its, strict=True)
        )
    if isinstance(one, Pending) and type(one) is type(other):
        return same(one.value, other.value, met)
    return one == other


def _same_inside(one: Value | None, other: Value | None, met: _Pairs) -> bool:
    if one is None or other is None:
        return one is other
    return same(one, other, met)


def same_constant(one: object, other: object) -> bool:
    """Whether two constants are equal: 1 and True are not."""
    return type(one) is type(other) and one == other


def _unfix(one: Value | None, other: Value | None, met: _Pairs) -> None:
    """Forget the constants that differ in two values that are otherwise equal."""
    if (id(one), id(other)) in met:
        return
    met.add((id(one), id(other)))
    if isinstance(one, Dict) and isinstance(other, Dict):
        for name, entry in one.entries.items():
            if not same_constant(entry.fixed, other.entries[name].fixed):
                entry.fixed = None
            _unfix(entry.value, other.entries[name].value, met)
        _unfix(one.others, other.others, met)
    elif isinstance(one, List) and isinstance(other, List):
        _unfix(one.item, other.item, met)
    elif isinstance(one, Pending) and isinstance(other, Pending):
        _unfix(one.value, other.value, met)
    elif isinstance(one, Tuple | Either) and isinstance(other, Tuple | Either):
        for part, its in zip(_inner(one), _inner(other), strict=False):
            _unfix(part, its, met)


def _inner(value: Tuple | Either) -> tuple[Value, ...]:
    return value.items if isinstance(value, Tuple) else value.parts


def join(ways: Iterable[Names]) -> Names:
    """Return the names where branches meet.

    A name that one branch has bound has its value from that branch: after the other branch,
    reading it is an error, and returns no value.
    """
    found: Names | None = None
    for way in ways:
        found = way if found is None else _joined(found, way)
    return {} if found is None else found


def _joined(one: Names, other: Names) -> Names:
    # One object that several names share has to be one object behind the branches as well.
    memo: dict[tuple[int, int], Value] = {}
    met = {**one}
    for name, value in other.items():
        if name not in met:
            if not _is_path(name):
                met[name] = value
        else:
            met[name] = _meet(met[name], value, memo)
    # What one branch has narrowed holds behind both only if the other has narrowed it, too.
    for name in [name for name in one if _is_path(name) and name not in other]:
        del met[name]
    return met


def _is_path(name: str) -> bool:
    """Whether it is not a name but a narrowed expression, such as ``note.due``."""
    return not name.isidentifier()


def _meet(one: Value, other: Value, memo: dict[tuple[int, int], Value]) -> Value:
    key = id(one), id(other)
    if key in memo:
        return memo[key]
    if isinstance(one, Dict) and isinstance(other, Dict) and one.origin is other.origin:
        # In the memo before its entries are joined: a dict may contain itself.
        met = memo[key] = Dict({}, one.place, one.spoiled or other.spoiled, one.origin)
        for name in dict.fromkeys([*one.entries, *other.entries]):
            met.entries[name] = _meet_entries(one.entries.get(name), other.entries.get(name), memo)
        met.others, met.factory = _meet_inside(one.others, other.others, memo), one.factory
        return met
    if isinstance(one, List) and isinstance(other, List) and one.origin is other.origin:
        listed = memo[key] = List(None, one.kind, one.spoiled or other.spoiled, one.origin)
        listed.item = _meet_inside(one.item, other.item, memo)
        return listed
    memo[key] = either([one, other])
    return memo[key]


def _meet_inside(
    one: Value | None, other: Value | None, memo: dict[tuple[int, int], Value]
) -> Value | None:
    """Return what all items of a list, or all values of a dict, are."""
    items = [item for item in (one, other) if item is not None]
    return _meet(items[0], items[-1], memo) if items else None


def _meet_entries(
    one: Entry | None, other: Entry | None, memo: dict[tuple[int, int], Value]
) -> Entry:
    if one is None or other is None:
        [there] = [entry for entry in (one, other) if entry is not None]
        return Entry(there.value, True, there.place)
    value = _meet(one.value, other.value, memo)
    fixed = one.fixed if same_constant(one.fixed, other.fixed) else None
    return Entry(value, one.optional or other.optional, one.place, fixed)


def spoil(value: Value, why: Unknown) -> None:
    """Mark everything mutable in ``value`` as unknown: code that is not read may change it."""
    for part in _inside(value, set()):
        if isinstance(part, (Dict, List)):
            part.spoiled = part.spoiled or why


def _inside(value: Value, seen: set[int]) -> Iterator[Value]:
    if id(value) in seen:
        return
    seen.add(id(value))
    yield value
    inner: Iterable[Value] = ()
    if isinstance(value, Dict):
        inner = value.values()
    elif isinstance(value, List):
        inner = [value.item] if value.item is not None else []
    elif isinstance(value, Tuple):
        inner = value.items
    elif isinstance(value, Either):
        inner = value.parts
    elif isinstance(value, Pending):
        inner = [value.value]
    for one in inner:
        yield from _inside(one, seen)
