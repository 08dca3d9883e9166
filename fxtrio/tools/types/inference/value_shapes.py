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
    Vague,
    union,
)


def shape_of(value: Value, shaper: Shaper) -> Shape:
    """Return the shape of what the encoder makes of a value."""
    if isinstance(value, Known):
        return shaper.shape(value.annotation)
    if isinstance(value, Unknown):
        return Vague(value.reason, value.place, value.remedy)
    if isinstance(value, Either):
        return union(shape_of(part, shaper) for part in value.parts)
    if isinstance(value, Tuple):
        return TupleShape(tuple(shape_of(one, shaper) for one in value.items))
    if isinstance(value, List):
        if value.spoiled is not None:
            return shape_of(value.spoiled, shaper)
        return ListShape(NOTHING_INSIDE if value.item is None else shape_of(value.item, shaper))
    if isinstance(value, Dict):
        if value.spoiled is not None:
            return shape_of(value.spoiled, shaper)
        if value.others is not None:
            if value.entries:
                return Vague("its keys are unknown", value.place)
            return RecordShape(shape_of(value.others, shaper))
        keys = (
            Key(
                name,
                shape_of(entry.value, shaper),
                entry.optional,
                entry.place,
                fixed=entry.fixed,
            )
            for name, entry in value.entries.items()
        )
        return ObjectShape(tuple(keys), value.place)
    if isinstance(value, Promised):
        return PromiseShape(shape_of(value.value, shaper))
    return Vague("it is a function, a class or a module")
