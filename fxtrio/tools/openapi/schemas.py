"""Shapes in, JSON Schema out (draft 2020-12, as OpenAPI 3.1 takes it). Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from fxtrio.tools.types.python.shapes import (
    NULL,
    Constant,
    Definition,
    Key,
    ListShape,
    Named,
    ObjectShape,
    Plain,
    PromiseShape,
    RecordShape,
    Shape,
    TupleShape,
    UnionShape,
    UnknownType,
    parts_of,
)

Schema = dict[str, Any]
Limits = Mapping[str, Mapping[str, Any]]
"""Key of an object to the keywords that its value must fit besides its type; `WHOLE` has those of
the object itself."""

WHOLE = ""
"""What no key is called."""

FILE = "file"
"""The `Plain.format` of what only a form can carry."""

_PREFIX = "#/components/schemas/"
_NAMES = {str: "string", bool: "boolean", int: "integer", float: "number"}


def reference(name: str) -> Schema:
    """Return a reference to a named schema."""
    return {"$ref": _PREFIX + name}


@attrs.frozen
class Schemas:
    """Writes shapes down."""

    limits_of: Callable[[str], Limits]
    """Descriptions and limits of classes, by ``module.Class``."""

    def definition(self, definition: Definition) -> Schema:
        """Return the schema of a named class."""
        shape = definition.shape
        if isinstance(shape, ObjectShape):
            return self.object(shape, self.limits_of(definition.python))
        return self.schema(shape)

    def whole(self, shape: Shape, definitions: Iterable[Definition]) -> Schema:
        """Return the schema of a shape; of a named class, what its name stands for."""
        if isinstance(shape, Named):
            known = {definition.name: definition for definition in definitions}
            return self.definition(known[shape.name])
        return self.schema(shape)

    def schema(self, shape: Shape) -> Schema:
        """Return the schema of a shape."""
        if isinstance(shape, Named):
            return reference(shape.name)
        if isinstance(shape, Plain):
            return _plain(shape)
        if isinstance(shape, Constant):
            return {"type": _NAMES[type(shape.value)], "const": shape.value}
        if isinstance(shape, ListShape):
            return {"type": "array", "items": self.schema(shape.item)}
        if isinstance(shape, TupleShape):
            items = [self.schema(item) for item in shape.items]
            count = {"minItems": len(items), "maxItems": len(items)}
            return {"type": "array", **({"prefixItems": items} if items else {}), **count}
        if isinstance(shape, RecordShape):
            return {"type": "object", "additionalProperties": self.schema(shape.value)}
        if isinstance(shape, ObjectShape):
            return self.object(shape, {})
        if isinstance(shape, PromiseShape):  # of a loader, which the document does not describe
            return self.schema(shape.value)
        return {} if isinstance(shape, UnknownType) else self._union(shape)

    def object(self, shape: ObjectShape, limits: Limits) -> Schema:
        """Return the schema of an object; further keys are forbidden by ``limits`` only."""
        properties = {
            key.name: _limited(self.schema(key.shape), limits.get(key.name, {}))
            for key in shape.keys
        }
        required = [key.name for key in shape.keys if not key.optional]
        found: Schema = {"type": "object"}
        if properties:
            found["properties"] = properties
        if required:
            found["required"] = required
        return {**found, **limits.get(WHOLE, {})}

    def _union(self, shape: UnionShape) -> Schema:
        values = [part.value for part in shape.parts if isinstance(part, Constant)]
        numbers = {str(value) for value in values if not isinstance(value, str)}
        # The text of a number stands for it in forms: no second value.
        values = [one for one in values if not (isinstance(one, str) and one in numbers)]
        rest = [self.schema(part) for part in shape.parts if not isinstance(part, Constant)]
        kinds = list(dict.fromkeys(_NAMES[type(value)] for value in values))
        if values:
            named = {"type": kinds[0]} if len(kinds) == 1 else {}
            rest.insert(0, {**named, "enum": values})
        return rest[0] if len(rest) == 1 else {"anyOf": rest}


def _plain(shape: Plain) -> Schema:
    if shape.kind == "number" and shape.format == "integer":
        return {"type": "integer"}
    if shape.format == "byte":
        return {"type": shape.kind, "contentEncoding": "base64"}
    if shape.format == FILE:
        return {"type": "string", "format": "binary"}
    return {"type": shape.kind, **({"format": shape.format} if shape.format else {})}


_OF_ITEMS = {"minLength": "minItems", "maxLength": "maxItems"}
"""What the length of a text is to a list."""


def _limited(schema: Schema, limits: Mapping[str, Any]) -> Schema:
    """Return a schema with further keywords; of a value or null, those of the value."""
    about = {name: limits[name] for name in ("description", "default") if name in limits}
    rest = {name: value for name, value in limits.items() if name not in about}
    several = schema.get("anyOf", [schema])
    values = [one for one in several if one != _plain(NULL)]
    if len(values) != 1 or "$ref" in values[0]:
        return {**schema, **about}
    [value] = values
    if value.get("type") == "array":
        rest = {_OF_ITEMS.get(name, name): limit for name, limit in rest.items()}
    value = {**value, **rest}
    if "anyOf" not in schema:
        return {**value, **about}
    return {"anyOf": [one if one == _plain(NULL) else value for one in several], **about}


def is_flat(shape: ObjectShape, resolve: Callable[[Shape], Shape]) -> bool:
    """Whether fields of a form can hold an object: texts, numbers, files, and lists of them."""

    def simple(found: Shape) -> bool:
        parts = map(resolve, parts_of(found))
        return all(isinstance(part, Plain | Constant | UnionShape) for part in parts)

    def holds(key: Key) -> bool:
        return all(
            simple(part.item) if isinstance(part, ListShape) else simple(part)
            for part in parts_of(resolve(key.shape))
        )

    return all(map(holds, shape.keys))


def has_file(shape: ObjectShape, *, needed: bool) -> bool:
    """Whether an object has a key for a file; with ``needed``, one that must be there."""
    return any(
        isinstance(part, Plain) and part.format == FILE
        for key in shape.keys
        if not (needed and key.optional)
        for outer in parts_of(key.shape)
        for part in parts_of(outer.item if isinstance(outer, ListShape) else outer)
    )
