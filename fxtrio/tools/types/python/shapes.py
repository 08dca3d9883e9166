"""The structure of types: JSON as the encoder sends it, or as a body may be.

A `Shape` is a tree without circles: classes are named once, in `PageTypes.definitions`, and
referred to by `Named`. All of it goes to JSON and back (`msgspec`), as tagged objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

Basic = Literal["string", "number", "boolean", "null"]


class Place(msgspec.Struct, frozen=True):
    """Where something is written."""

    path: str
    """POSIX, relative to the project folder; absolute outside of it."""

    line: int
    """1-based."""

    column: int
    """1-based, in characters."""


class UnknownType(msgspec.Struct, frozen=True, tag="any"):
    """Anything: nothing is known, or nothing that TypeScript could say."""

    reason: str
    """Why, without a full stop: ``note() has no annotation``."""

    place: Place | None = None
    """What an annotation would have to be written for."""

    remedy: str = ""
    """What to write there, without a full stop."""


class Plain(msgspec.Struct, frozen=True, tag="plain"):
    """Text, a number, a boolean or null."""

    kind: Basic
    format: str = ""
    """As in JSON Schema: ``integer``, ``date-time``, ``date``, ``time``, ``duration``, ``uuid``,
    ``decimal``, ``byte`` (base64), ``file``, ``frame`` (bytes as they are); or what pydantic
    says; "" for any."""

    lax: bool = False
    """Whether a number may come as text, too: in bodies only."""


class Constant(msgspec.Struct, frozen=True, tag="constant"):
    """One value: of a Literal or an Enum."""

    value: str | int | float | bool

    def __eq__(self, other: object) -> bool:
        """Tell 1 from True, which Python does not."""
        is_same = isinstance(other, Constant) and type(self.value) is type(other.value)
        return is_same and self.value == other.value  # type: ignore[attr-defined]  # a Constant

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash((type(self.value), self.value))


class ListShape(msgspec.Struct, frozen=True, tag="list"):
    """An array of any length."""

    item: Shape


class TupleShape(msgspec.Struct, frozen=True, tag="tuple"):
    """An array of a fixed length."""

    items: tuple[Shape, ...]


class PromiseShape(msgspec.Struct, frozen=True, tag="promise"):
    """A value that a loader has deferred."""

    value: Shape


class RecordShape(msgspec.Struct, frozen=True, tag="record"):
    """An object whose keys are not known."""

    value: Shape


class Key(msgspec.Struct, frozen=True):
    """One key of an object."""

    name: str
    """As it stands in JSON."""

    shape: Shape
    optional: bool = False
    """Whether the key may be missing."""

    place: Place | None = None
    """Where it is written in Python: the key of a dict, or the attribute of a class."""

    attribute: str = ""
    """What Python calls it when that is not ``name``: it has an alias."""

    fixed: bool | int | str | None = None
    """The constant that it is, written where the object is created; True also for text that is not
    empty."""


class ObjectShape(msgspec.Struct, frozen=True, tag="object"):
    """An object with known keys, in their order."""

    keys: tuple[Key, ...]
    place: Place | None = None


class UnionShape(msgspec.Struct, frozen=True, tag="union"):
    """One of several; never nested, never with a `UnknownType`, at least two."""

    parts: tuple[Shape, ...]


class Named(msgspec.Struct, frozen=True, tag="named"):
    """A class, by its name in `PageTypes.definitions`."""

    name: str


Shape = (
    UnknownType
    | Plain
    | Constant
    | ListShape
    | TupleShape
    | PromiseShape
    | RecordShape
    | ObjectShape
    | UnionShape
    | Named
)

TEXT = Plain("string")
NUMBER = Plain("number")
INTEGER = Plain("number", "integer")
BOOLEAN = Plain("boolean")
NULL = Plain("null")
NOTHING_INSIDE = UnknownType("nothing is added to it")
"""What a list holds that stays empty."""

NOTHING = ObjectShape(())
"""What a page without a loader gets."""


class Definition(msgspec.Struct, frozen=True):
    """A class that a type names."""

    name: str
    shape: Shape
    place: Place | None = None
    python: str = ""
    """``module.Class``."""


def union(parts: Iterable[Shape]) -> Shape:
    """Return the union of ``parts``; an unknown part makes all of it unknown."""
    flat: dict[Shape, None] = {}
    for part in parts:
        for one in part.parts if isinstance(part, UnionShape) else (part,):
            if isinstance(one, UnknownType):
                return one
            flat[one] = None
    for kind in [one for one in flat if isinstance(one, Plain)]:
        for one in [one for one in flat if _is_within(one, kind)]:
            del flat[one]
    found = tuple(flat)
    if not found:
        return UnknownType("there is no value")
    return found[0] if len(found) == 1 else UnionShape(found)


def _is_within(one: Shape, kind: Plain) -> bool:
    """Whether ``kind`` holds all values of ``one``, which is another shape."""
    if isinstance(one, Constant):
        return kind.kind == _KINDS[type(one.value)] and not kind.format
    return (
        isinstance(one, Plain)
        and (one.kind, kind.format, kind.lax or one.lax == kind.lax) == (kind.kind, "", True)
        and one != kind
    )


_KINDS: dict[type, Basic] = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
}


def parts_of(shape: Shape) -> tuple[Shape, ...]:
    """Return the parts of a union, or the one shape that it is."""
    return shape.parts if isinstance(shape, UnionShape) else (shape,)


def walk(shape: Shape, path: str = "") -> Iterator[tuple[str, Shape]]:
    """Yield a shape and all inside of it with the path to each: ``.notes[].title``."""
    yield path, shape
    if isinstance(shape, ListShape):
        yield from walk(shape.item, f"{path}[]")
    elif isinstance(shape, RecordShape):
        yield from walk(shape.value, f"{path}[]")
    elif isinstance(shape, PromiseShape):
        yield from walk(shape.value, path)
    elif isinstance(shape, TupleShape):
        for index, item in enumerate(shape.items):
            yield from walk(item, f"{path}[{index}]")
    elif isinstance(shape, UnionShape):
        for part in shape.parts:
            yield from walk(part, path)
    elif isinstance(shape, ObjectShape):
        for key in shape.keys:
            yield from walk(key.shape, f"{path}.{key.name}")
