"""pydantic models as shapes: what pydantic itself says of them in JSON Schema.

So aliases, serializers and computed fields are as they are sent. Called by `annotations`;
pydantic is imported only for projects that use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args

import attrs
from msgspec.structs import replace

from fxtrio.tools.types.python.class_names import Definitions
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
    UnknownType,
    union,
)
from fxtrio.tools.types.python.sources import Sources

_CLASS = "fxtrio class"
"""Where a schema says what class it is of: no keyword of JSON Schema, nor of an application."""
_NO_CLASS = (None, "")


def is_pydantic(kind: Any) -> bool:
    """Whether a class is a pydantic model."""
    return hasattr(kind, "model_json_schema") and hasattr(kind, "model_fields")


@attrs.frozen(eq=False)
class PydanticReader:
    """Reads models, and names those inside of them."""

    sources: Sources
    definitions: Definitions
    incoming: bool
    named: dict[Any, str]
    """The name of each class that has been met, among them the one that is read; it grows."""

    def shape(self, kind: Any) -> Shape:
        """Return the shape of a model."""
        try:
            schema = schema_of(kind, incoming=self.incoming)
        except Exception as error:  # a model's own hooks are application code
            message = str(error).partition("\n")[0].rstrip(".")
            return UnknownType(f"pydantic has no JSON Schema of {kind.__name__}: {message}")
        inner = schema.pop("$defs", {})
        names, unread = self._names(inner)
        reader = SchemaReader(names, lax=self.incoming)
        for one in unread:
            found, _ = inner[one].get(_CLASS, _NO_CLASS)
            model = found if is_pydantic(found) else None
            shape = self._placed(reader.shape(inner[one]), model)
            place = None if model is None else self.sources.place_of_class(model)
            python = "" if model is None else f"{model.__module__}.{model.__qualname__}"
            self.definitions.fill(names[one], shape, place, python)
        if "$ref" in schema:  # the model refers to itself
            schema = inner[schema["$ref"].rpartition("/")[2]]
        return self._placed(reader.shape(schema), kind)

    def _names(self, inner: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
        """Return the names of the ``$defs`` of a schema, and those whose classes are new."""
        names, unread = dict[str, str](), list[str]()
        for one, part in inner.items():
            found, ref = part.get(_CLASS, _NO_CLASS)
            # What pydantic makes of an enum or a dataclass differs from what the encoder makes.
            # A generic dataclass is one class, and another type for each of its arguments.
            key = found if is_pydantic(found) else (PydanticReader, found, ref)
            if found is None or key not in self.named:
                wanted = one.rpartition("__")[2] if found is None else found.__name__
                self.named[key] = self.definitions.reserve(wanted, incoming=self.incoming)
                unread.append(one)
            names[one] = self.named[key]
        return names, unread

    def _placed(self, shape: Shape, kind: Any) -> Shape:
        """Return an object's shape with the places of its keys."""
        if kind is None or not isinstance(shape, ObjectShape):
            return shape
        places = self.sources.attribute_places(kind)
        names = _attributes_by_key(kind, incoming=self.incoming)

        def placed(key: Key) -> Key:
            attribute = names.get(key.name, key.name)
            alias = "" if attribute == key.name else attribute
            return replace(key, place=places.get(attribute), attribute=alias)

        return ObjectShape(tuple(map(placed, shape.keys)), self.sources.place_of_class(kind))


def schema_of(kind: Any, *, incoming: bool) -> dict[str, Any]:
    """Return the JSON Schema of a model, as bodies may be or as it is sent.

    Those of classes in ``$defs`` have at `_CLASS` the class, and pydantic's text for it with its
    arguments. Raises what pydantic and the hooks of the model raise.
    """
    classes = dict[str, Any]()
    mode = "validation" if incoming else "serialization"
    schema: dict[str, Any] = kind.model_json_schema(
        by_alias=True, mode=mode, schema_generator=_generator(classes)
    )
    for part in schema.get("$defs", {}).values():
        if _CLASS in part:
            part[_CLASS] = classes[part[_CLASS]], part[_CLASS]
    return schema


