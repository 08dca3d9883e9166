"""Which fields of a body's class no body can fill: found when the app starts, and by `fx check`."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import cattrs

from fxtrio.errors import PlacedError
from fxtrio.serve.request.model.bounded_structuring import is_items, is_object
from fxtrio.serve.request.model.form_structuring import alternatives, is_file

_MAX_LISTED = 5

_READY_BEFORE = frozenset({"function-before", "function-plain", "function-wrap"})
"""pydantic schema types in which application code creates the value."""


class FieldsImpossible(PlacedError):
    """A body's class has fields of types that no body can have."""

    remedy = (
        "Use str, int, float, bool, Decimal, dates, UUID, enums, UploadFile, classes and lists "
        "of them, or leave the field out of the class"
    )

    def __init__(self, model: type, fields: Mapping[str, object]) -> None:
        listed = [f"{path!r} ({_name(kind)})" for path, kind in fields.items()]
        more = f" and {len(listed) - _MAX_LISTED} more" if len(listed) > _MAX_LISTED else ""
        are = "is of a type" if len(listed) == 1 else "are of types"
        cause = f"{', '.join(listed[:_MAX_LISTED])}{more} {are} that no body can have"
        super().__init__(model.__name__, cause)
        self.fields = fields


def require_possible(model: type, converter: cattrs.BaseConverter) -> None:
    """Raise FieldsImpossible for an attrs class or data class that ``converter`` cannot make."""
    found = dict(_impossible(model, converter, "", ()))
    if found:
        raise FieldsImpossible(model, found)


def require_possible_pydantic(model: Any) -> None:
    """Raise FieldsImpossible for a pydantic model with fields of arbitrary types."""
    found = {
        name: kind
        for name, schema in _schemas(model.__pydantic_core_schema__)
        for kind in _arbitrary(schema)
    }
    if found:
        raise FieldsImpossible(model, found)


def _impossible(
    model: Any, converter: cattrs.BaseConverter, path: str, enclosing: tuple[Any, ...]
) -> Iterator[tuple[str, object]]:
    if model in enclosing:  # a class that contains itself
        return
    for name, kind in _fields(model):
        place = f"{path}.{name}" if path else name
        for part in alternatives(kind):
            for inner in _inside(part):
                plain = typing.get_origin(inner) or inner
                if _is_class(plain):
                    yield from _impossible(plain, converter, place, (*enclosing, model))
                elif not _can_make(inner, converter):
                    yield place, part


def _inside(kind: Any) -> Iterator[Any]:
    """Yield the item types of a list or object, at any depth; else ``kind`` itself."""
    if not is_items(kind) and not is_object(kind):
        yield kind
        return
    for argument in typing.get_args(kind):
        if argument is not Ellipsis:
            for part in alternatives(argument):
                yield from _inside(part)


def _is_class(kind: Any) -> bool:
    return isinstance(kind, type) and (attrs.has(kind) or dataclasses.is_dataclass(kind))


def _fields(model: Any) -> Iterator[tuple[str, Any]]:
    hints = typing.get_type_hints(model, include_extras=True)
    declared = attrs.fields(model) if attrs.has(model) else dataclasses.fields(model)
    for field in declared:
        if field.init and field.name in hints:
            yield field.name, hints[field.name]


def _can_make(kind: Any, converter: cattrs.BaseConverter) -> bool:
    if kind is type(None) or isinstance(kind, typing.TypeVar):
        return True
    try:
        converter.get_structure_hook(kind)
    except cattrs.StructureHandlerNotFoundError:
        return False
    return True


def _schemas(schema: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a model's schema, with their names."""
    while isinstance(schema, Mapping) and "fields" not in schema and "schema" in schema:
        schema = schema["schema"]
    fields = schema.get("fields") if isinstance(schema, Mapping) else None
    if isinstance(fields, Mapping):
        yield from fields.items()


def _arbitrary(schema: Any) -> Iterator[object]:
    """Yield the classes whose instances a schema requires but nothing can create."""
    if isinstance(schema, Mapping):
        if schema.get("type") in _READY_BEFORE:
            return
        if schema.get("type") == "is-instance" and not is_file(schema.get("cls")):
            yield schema.get("cls")
        for name, part in schema.items():
            if name != "metadata":
                yield from _arbitrary(part)
    elif isinstance(schema, list | tuple):
        for part in schema:
            yield from _arbitrary(part)


def _name(kind: Any) -> str:
    return kind.__qualname__ if isinstance(kind, type) else str(kind).replace("typing.", "")
