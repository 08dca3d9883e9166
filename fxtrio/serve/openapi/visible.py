"""An OpenAPI document as one visitor may see it. Pure.

Called by the code that writes the document, and by `answer`, which serves it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from fxtrio.serve.request import csrf

TOKEN_PATH = "/api/__csrf"
"""Where clients get the proof of origin that they send."""

TOOL = "x-fx-tool"
"""Key of an operation that agents may call as a tool."""

TOKEN_HEADER = csrf.HEADER.decode()
_SCHEMA = "#/components/schemas/"


def visible(document: dict[str, Any], open_to: Collection[tuple[str, str]]) -> dict[str, Any]:
    """Return a document with only the operations in ``open_to`` (path and method).

    Schemas and security schemes that no remaining operation uses are removed: they would
    reveal the others.
    """
    paths: dict[str, dict[str, Any]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if (path, method) in open_to:
                paths.setdefault(path, {})[method] = operation
    visible_part = [operation for operations in paths.values() for operation in operations.values()]
    schemes = {
        name for one in visible_part for choice in one.get("security", ()) for name in choice
    }
    headers = {param["name"] for one in visible_part for param in one.get("parameters", ())}
    if TOKEN_HEADER in headers and TOKEN_PATH in document["paths"]:
        paths[TOKEN_PATH] = document["paths"][TOKEN_PATH]
    components = document["components"]
    schemas = reached(paths, components) | reached(components["responses"], components)
    return {
        **document,
        "paths": dict(sorted(paths.items())),
        "components": {
            **components,
            "schemas": {key: one for key, one in components["schemas"].items() if key in schemas},
            "securitySchemes": {
                key: one for key, one in components["securitySchemes"].items() if key in schemes
            },
        },
    }


def reached(start: Any, components: dict[str, Any]) -> set[str]:
    """Return the names of the schemas that ``start`` refers to, and those that they refer to."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for name in _references(waiting.pop()):
            if name not in found:
                found.add(name)
                waiting.append(components["schemas"].get(name, {}))
    return found


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        reference = value.get("$ref")
        if isinstance(reference, str) and reference.startswith(_SCHEMA):
            yield reference.removeprefix(_SCHEMA)
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)
