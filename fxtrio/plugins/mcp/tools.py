"""An OpenAPI document in, tools for agents out. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import attrs

from fxtrio.asgi_extensions import SAFE_IN_PATHS
from fxtrio.serve.openapi.visible import TOOL, reached

JSON = "application/json"
_COMPONENTS = "#/components/schemas/"
_PLACE = re.compile(r"\{(\w+)\}")
_BODY = "body"
"""The argument that is the whole body of an action whose model is no object."""


@attrs.frozen(kw_only=True)
class ActionTool:
    """An action, as agents see it and as it is requested."""

    name: str
    """That of its operation in the OpenAPI document: letters, digits and ``_``."""

    description: str
    path: str
    """Below the base URL, with ``{name}`` for parameters."""

    parameters: Mapping[str, bool]
    """The parameters of the path, and whether each may have slashes in it."""

    fields: frozenset[str] | None
    """The keys of its body; None where the body is one argument of its own, or anything."""

    whole: bool
    """Whether the argument ``body`` is the body."""

    schema: Mapping[str, Any]
    """The JSON Schema of its arguments, which is an object."""

    def url_path(self, arguments: Mapping[str, Any]) -> str:
        """Return the path, percent-encoded. Raises KeyError for a parameter that is missing."""

        def value(found: re.Match[str]) -> str:
            in_path = arguments[found[1]]
            text = in_path if isinstance(in_path, str) else str(in_path)
            safe = SAFE_IN_PATHS if self.parameters[found[1]] else SAFE_IN_PATHS.replace("/", "")
            return quote(text, safe=safe)

        return _PLACE.sub(value, self.path)

    def body(self, arguments: Mapping[str, Any]) -> Any:
        """Return the body of the request; None for none."""
        if self.whole:
            return arguments.get(_BODY)
        return {
            name: value
            for name, value in arguments.items()
            if name not in self.parameters or (self.fields is not None and name in self.fields)
        }


def tools_of(document: Mapping[str, Any]) -> dict[str, ActionTool]:
    """Return the tools of a document by name, in its order.

    An action that cannot be called with JSON, since it needs a file, is none.
    """
    found = {}
    for path, operations in document["paths"].items():
        operation = operations.get("post", {})
        if operation.get(TOOL) and JSON in operation["requestBody"]["content"]:
            tool = _tool(path, operation, document["components"])
            found[tool.name] = tool
    return found


def _tool(path: str, operation: Mapping[str, Any], components: dict[str, Any]) -> ActionTool:
    in_path = [one for one in operation.get("parameters", ()) if one["in"] == "path"]
    request = operation["requestBody"]
    body = request["content"][JSON]["schema"]
    named = components["schemas"].get(body.get("$ref", "").removeprefix(_COMPONENTS), body)
    is_object = not body or isinstance(named.get("properties"), dict)
    properties = {one["name"]: _parameter(one) for one in in_path}
    required = list(properties)
    if is_object:
        fields = dict(named.get("properties", {}))
        properties |= fields
        required += [one for one in named.get("required", ()) if one not in required]
        required = required if request["required"] else list({one["name"]: 0 for one in in_path})
    else:
        properties[_BODY] = body
        required += [_BODY] if request["required"] else []
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    if is_object and named.get("additionalProperties") is False:
        schema["additionalProperties"] = False
    used = sorted(reached(schema, components))
    if used:
        schema["$defs"] = {name: components["schemas"][name] for name in used}
    text = (operation.get("summary", ""), operation.get("description", ""))
    return ActionTool(
        name=operation["operationId"],
        description="\n\n".join(part for part in text if part),
        path=path,
        parameters={one["name"]: "description" in one for one in in_path},
        fields=frozenset(fields) if body and is_object else None,
        whole=not is_object,
        schema=_within(schema),
    )


def _parameter(parameter: Mapping[str, Any]) -> dict[str, Any]:
    said = parameter.get("description")
    return {**parameter["schema"], **({"description": said} if said else {})}


def _within(value: Any) -> Any:
    """Return a schema whose references lead to its own ``$defs``."""
    if isinstance(value, dict):
        reference = value.get("$ref")
        if isinstance(reference, str) and reference.startswith(_COMPONENTS):
            value = {**value, "$ref": f"#/$defs/{reference.removeprefix(_COMPONENTS)}"}
        return {name: _within(inner) for name, inner in value.items()}
    return [_within(inner) for inner in value] if isinstance(value, list) else value
