"""The types of a project and its settings in, an OpenAPI document out. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from fxtrio.config import Config, CsrfConfig
from fxtrio.serve.openapi.visible import TOKEN_HEADER, TOKEN_PATH, TOOL, visible
from fxtrio.serve.request import csrf
from fxtrio.tools.openapi.documented import BEARER, Documented, with_said
from fxtrio.tools.openapi.operations import (
    Operation,
    action_operations,
    endpoint_operations,
    shared_operations,
    stream_operations,
)
from fxtrio.tools.openapi.responses import RESPONSES, SCHEMAS
from fxtrio.tools.openapi.schemas import Schema, Schemas
from fxtrio.tools.openapi.security import Guard
from fxtrio.tools.types.gather.page_types import ProjectTypes
from fxtrio.tools.types.python.shapes import Definition

VERSION = "3.1.0"

_SESSION = "session"


class Description(msgspec.Struct, frozen=True):
    """A document, and by what each of its operations is guarded."""

    document: dict[str, Any]
    operations: tuple[Operation, ...]
    """Without their texts, which are in the document."""

    left_out: tuple[str, ...] = ()
    """What OpenAPI cannot tell apart from something that goes first, for people."""


def make_document(
    types: ProjectTypes,
    config: Config,
    *,
    version: str,
    schemas: Schemas,
    guard: Guard | None,
    said: Callable[[Operation], tuple[Documented, ...]] = lambda _: (),
    is_tool: Callable[[Operation], bool] = lambda _: False,
) -> Description:
    """Return the OpenAPI document of a project; equal projects have equal documents.

    ``version`` is that of the application. ``guard`` is what the auth plugin lets nobody
    pass who is not signed in, if it is there; ``said`` returns what `documented` says of an
    operation, and ``is_tool`` whether agents may call it.
    """
    found: list[Operation] = []
    for page in sorted(types.pages, key=lambda page: page.pattern):
        found += action_operations(page, schemas) if page.pattern else ()
        found += stream_operations(page, schemas) if page.pattern else ()
    for module in types.shared:
        found += shared_operations(module, schemas)
    for endpoint in sorted(types.endpoints, key=lambda endpoint: endpoint.pattern):
        found += endpoint_operations(endpoint, schemas)
    operations, left_out = _distinct(found, types.routes)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        secured = with_said(_secured(operation, config, guard), said(operation))
        secured["responses"] = dict(sorted(secured["responses"].items()))
        if is_tool(operation):
            secured[TOOL] = True
        paths.setdefault(operation.path, {})[operation.method] = secured
    _name_apart(paths)
    if config.csrf.enabled:
        paths[TOKEN_PATH] = {"get": _TOKEN_OPERATION}
    named = [one for page in (*types.pages, *types.shared) for one in page.definitions]
    named += [one for endpoint in types.endpoints for one in endpoint.definitions]
    document: dict[str, Any] = {
        "openapi": VERSION,
        "info": {"title": config.name or "fxtrio", "version": version},
        "servers": [{"url": config.base_url or "/"}],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": _schemas(named, schemas),
            "responses": RESPONSES,
            "securitySchemes": {**_schemes(guard), **_bearer(operations, said)},
        },
    }
    document = visible(document, {(one.path, one.method) for one in operations})
    bare = tuple(replace(operation, text={}) for operation in operations)
    return Description(document, bare, left_out)


def _distinct(
    found: Sequence[Operation], routes: Sequence[str]
) -> tuple[list[Operation], tuple[str, ...]]:
    """Return operations whose paths differ in more than the names of parameters.

    Of two such the one stays that answers; ``routes`` are in the order in which they do.
    """
    order = {pattern: number for number, pattern in enumerate(routes)}
    operations: dict[tuple[str, str], Operation] = {}
    templates: dict[str, str] = {}
    left_out = []
    for one in sorted(found, key=lambda one: order.get(one.pattern, len(order))):
        blank = "/".join("{}" if "{" in part else part for part in one.path.split("/"))
        if (blank, one.method) in operations or templates.get(blank, one.path) != one.path:
            left_out.append(f"{one.source}: {one.method.upper()} {one.path}")
        else:
            templates[blank] = one.path
            operations[blank, one.method] = one
    return list(operations.values()), tuple(left_out)


def _name_apart(paths: Mapping[str, Mapping[str, dict[str, Any]]]) -> None:
    """Give a number to names of operations that are taken."""
    taken: set[str] = {_TOKEN_OPERATION["operationId"]}
    for path in sorted(paths):
        for _, operation in sorted(paths[path].items()):
            base = name = operation["operationId"]
            number = 2
            while name in taken:
                name, number = f"{base}_{number}", number + 1
            taken.add(name)
            operation["operationId"] = name


def _secured(operation: Operation, config: Config, guard: Guard | None) -> dict[str, Any]:
    """Return an operation with what a client must bring to be let in."""
    text = dict(operation.text)
    responses = dict(text["responses"])
    exempt = csrf.exempt(operation.path, config.csrf.exempt_paths) or not config.csrf.enabled
    proves = operation.method.upper() not in csrf.SAFE_METHODS and not exempt
    closed = guard is not None and guard.closes(operation)
    if proves:
        text["parameters"] = [*text.get("parameters", ()), _token(config.csrf)]
        responses["403"] = {"$ref": "#/components/responses/Forbidden"}
    if closed:
        text["security"] = [{_SESSION: []}]
        responses["401"] = {"$ref": "#/components/responses/SignedOut"}
    if config.rate_limits:
        responses["429"] = {"$ref": "#/components/responses/TooMany"}
    return {**text, "responses": dict(sorted(responses.items()))}


def _token(settings: CsrfConfig) -> dict[str, Any]:
    """Return the header by which a client proves that the request is its own."""
    strict = settings.mode == "strict"
    whose = "" if strict else " Browsers need none: their headers state the origin of a request."
    return {
        "name": TOKEN_HEADER,
        "in": "header",
        "required": strict,
        "description": f"The token of GET {TOKEN_PATH}, sent with the cookie of its response "
        f"({csrf.COOKIE}, or {csrf.SECURE_COOKIE} over HTTPS).{whose}",
        "schema": {"type": "string"},
    }


def _schemas(named: Iterable[Definition], schemas: Schemas) -> dict[str, Schema]:
    found = {definition.name: schemas.definition(definition) for definition in named}
    return dict(sorted({**found, **SCHEMAS}.items()))


def _bearer(
    operations: Iterable[Operation], said: Callable[[Operation], tuple[Documented, ...]]
) -> dict[str, Any]:
    has_bearer = any(one.bearer for operation in operations for one in said(operation))
    return {BEARER: {"type": "http", "scheme": "bearer"}} if has_bearer else {}


def _schemes(guard: Guard | None) -> dict[str, Any]:
    if guard is None:
        return {}
    description = f"Set when somebody signs in; over HTTPS its name is __Host-{guard.cookie}."
    scheme = {"type": "apiKey", "in": "cookie", "name": guard.cookie, "description": description}
    return {_SESSION: scheme}


_TOKEN_OPERATION: dict[str, Any] = {
    "operationId": "csrf_token",
    "summary": "A token for clients without pages, and its cookie.",
    "responses": {
        "200": {
            "description": "The token, to be sent as x-csrf-token together with the cookie.",
            "content": {
                "application/json": {
                    "schema": {
                        "type": "object",
                        "properties": {"token": {"type": "string"}},
                        "required": ["token"],
                    }
                }
            },
        },
        "default": {"$ref": "#/components/responses/Failure"},
    },
}
