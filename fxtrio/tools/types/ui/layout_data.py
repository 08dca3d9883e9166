"""`layoutData`: what the loaders around a page give, merged key by key. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product

from fxtrio.tools.types.python.shapes import (
    NOTHING,
    Key,
    Named,
    ObjectShape,
    Shape,
    UnknownType,
    parts_of,
    union,
)

_MOST = 12
"""Alternatives of the merged object; with more it is unknown (count)."""


def layered(layers: Iterable[Shape], resolve: Callable[[Named], Shape]) -> Shape:
    """Return what comes of ``layers``, outermost first: of each key the nearest wins.

    ``resolve`` returns what a name stands for.
    """
    forms = [list(_objects(layer, resolve)) for layer in layers]
    if not forms:
        return NOTHING
    number = 1
    for one in forms:
        number *= len(one)
    if number > _MOST or any(one is None for form in forms for one in form):
        return UnknownType("a loader of a surrounding layout returns an unknown value")
    return union(_merged(one for one in chosen if one) for chosen in product(*forms))


def _objects(shape: Shape, resolve: Callable[[Named], Shape]) -> Iterator[ObjectShape | None]:
    """Yield the objects that a layer may be; None for an unknown one."""
    for part in parts_of(shape):
        found = resolve(part) if isinstance(part, Named) else part
        if isinstance(found, ObjectShape):
            yield found
        elif found is part:
            yield None
        else:
            yield from _objects(found, resolve)


def _merged(layers: Iterable[ObjectShape]) -> ObjectShape:
    keys: dict[str, Key] = {}
    for layer in layers:
        for key in layer.keys:
            outer = keys.get(key.name)
            if key.optional and outer is not None:
                shape = union([outer.shape, key.shape])
                key = Key(key.name, shape, outer.optional, key.place, key.attribute)
            keys[key.name] = key
    return ObjectShape(tuple(keys.values()))
