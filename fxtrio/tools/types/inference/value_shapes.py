"""Inferred values as shapes: the JSON of a returned value."""

from __future__ import annotations

from fxtrio.tools.types.inference.values import (
    Dict,
    Either,
    Known,
    List,
    Promised,
    Tuple,
    Unknown,
    Value,
)
from fxtrio.tools.types.python.annotations import Shaper
from fxtrio.tools.types.python.shapes import (
    NOTHING_INSIDE,
    Key,
    ListShape,
    ObjectShape,
    PromiseShape,
    RecordShape,
    Shape,
    TupleShape,
    UnknownType,
    union,
)


def shape_of(value: Value, shaper: Shaper, around: frozenset[int] = frozenset()) -> Shape:
    """Return the shape of what the encoder makes of a value.

    ``around`` has the ids of the objects that this one is inside of.
    """
    if isinstance(value, Known):
        return shaper.shape(value.annotation)
    if isinstance(value, Unknown):
        return UnknownType(value.reason, value.place, value.remedy)
    own = id(value.origin) if isinstance(value, Dict | List) else id(value)
    if own in around:
        return UnknownType("it contains itself")
    around |= {own}
    if isinstance(value, Either):
        return union(shape_of(part, shaper, around) for part in value.parts)
    if isinstance(value, Tuple):
        return TupleShape(tuple(shape_of(one, shaper, around) for one in value.items))
    if isinstance(value, List):
        if value.spoiled is not None:
            return shape_of(value.spoiled, shaper)
        if value.item is None:
            return ListShape(NOTHING_INSIDE)
        return ListShape(shape_of(value.item, shaper, around))
    if isinstance(value, Dict):
        return _of_dict(value, shaper, around)
    if isinstance(value, Promised):
        return PromiseShape(shape_of(value.value, shaper, around))
    return UnknownType("it is a function, a class or a module")


def _of_dict(value: Dict, shaper: Shaper, around: frozenset[int]) -> Shape:
    if value.spoiled is not None:
        return shape_of(value.spoiled, shaper)
    if value.others is not None:
        if value.entries:
            return UnknownType("its keys are unknown", value.place)
        return RecordShape(shape_of(value.others, shaper, around))
    keys = (
        Key(
            name,
            shape_of(entry.value, shaper, around),
            entry.optional,
            entry.place,
            fixed=entry.fixed,
        )
        for name, entry in value.entries.items()
    )
    return ObjectShape(tuple(keys), value.place)
