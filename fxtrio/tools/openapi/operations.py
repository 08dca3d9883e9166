"""Actions and endpoints in, operations of OpenAPI out. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from fxtrio.routes import MatchedRoute
from fxtrio.routes.action_files import PREFIX
from fxtrio.tools.openapi.responses import answers
from fxtrio.tools.openapi.schemas import Schema, Schemas, has_file, is_flat
from fxtrio.tools.types.gather.page_types import (
    ActionTypes,
    EndpointTypes,
    MethodTypes,
    PageTypes,
    Parameter,
    StreamTypes,
)
from fxtrio.tools.types.python.shapes import ObjectShape, Shape, UnknownType, parts_of

JSON = "application/json"
EVENTS = "text/event-stream"
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

_ACTIONS = "/api/__actions"
_STREAMS = "/api/__streams"
_PARAMETER = re.compile(r"\[{1,2}(?:\.\.\.)?(\w+)\]{1,2}")
_OPTIONAL_REST = re.compile(r"/\[\[\.\.\.(\w+)\]\]$")
_EVERY_METHOD = ("get", "post", "put", "patch", "delete")
"""The methods documented for a function that answers all methods."""

_WRITTEN = (*_EVERY_METHOD, "head", "options", "trace")
"""Methods that OpenAPI knows."""

_OK: Schema = {"ok": {"type": "boolean", "const": True}}
_UNSAFE = frozenset({"post", "put", "patch", "delete"})


class Operation(msgspec.Struct, frozen=True):
    """One operation, and by what it is guarded."""

    path: str
    """Below the base URL, with ``{name}`` for parameters."""

    method: str
    kind: Literal["action", "api", "stream"]
    pattern: str
    """Of the route: ``/blog/[id]``."""

    source: str
    action: str = ""
    """The name of an action or a stream."""

    text: dict[str, Any] = {}
    """The operation itself."""

    @property
    def route(self) -> MatchedRoute:
        """What hooks learn of it."""
        return MatchedRoute(
            kind=self.kind,
            pattern=self.pattern,
            source=self.source,
            action="" if self.kind == "stream" else self.action,
            stream=self.action if self.kind == "stream" else "",
        )


def action_operations(page: PageTypes, schemas: Schemas) -> Iterator[Operation]:
    """Yield the operations of a page's actions, each for every path of the page."""
    for template, params in paths_of(page.pattern, page.params):
        for action in page.actions:
            place = "/index" if template == "/" else template
            path = f"{_ACTIONS}{place}/{action.name}"
            text = {
                **_about(action.text, page.pattern),
                "operationId": _identifier(template, action.name),
                **_parameters(params),
                **_body(action, page, schemas),
                "responses": {"200": _success(action, page, schemas), **_refusals(action)},
            }
            yield Operation(path, "post", "action", page.pattern, page.source, action.name, text)


def stream_operations(page: PageTypes, schemas: Schemas) -> Iterator[Operation]:
    """Yield the operations of a page's streams, each for every path of the page."""
    last_id = {
        "name": "Last-Event-ID",
        "in": "header",
        "description": "The id of the last event that the client has.",
        "schema": {"type": "string"},
    }
    for template, params in paths_of(page.pattern, page.params):
        for stream in page.streams:
            place = "/index" if template == "/" else template
            parameters = [*_parameters(params).get("parameters", ()), last_id]
            parameters += _query(stream, page, schemas)
            text = {
                **_about(stream.text, page.pattern),
                "operationId": _identifier(template, stream.name),
                "parameters": parameters,
                "responses": {
                    "200": {
                        "description": "The stream has begun. Each event holds a value; `missed` "
                        "holds a `count` of lost ones, and `end` how the stream has ended.",
                        "content": {EVENTS: {"schema": schemas.schema(stream.value)}},
                    },
                    **answers({404: "NotFound", 422: "Invalid", 500: "Defect", 503: "Busy"}),
                },
            }
            path = f"{_STREAMS}{place}/{stream.name}"
            yield Operation(path, "get", "stream", page.pattern, page.source, stream.name, text)


def _query(stream: StreamTypes, page: PageTypes, schemas: Schemas) -> list[dict[str, Any]]:
    found = None if stream.query is None else page.definition(stream.query)
    if not isinstance(found, ObjectShape):
        return []
    return [
        {
            "name": key.name,
            "in": "query",
            "required": not key.optional,
            "schema": schemas.schema(key.shape),
        }
        for key in found.keys
    ]


def shared_operations(module: PageTypes, schemas: Schemas) -> Iterator[Operation]:
    """Yield the operations of a module of actions."""
    for action in module.actions:
        text = {
            **_about(action.text, action.name.rpartition(".")[0]),
            "operationId": _identifier(action.name),
            **_body(action, module, schemas),
            "responses": {"200": _success(action, module, schemas), **_refusals(action)},
        }
        pattern = PREFIX + action.name
        path = f"{_ACTIONS}/{action.name}"
        yield Operation(path, "post", "action", pattern, module.source, action.name, text)


def endpoint_operations(endpoint: EndpointTypes, schemas: Schemas) -> Iterator[Operation]:
    """Yield the operations of an endpoint."""
    known = {method.name: method for method in endpoint.methods}
    other = known.pop("*", None)
    if other is not None:
        known = {**dict.fromkeys(_EVERY_METHOD, other), **known}
    for template, params in paths_of(endpoint.pattern, endpoint.params):
        for name in _WRITTEN:
            if name in known:
                text = _endpoint(endpoint, template, name, known[name], schemas)
                text = {**text, **_parameters(params)}
                yield Operation(template, name, "api", endpoint.pattern, endpoint.source, "", text)


