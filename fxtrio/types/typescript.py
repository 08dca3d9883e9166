"""Shapes as TypeScript, in one line each. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

import attrs

from fxtrio.types.shapes import (
    Constant,
    Definition,
    ListShape,
    Named,
    ObjectShape,
    Plain,
    RecordShape,
    Shape,
    TupleShape,
    UnionShape,
    Vague,
    parts_of,
)

_TAKEN = frozenset(
    {
        *("any", "unknown", "never", "object", "string", "number", "boolean", "symbol", "bigint"),
        *("null", "undefined", "void", "type", "interface", "class", "enum", "function", "var"),
        *("UseWebSocket", "Elsewhere", "NoSegment", "PathOf", "ReactElement", "ReactNode"),
        *("Record", "Blob", "Promise", "FormData", "URLSearchParams", "Array", "Extract"),
    }
)
"""Names that mean something else in the declarations."""

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


@attrs.frozen
class Printer:
    """Writes types; a class is written by its name."""

    names: Mapping[str, str] = attrs.field(factory=dict)
    """What definitions are called where the text stands, if not by their own names."""

    @classmethod
    def of(cls, found: Iterable[Definition]) -> Printer:
        """Return one that calls no definition like something else in the declarations."""
        return cls({one.name: f"{one.name}_" for one in found if one.name in _TAKEN})

    def type(self, shape: Shape) -> str:
        """Return a type expression."""
        if isinstance(shape, Vague):
            return "any"
        if isinstance(shape, Plain):
            return self._plain(shape)
        if isinstance(shape, Constant):
            return json.dumps(shape.value)
        if isinstance(shape, ListShape):
            return f"{self._inside(shape.item)}[]"
        if isinstance(shape, TupleShape):
            return f"[{', '.join(map(self.type, shape.items))}]"
        if isinstance(shape, RecordShape):
            return f"Record<string, {self.type(shape.value)}>"
        if isinstance(shape, UnionShape):
            return self._union(shape)
        if isinstance(shape, Named):
            return self.names.get(shape.name, shape.name)
        return self.object(shape)

    def object(self, shape: ObjectShape, also: Iterable[str] = ()) -> str:
        """Return an object's type; ``also`` are keys that it never has."""
        keys = [
            f"{property_name(key.name)}{'?' if key.optional else ''}: {self.type(key.shape)}"
            for key in shape.keys
        ]
        keys += [f"{property_name(name)}?: undefined" for name in also]
        return f"{{ {'; '.join(keys)} }}" if keys else "{}"

    def definitions(self, found: Iterable[Definition], *, prefix: str = "") -> str:
        """Return declarations, each in a line; ``prefix`` is ``export`` or the like."""
        return "".join(f"{prefix}{self._definition(one)}\n" for one in found)

    def _definition(self, found: Definition) -> str:
        name = self.names.get(found.name, found.name)
        if isinstance(found.shape, ObjectShape):
            return f"interface {name} {self.object(found.shape)}"
        return f"type {name} = {self.type(found.shape)};"

    def _plain(self, shape: Plain) -> str:
        if shape.format == "file":
            return "Blob"
        if shape.format == "frame":
            return "ArrayBuffer"
        if shape.lax and shape.kind == "number":
            return "number | `${number}`"
        return shape.kind

    def _inside(self, shape: Shape) -> str:
        text = self.type(shape)
        return f"({text})" if isinstance(shape, UnionShape) or " | " in text else text

    def _union(self, shape: UnionShape) -> str:
        """Return a union. An object lacks the keys of the others, as for TypeScript's literals."""
        objects = [part for part in parts_of(shape) if isinstance(part, ObjectShape)]
        names = dict.fromkeys(key.name for one in objects for key in one.keys)
        texts = []
        for part in shape.parts:
            if isinstance(part, ObjectShape):
                own = {key.name for key in part.keys}
                texts.append(self.object(part, [name for name in names if name not in own]))
            else:
                texts.append(self.type(part))
        return " | ".join(dict.fromkeys(texts))


def property_name(name: str) -> str:
    """Return a key as it is written in an object's type."""
    return name if _IDENTIFIER.fullmatch(name) else json.dumps(name)