def _generator(classes: dict[str, Any]) -> type:
    """Return what describes one model, and adds the classes that it meets by pydantic's texts."""
    from pydantic.json_schema import GenerateJsonSchema

    class AsSent(GenerateJsonSchema):
        """Fields with a default are always sent."""

        ref = ""
        """The last that was begun: of a class with validators, it is at those around the class."""

        def generate_inner(self, schema: Any) -> dict[str, Any]:
            self.ref = schema.get("ref", self.ref)
            return super().generate_inner(schema)

        def field_is_required(self, field: Any, total: bool) -> bool:
            if self.mode == "validation" or field["type"] == "typed-dict-field":
                return super().field_is_required(field, total)
            left_out = field.get("serialization_exclude"), field.get("serialization_exclude_if")
            return not any(left_out)

        def ser_schema(self, schema: Any) -> dict[str, Any] | None:
            """Let what a serializer gives be anything, unless it is annotated."""
            found = super().ser_schema(schema)
            if found is None and schema["type"] in ("function-plain", "function-wrap"):
                module = str(getattr(schema["function"], "__module__", ""))
                return None if module.partition(".")[0] == "pydantic" else {}
            return found

        def model_schema(self, schema: Any) -> dict[str, Any]:
            return self._of_class(super().model_schema, schema)

        def dataclass_schema(self, schema: Any) -> dict[str, Any]:
            return self._of_class(super().dataclass_schema, schema)

        def typed_dict_schema(self, schema: Any) -> dict[str, Any]:
            return self._of_class(super().typed_dict_schema, schema)

        def enum_schema(self, schema: Any) -> dict[str, Any]:
            return self._of_class(super().enum_schema, schema)

        def _of_class(self, describe: Callable[[Any], Any], schema: Any) -> dict[str, Any]:
            ref = schema.get("ref", self.ref)  # before its fields begin
            classes.setdefault(ref, schema.get("cls"))
            # Text until all is done: the hooks of an application may write schemas as JSON.
            return {**describe(schema), _CLASS: ref}

        def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> dict[str, Any]:
            """Let what pydantic cannot describe, such as a file, be anything."""
            return {}

    return AsSent


def _attributes_by_key(kind: Any, *, incoming: bool) -> dict[str, str]:
    """Return the attribute of each key that has another name."""
    fields = {**kind.model_fields, **({} if incoming else kind.model_computed_fields)}
    found = {}
    for name, field in fields.items():
        alias = getattr(field, "validation_alias", None) if incoming else None
        alias = alias or (None if incoming else getattr(field, "serialization_alias", None))
        alias = alias or getattr(field, "alias", None)
        if isinstance(alias, str):
            found[alias] = name
    return found


def models_in(annotation: Any) -> Iterator[Any]:
    """Yield the models that an annotation mentions, each once."""
    return _models_in(annotation, set())


def _models_in(annotation: Any, seen: set[Any]) -> Iterator[Any]:
    for part in get_args(annotation):
        yield from _models_in(part, seen)
    if is_pydantic(annotation) and annotation not in seen:
        seen.add(annotation)
        yield annotation
        for field in annotation.model_fields.values():
            yield from _models_in(field.annotation, seen)


@attrs.frozen
class SchemaReader:
    """Reads the schemas of one document: schemas in, shapes out; the rest is unknown."""

    names: Mapping[str, str]
    """What the ``$defs`` are called."""

    lax: bool = False
    """Whether numbers may come as text: bodies of pydantic models."""

    def shape(self, schema: Mapping[str, Any]) -> Shape:
        """Return the shape of what fits a schema."""
        if "$ref" in schema:
            name = self.names.get(schema["$ref"].rpartition("/")[2])
            return UnknownType("its schema is elsewhere") if name is None else Named(name)
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
        return UnknownType("it is Any")

    def _array(self, schema: Mapping[str, Any]) -> Shape:
        first = schema.get("prefixItems")
        items = schema.get("items")
        if first is not None and schema.get("minItems") == schema.get("maxItems") == len(first):
            return TupleShape(tuple(map(self.shape, first)))
        if first is not None or not isinstance(items, dict):
            return ListShape(UnknownType("its items may be any"))
        return ListShape(self.shape(items))

    def _object(self, schema: Mapping[str, Any]) -> Shape:
        properties = schema.get("properties")
        if properties is not None and not self.lax:
            properties = {name: _with_default(one) for name, one in properties.items()}
        extra = schema.get("additionalProperties")
        if properties is None:
            inner = (
                self.shape(extra)
                if isinstance(extra, dict)
                else UnknownType("it may have any keys")
            )
            return RecordShape(inner)
        if extra:
            return UnknownType("it may have further keys")
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
    return (
        Constant(value) if isinstance(value, (str, int, float, bool)) else UnknownType("it is Any")
    )
