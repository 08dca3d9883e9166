"""Objects as dicts: `asdict` of dataclasses, attrs and msgspec, `model_dump` of pydantic.

Called by `call_inference`. Their contents go to JSON like the objects themselves.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from fxtrio.tools.types.inference.members import class_of, known
from fxtrio.tools.types.inference.scope import Arguments
from fxtrio.tools.types.inference.values import Dict, Entry, Known, Unknown, Value, either, parts_of
from fxtrio.tools.types.python.classes import class_keys, hints_of
from fxtrio.tools.types.python.pydantic_models import is_pydantic, models_in

_OTHERWISE = Unknown("its result for the object is unknown")


def as_dict(arguments: Arguments) -> Value:
    """Return what ``asdict(note)`` gives."""
    positional, named = arguments
    if len(positional) != 1 or not named.keys() <= {"retain_collection_types"}:
        return _OTHERWISE
    return either(_each(part, _fields) for part in parts_of(positional[0]))


def dumped(owner: Value, arguments: Arguments) -> Value | None:
    """Return what ``invoice.model_dump()`` gives; None when ``owner`` is no pydantic model."""
    kind = class_of(owner.annotation)[0] if isinstance(owner, Known) else None
    if kind is None or not is_pydantic(kind):
        return None
    if arguments[0] or not arguments[1].keys() <= {"mode"}:
        return _OTHERWISE
    return _each(owner, _attributes)


def _each(part: Value, read: Callable[[Any], Mapping[str, Any] | None]) -> Value:
    if isinstance(part, Unknown):
        return part
    kind = class_of(part.annotation)[0] if isinstance(part, Known) else None
    found = read(kind) if kind is not None else None
    if found is None:
        return _OTHERWISE
    return Dict({name: Entry(known(annotation)) for name, annotation in found.items()})


def _fields(kind: Any) -> Mapping[str, Any] | None:
    keys = class_keys(kind)
    is_generic = hasattr(kind, "__parameters__") and len(kind.__parameters__) > 0
    if keys is None or is_generic:
        return None
    found = {key.attribute: key.annotation for key in keys}
    if not attrs.has(kind):
        return found
    hints = hints_of(kind)  # of private attributes, too, which are not sent of the object itself
    fields = attrs.fields(kind)
    return {one.name: found.get(one.name, hints.get(one.name, Any)) for one in fields}


def _attributes(kind: Any) -> Mapping[str, Any] | None:
    if any(map(_is_written_otherwise, models_in(kind))):
        return None
    found = {name: field.annotation for name, field in kind.model_fields.items()}
    for name, field in kind.model_computed_fields.items():
        found[name] = field.return_type
    return found


def _is_written_otherwise(kind: Any) -> bool:
    """Whether a model has other keys in a dict than in JSON, or values of another type."""
    rules = kind.__pydantic_decorators__
    fields = kind.model_fields.values()
    excluded = any(field.exclude for field in fields)
    extra = kind.model_config.get("extra") == "allow"
    aliased = any(field.alias or field.serialization_alias for field in fields)
    written = rules.field_serializers or rules.model_serializers
    return bool(written) or excluded or extra or aliased or _has_own_dump(kind)


def _has_own_dump(kind: Any) -> bool:
    module = str(getattr(inspect.unwrap(kind.model_dump), "__module__", ""))
    return module.partition(".")[0] != "pydantic"


AS_DICT = ("dataclasses.asdict", "attr._funcs.asdict", "attr._next_gen.asdict")
"""Functions that give what `as_dict` returns, by module and name."""