Path = tuple[str, tuple[Parameter, ...]]
"""A path as OpenAPI writes it, with its parameters."""


def paths_of(pattern: str, params: tuple[Parameter, ...]) -> list[Path]:
    """Return the paths of a pattern.

    A last part that may be missing makes two of them.
    """
    template = _PARAMETER.sub(r"{\1}", pattern)
    found = [(template, params)]
    if _OPTIONAL_REST.search(pattern):
        found.insert(0, (template.rpartition("/")[0] or "/", params[:-1]))
    return found


def _about(text: str, tag: str) -> dict[str, Any]:
    summary, _, rest = text.partition("\n")
    found: dict[str, Any] = {"tags": [tag.strip("/") or "index"]}
    if summary.strip():
        found["summary"] = summary.strip()
    if rest.strip():
        found["description"] = rest.strip()
    return found


def _identifier(*parts: str) -> str:
    words = re.findall(r"\w+", "_".join(parts)) or ["index"]
    return "_".join(word.strip("_") for word in words)


def _parameters(params: tuple[Parameter, ...]) -> dict[str, Any]:
    def one(param: Parameter) -> dict[str, Any]:
        rest = {"description": "May contain slashes, unescaped."} if param.kind != "one" else {}
        head = {"name": param.name, "in": "path", "required": True}
        return {**head, **rest, "schema": {"type": "string", "minLength": 1}}

    return {"parameters": [one(param) for param in params]} if params else {}


def _body(action: ActionTypes, page: PageTypes, schemas: Schemas) -> dict[str, Any]:
    """Return the body of an action: as JSON and as a form, where either can hold it."""
    if action.argument is None:
        content = {JSON: {"schema": {}}, URLENCODED: {"schema": {"type": "object"}}}
        content[MULTIPART] = {"schema": {"type": "object"}}
        return {"requestBody": {"required": False, "content": content}}
    found = page.definition(action.argument)
    content = {}
    if not (isinstance(found, ObjectShape) and has_file(found, needed=True)):
        content[JSON] = {"schema": schemas.schema(action.argument)}
    if isinstance(found, ObjectShape) and is_flat(found, page.definition):
        # By themselves, and not by name: generators make one class of each name, and tell by
        # the class of a body how it is to be sent.
        form = {"schema": schemas.whole(action.argument, page.definitions)}
        if not has_file(found, needed=False):
            content[URLENCODED] = form
        content[MULTIPART] = form
    return {"requestBody": {"required": not action.optional, "content": content}}


def _success(action: ActionTypes, page: PageTypes, schemas: Schemas) -> dict[str, Any]:
    if action.value is not None:
        return {
            "description": "The action has begun. Each event holds a value; the last one, `end`, "
            "holds `ok`, and the keys beside it in other responses of actions.",
            "content": {EVENTS: {"schema": schemas.schema(action.value)}},
        }
    forms = [_with_ok(page.definition(part), schemas) for part in parts_of(action.result)]
    if action.redirects:
        goes = {"type": "string", "description": "The URL that the visitor is redirected to."}
        led = {"type": "object", "properties": {**_OK, "redirect": goes}}
        forms.append({**led, "required": ["ok", "redirect"]})
    schema = forms[0] if len(forms) == 1 else {"anyOf": forms}
    evicted = {
        "description": "The URLs of pages that have changed, separated by commas.",
        "schema": {"type": "string"},
    }
    return {
        "description": "The action has run.",
        "headers": {"x-fx-invalidate": evicted},
        "content": {JSON: {"schema": schema}},
    }


def _with_ok(result: Shape, schemas: Schemas) -> Schema:
    """Return the schema of a result as it is sent: with ``ok``."""
    schema: Schema = {"type": "object", "properties": _OK, "required": ["ok"]}
    if isinstance(result, ObjectShape):
        own = schemas.object(result, {})
        schema["properties"] = {**_OK, **own.get("properties", {}), **_OK}
        schema["required"] = [*_OK, *(key for key in own.get("required", ()) if key not in _OK)]
    return schema


def _refusals(action: ActionTypes) -> dict[str, Any]:
    found = {400: "BadRequest", 404: "NotFound", 408: "TooSlow", 413: "TooLarge"}
    if action.argument is not None:
        found |= {415: "WrongMediaType", 422: "Invalid"}
    return answers({**found, 500: "Defect", 503: "Busy", 504: "Late"})


def _endpoint(
    endpoint: EndpointTypes, template: str, name: str, method: MethodTypes, schemas: Schemas
) -> dict[str, Any]:
    is_unknown = isinstance(method.result, UnknownType)
    success: dict[str, Any] = {"description": "The response of the endpoint."}
    if name != "head":
        kind = "*/*" if is_unknown else JSON  # it may be a response of any kind
        success["content"] = {kind: {"schema": schemas.schema(method.result)}}
    body = {"requestBody": {"required": False, "content": {JSON: {"schema": {}}}}}
    refusals = {500: "Defect", 503: "Busy", 504: "Late"}
    if name in _UNSAFE:
        refusals |= {400: "BadRequest", 413: "TooLarge"}
    return {
        **_about(method.text, endpoint.pattern),
        "operationId": _identifier(template, name),
        **(body if name in _UNSAFE - {"delete"} else {}),
        "responses": {"200": success, **answers(refusals)},
    }
