"""JSON Schema in, shapes out. Pure. What it cannot say is vague. Called by `pydantic_models`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from fxtrio.tools.types.python.shapes import (
    BOOLEAN,
    NULL,
    Constant,
    Key,
    ListShape,
    Named,
    ObjectShape,
    Plain,
    RecordShape,
    Shape,
    TupleShape,
    Vague,
    union,
)


@attrs.frozen
class SchemaReader:
    """Reads the schemas of one document."""

    names: Mapping[str, str]
    """What the ``$defs`` are called."""

    lax: bool = False
    """Whether numbers may come as text: bodies of pydantic models."""

    def shape(self, schema: Mapping[str, Any]) -> Shape:
        """Return the shape of what fits a schema."""
        if "$ref" in schema:
            name = self.names.get(schema["$ref"].rpartition("/")[2])
            return Vague("its schema is elsewhere") if name is None else Named(name)
        if "const" in schema:
            return _constant(schema["const"])
        if "enum" in schema:
            return union(map(_constant, schema["enum"]))
        for several in ("anyOf", "oneOf"):
            if several in schema:
                return union(map(self.shape, schema[several]))
        if len(schema.get("allOf", ())) == 1:
            return self.shape(schema["allOf"][0])
        kind = schema.get("type")
        if isinstance(kind, list):
            return union(self.shape({**schema, "type": one}) for one in kind)
        return self._typed(str(kind), schema)

    def _typed(self, kind: str, schema: Mapping[str, Any]) -> Shape:
        if kind == "string":
            return Plain("string", str(schema.get("format", "")))
        if kind in ("integer", "number"):
            return Plain("number", "integer" if kind == "integer" else "", self.lax)
        if kind == "boolean":
            return BOOLEAN
        if kind == "null":
            return NULL
        if kind == "array":
            return self._array(schema)
        if kind == "object":
            return self._object(schema)
        return Vague("it is Any")

    def _array(self, schema: Mapping[str, Any]) -> Shape:
        first = schema.get("prefixItems")
        items = schema.get("items")
        if first is not None and schema.get("minItems") == schema.get("maxItems") == len(first):
            return TupleShape(tuple(map(self.shape, first)))
        if first is not None or not isinstance(items, dict):
            return ListShape(Vague("its items may be any"))
        return ListShape(self.shape(items))

    def _object(self, schema: Mapping[str, Any]) -> Shape:
        properties = schema.get("properties")
        if properties is not None and not self.lax:
            properties = {name: _with_default(one) for name, one in properties.items()}
        extra = schema.get("additionalProperties")
        if properties is None:
            inner = self.shape(extra) if isinstance(extra, dict) else Vague("it may have any keys")
            return RecordShape(inner)
        if extra:
            return Vague("it may have further keys")
        required = schema.get("required", ())
        return ObjectShape(
            tuple(
                Key(name, self.shape(one), name not in required) for name, one in properties.items()
            )
        )


def _with_default(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of an encoded value, which may be its default: ``name: str = None``."""
    if schema.get("default", ...) is not None or schema.get("anyOf"):
        return schema
    plain = {key: value for key, value in schema.items() if key != "default"}
    return {"anyOf": [plain, {"type": "null"}]}


def _constant(value: Any) -> Shape:
    if value is None:
        return NULL
    return Constant(value) if isinstance(value, (str, int, float, bool)) else Vague("it is Any")
