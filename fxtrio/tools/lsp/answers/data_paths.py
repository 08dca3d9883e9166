"""From an origin in a UI half to the keys that it names, by the types of the page. Pure.

An origin is what the analyst says of an expression: ``("data", "posts", "[]", "title")``.
"""

from __future__ import annotations

from collections.abc import Iterator

from fxtrio.tools.types.gather.page_types import PageTypes
from fxtrio.tools.types.python.shapes import (
    TEXT,
    Key,
    ListShape,
    ObjectShape,
    RecordShape,
    Shape,
    TupleShape,
    UnknownType,
    parts_of,
)

Origin = tuple[str, ...]

ELEMENT = "[]"


def keys_below(page: PageTypes, origin: Origin) -> list[Key]:
    """Return the keys that what has ``origin`` may have, those of one name once."""
    found: dict[str, Key] = {}
    for part in _shapes_at(page, origin):
        if isinstance(part, ObjectShape):
            for key in part.keys:
                found.setdefault(key.name, key)
    return list(found.values())


def keys_at(page: PageTypes, origin: Origin) -> list[Key]:
    """Return what an origin that ends with a key may name: several for a union of objects."""
    if not origin or origin[-1] == ELEMENT:
        return []
    *around, name = origin
    return [
        key
        for part in _shapes_at(page, tuple(around))
        if isinstance(part, ObjectShape)
        for key in part.keys
        if key.name == name
    ]


def _shapes_at(page: PageTypes, origin: Origin) -> list[Shape]:
    """Return what the value of an origin may be, no unions and no names among them."""
    start, rest = _start(page, origin)
    shapes = list(_parts(page, start))
    for step in rest:
        shapes = [
            part for shape in shapes for next_ in _step(shape, step) for part in _parts(page, next_)
        ]
    return shapes


def _start(page: PageTypes, origin: Origin) -> tuple[Shape, Origin]:
    """Return the shape that an origin begins at, and the rest of its path."""
    match origin:
        case ():
            keys = [Key("data", page.data, place=page.loader), Key("layoutData", page.layout_data)]
            return ObjectShape((*keys, Key("params", _params(page)))), ()
        case ("data", *rest):
            return page.data, tuple(rest)
        case ("layoutData", *rest):
            return page.layout_data, tuple(rest)
        case ("params", *rest):
            return _params(page), tuple(rest)
        case ("action", name, "data" | "body" as side, *rest):
            action = page.action(name)
            shape = None if action is None else action.result
            if side == "body" and action is not None:
                shape = action.argument
            return shape or UnknownType("it is unknown"), tuple(rest)
    return UnknownType("it is unknown"), ()


def _params(page: PageTypes) -> Shape:
    return ObjectShape(tuple(Key(one.name, TEXT, one.kind != "one") for one in page.params))


def _parts(page: PageTypes, shape: Shape) -> Iterator[Shape]:
    for part in parts_of(shape):
        found = page.definition(part)
        if found is part:
            yield part
        else:
            yield from _parts(page, found)


def _step(shape: Shape, step: str) -> Iterator[Shape]:
    """Yield what lies below ``shape`` at a key, or at any element."""
    if isinstance(shape, ObjectShape):
        for key in shape.keys:
            if step in (key.name, ELEMENT):
                yield key.shape
    elif isinstance(shape, RecordShape):
        yield shape.value
    elif step == ELEMENT and isinstance(shape, ListShape):
        yield shape.item
    elif step == ELEMENT and isinstance(shape, TupleShape):
        yield from shape.items
