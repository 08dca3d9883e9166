"""Python endpoints as the runtime sees them: a function for each method, found once.

`endpoint_code` takes the names of an imported file of an `api` folder.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPMethod
from typing import Any, TypeGuard

import msgspec
from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.types import Message

from fxtrio.callables import awaitable, is_async
from fxtrio.serve.pages.functions.server_functions import PageCodeInvalid

METHODS = tuple(method.value.lower() for method in HTTPMethod)

Function = Callable[[Request], Awaitable[Any]]


class EndpointCode(msgspec.Struct, frozen=True, eq=False):
    """The functions of one endpoint."""

    functions: Mapping[str, Function]
    """By method in lower case; ``*`` handles all others. Plain functions run in a thread."""

    websocket: Callable[[Any], Awaitable[None]] | None

    @property
    def allowed(self) -> str:
        """The value of the header ``Allow``."""
        implied = {"OPTIONS", "HEAD"} if "get" in self.functions else {"OPTIONS"}
        return ", ".join(sorted({name.upper() for name in self.functions} | implied))

    def function(self, method: str) -> Function | None:
        """Return the function for a method; None if there is none."""
        functions = self.functions
        found = functions.get(method.lower()) or functions.get("*")
        return functions.get("get") if found is None and method == "HEAD" else found


def endpoint_code(source: str, names: Mapping[str, Any]) -> EndpointCode:
    """Return the functions of an endpoint.

    These are ``endpoint``, which handles every method, functions named after methods, or an
    HTTPEndpoint class of any name. Raises PageCodeInvalid if more than one kind is defined.
    """
    endpoint = names.get("endpoint")
    if _is_endpoint_class(endpoint):
        return EndpointCode(_of_class(endpoint), names.get("websocket"))
    functions = {name: awaitable(names[name]) for name in METHODS if callable(names.get(name))}
    if callable(endpoint):
        functions["*"] = awaitable(endpoint)
    classes = _own_classes(names)
    rivals = [*(name for name in (*METHODS, "endpoint") if callable(names.get(name))), *classes]
    if classes and len(rivals) > 1:
        listed = ", ".join(map(repr, rivals))
        raise PageCodeInvalid(
            source,
            f"more than one definition serves this URL: {listed}",
            "Keep one HTTPEndpoint class, put the others into separate files, or begin the name of "
            "a base class with '_'",
        )
    if classes:
        functions = _of_class(next(iter(classes.values())))
    return EndpointCode(functions, names.get("websocket"))


def written_functions(source: str, names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the functions of an endpoint as defined in the source, by method.

    Raises what `endpoint_code` raises.
    """
    classes = [one for one in (names.get("endpoint"), *_own_classes(names).values()) if one]
    methods = endpoint_code(source, names).functions
    held = next((one for one in classes if _is_endpoint_class(one)), None)
    if held is not None:
        return {method: getattr(held, method) for method in methods}
    return {method: names["endpoint" if method == "*" else method] for method in methods}


def _is_endpoint_class(value: object) -> TypeGuard[type[HTTPEndpoint]]:
    return isinstance(value, type) and issubclass(value, HTTPEndpoint)


def _own_classes(names: Mapping[str, Any]) -> dict[str, type[HTTPEndpoint]]:
    """Return the public HTTPEndpoint classes that the file defines, by name."""
    return {
        name: value
        for name, value in names.items()
        if not name.startswith("_")
        and _is_endpoint_class(value)
        and value.__module__ == names["__name__"]
    }


def _of_class(endpoint: type[HTTPEndpoint]) -> dict[str, Function]:
    """Return functions that call the methods of a class, each on a new instance."""
    return {name: _method(endpoint, name) for name in METHODS if hasattr(endpoint, name)}


def _method(endpoint: type[HTTPEndpoint], name: str) -> Function:
    def bound(request: Request) -> Any:
        return getattr(endpoint(request.scope, request.receive, _never), name)

    async def call(request: Request) -> Any:
        return await bound(request)(request)

    if is_async(getattr(endpoint, name)):
        return call
    return awaitable(lambda request: bound(request)(request))


async def _never(message: Message) -> None:
    raise RuntimeError("an endpoint's answer is sent by the runtime")
