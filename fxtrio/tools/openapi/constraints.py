"""What the fields of a class demand besides their types, as keywords of JSON Schema.

pydantic says it itself; of attrs classes it is in the validators. What cannot be said, or
holds only behind a converter, is left out: a schema may allow too much, never too little.
"""

from __future__ import annotations

import logging
import re
import sys
from typing import Any

import attrs

from fxtrio.tools.openapi.schemas import WHOLE, Limits
from fxtrio.tools.types.python.pydantic_models import is_pydantic, schema_of

log = logging.getLogger("fx.openapi")

_PYDANTIC = (
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
)
_BOUNDS = {
    ">=": "minimum",
    ">": "exclusiveMinimum",
    "<=": "maximum",
    "<": "exclusiveMaximum",
}
_NO_ECMA = re.compile(r"\(\?(?![:=!])|\\[AZ]|[*+?}]\+")
"""What regular expressions of ECMA-262 do not have, or mean otherwise."""


def limits_of(python: str) -> Limits:
    """Return what the class ``module.Class`` demands, by the keys of its JSON."""
    kind = _class(python)
    if kind is None:
        return {}
    if is_pydantic(kind):
        return _of_pydantic(kind)
    return _of_attrs(kind) if attrs.has(kind) else {}


def _class(python: str) -> type | None:
    """Return an imported class; None for one that no name leads to."""
    parts = python.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        found: Any = sys.modules.get(".".join(parts[:cut]))
        if found is not None:
            for name in parts[cut:]:
                found = getattr(found, name, None)
            return found if isinstance(found, type) else None
    return None


def _of_pydantic(kind: Any) -> Limits:
    try:
        whole = schema_of(kind, incoming=True)
    except Exception:  # application code may take part, and some types have no schema
        log.warning("%s has no JSON Schema: its limits are left out", kind, exc_info=True)
        return {}
    if "$ref" in whole:  # it refers to itself
        whole = whole["$defs"][whole["$ref"].rpartition("/")[2]]
    found: dict[str, dict[str, Any]] = {}
    if whole.get("additionalProperties") is False:
        found[WHOLE] = {"additionalProperties": False}
    for name, schema in whole.get("properties", {}).items():
        several = schema.get("anyOf", [schema])
        values = [one for one in several if one.get("type") != "null"]
        limits = {key: values[0][key] for key in _PYDANTIC if len(values) == 1 and key in values[0]}
        if "description" in schema:
            limits["description"] = schema["description"]
        if schema.get("default") is not None:
            limits["default"] = schema["default"]
        found[name] = limits
    return found


def _of_attrs(kind: Any) -> Limits:
    return {
        field.name: _of_validator(field.validator)
        for field in attrs.fields(kind)
        if field.init and field.validator is not None and field.converter is None
    }


def _of_validator(validator: Any) -> dict[str, Any]:
    """Return what one of attrs' own validators demands; nothing of any other."""
    name = type(validator).__name__
    if name == "_AndValidator":
        found: dict[str, Any] = {}
        for one in validator._validators:
            found.update(_of_validator(one))
        return found
    if name == "_OptionalValidator":
        return _of_validator(validator.validator)
    if name == "_MinLengthValidator":
        return {"minLength": validator.min_length}
    if name == "_MaxLengthValidator":
        return {"maxLength": validator.max_length}
    if name == "_NumberValidator" and isinstance(validator.bound, (int, float)):
        return {_BOUNDS[validator.compare_op]: validator.bound}
    if name == "_MatchesReValidator":
        return _pattern(validator)
    return {}


def _pattern(validator: Any) -> dict[str, Any]:
    pattern = validator.pattern
    if not isinstance(pattern.pattern, str) or pattern.flags & ~re.UNICODE:
        return {}
    if _NO_ECMA.search(pattern.pattern):
        return {}
    ends = {"fullmatch": ("^(?:", ")$"), "match": ("^(?:", ")"), "search": ("", "")}
    called = getattr(validator.match_func, "__name__", "")
    if called not in ends:
        return {}
    before, after = ends[called]
    return {"pattern": f"{before}{pattern.pattern}{after}"}
