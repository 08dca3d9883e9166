"""What the code of an endpoint, an action or a hook does not show, said for its document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import attrs
import msgspec

MARK = "__fx_documented__"
BEARER = "bearer"
"""Name of the scheme in the document."""

Function = TypeVar("Function", bound=Callable[..., Any])


@attrs.frozen(kw_only=True)
class Documented:
    """What was said of one function."""

    query: type | None = None
    responses: Mapping[int, str] = attrs.field(factory=dict)
    bearer: bool = False


def documented(
    *,
    query: type | None = None,
    responses: Mapping[int, str] | None = None,
    bearer: bool = False,
) -> Callable[[Function], Function]:
    """Add information to a function's entry in the OpenAPI document; nothing of it is checked.

    ``query`` is an attrs class or dataclass whose attributes are the query parameters;
    ``responses`` maps further statuses to their descriptions; ``bearer`` says that a token is
    required, in ``Authorization: Bearer …``. On a route hook it applies to every action and
    endpoint that the hook guards.
    """
    said = Documented(query=query, responses=dict(responses or {}), bearer=bearer)

    def mark(function: Function) -> Function:
        setattr(function, MARK, said)
        return function

    return mark


def said_of(functions: Sequence[Any]) -> tuple[Documented, ...]:
    """Return what was said of functions, without those of which nothing was."""
    found = (getattr(function, MARK, None) for function in functions)
    return tuple(one for one in found if isinstance(one, Documented))


def with_said(text: Mapping[str, Any], said: Sequence[Documented]) -> dict[str, Any]:
    """Return an operation with what was said of its function and of its hooks."""
    whole = dict(text)
    parameters = [one for each in said if each.query is not None for one in _query(each.query)]
    if parameters:
        whole["parameters"] = [*whole.get("parameters", ()), *parameters]
    responses = {
        str(status): {"description": meaning}
        for each in said
        for status, meaning in each.responses.items()
    }
    whole["responses"] = {**whole["responses"], **responses}
    if any(each.bearer for each in said):
        needed = whole.get("security", [{}])
        whole["security"] = [{**one, BEARER: []} for one in needed]
    return whole


def _query(model: type) -> list[dict[str, Any]]:
    _, components = msgspec.json.schema_components([model])
    schema = components[model.__name__]

    def whole(part: dict[str, Any]) -> dict[str, Any]:
        """Return a schema without references: an enum stands where it is used."""
        name = part.get("$ref", "").rpartition("/")[2]
        return {**components[name]} if name else part

    return [
        {
            "name": name,
            "in": "query",
            "required": name in schema.get("required", ()),
            "schema": whole(part),
        }
        for name, part in schema["properties"].items()
    ]
