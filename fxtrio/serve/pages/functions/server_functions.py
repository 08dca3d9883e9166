"""The server half of page files as the runtime sees it: functions with their deadlines.

`page_code` takes an imported module and its manifest entry; `app.py` does the
importing.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from fxtrio.errors import PlacedError
from fxtrio.isolation import Isolation
from fxtrio.manifest import PageModule
from fxtrio.runtime import is_streamed
from fxtrio.sizes import size_text

if TYPE_CHECKING:
    from fxtrio.serve.request.model.validate import BodyModel


class PageCodeInvalid(PlacedError):
    """The server half of a page file, or an endpoint, is invalid."""


class LoaderCode(msgspec.Struct, frozen=True, eq=False):
    """A `@server` function."""

    source: str
    place: str
    """For messages: ``pages/index.fxl: load()``."""

    function: Callable[[Any], Awaitable[Any]]
    timeout: float
    """Seconds."""

    public: bool = False
    """Whether it also runs for visitors whom the route hooks reject."""


class ActionCode(msgspec.Struct, frozen=True, eq=False):
    """An `@action` function."""

    name: str
    place: str
    function: Callable[..., Any]
    """Returns an awaitable; an async generator where the action streams."""

    timeout: float
    """Seconds; of an action that streams, for each value."""

    limit: int | None
    """Largest body (bytes); None for that of the settings."""

    cancel_on_disconnect: bool
    transaction: bool
    """Whether it is one transaction of the app's database."""

    isolation: Isolation
    """What that may see of others."""

    streams: bool
    """Whether it is an async generator, whose values are sent one by one."""

    body: BodyModel | None
    """The model of a typed body; None if the action reads the body itself."""


class StreamCode(msgspec.Struct, frozen=True, eq=False):
    """A `@stream` function."""

    name: str
    source: str
    place: str
    function: Callable[..., AsyncGenerator[Any, None]]
    takes_after: bool
    """Whether it has a parameter ``after``."""

    query_name: str
    """The parameter that gets the query; "" without one."""

    query: BodyModel | None
    """The model of that; None without one."""


class PageCode(msgspec.Struct, frozen=True, eq=False):
    """The server half of one `.fxl` file; everything is None or empty without one."""

    module: PageModule
    loader: LoaderCode | None = None
    actions: Mapping[str, ActionCode] = msgspec.field(default_factory=dict)
    streams: Mapping[str, StreamCode] = msgspec.field(default_factory=dict)
    websocket: Callable[[Any], Awaitable[None]] | None = None
    head: Callable[[Any], Any] | None = None
    to_markdown: Callable[[Any], Any] | None = None
    paths: Callable[[], Awaitable[Any]] | None = None
    markdown: str | None = None
    """What agents get of a page in Markdown; None for other pages."""


def page_code(
    module: PageModule,
    namespace: Mapping[str, Any] | None,
    *,
    loader_timeout: float,
    action_timeout: float,
    largest_body: int,
) -> PageCode:
    """Return the functions of an imported module that the manifest names.

    ``largest_body`` is the body budget of a process (bytes). Raises PageCodeInvalid for an
    action with a larger limit, or with an unsupported body parameter.
    """
    if namespace is None:
        return PageCode(module)
    loader = None
    if module.loader is not None:
        function = namespace[module.loader]
        timeout = getattr(function, "__fx_timeout__", None)
        loader = LoaderCode(
            module.source,
            f"{module.source}: {module.loader}()",
            function,
            loader_timeout if timeout is None else timeout,
            bool(getattr(function, "__fx_public__", False)),
        )
    return PageCode(
        module,
        loader,
        {
            name: action_code(module.source, namespace[name], name, action_timeout, largest_body)
            for name in module.actions
        },
        {name: _stream_code(module.source, namespace[name], name) for name in module.streams},
        namespace.get("websocket") if module.websocket else None,
        namespace.get("HEAD") if module.head_function else None,
        namespace.get("to_markdown") if module.to_markdown else None,
        namespace.get("paths") if module.paths else None,
    )


def action_code(
    source: str, function: Any, name: str, default: float, largest_body: int
) -> ActionCode:
    """Return an `@action` function of the file ``source``; ``default`` is its timeout (seconds).

    Raises PageCodeInvalid as `page_code` does.
    """
    place = f"{source}: {function.__name__}()"
    line = f"{source}:{line_of(function)}: {function.__name__}()"
    timeout = getattr(function, "__fx_timeout__", None)
    limit = getattr(function, "__fx_limit__", None)
    if limit is not None and limit > largest_body:
        raise PageCodeInvalid(
            line,
            f"its limit of {size_text(limit)} is above limits.bodies ({size_text(largest_body)}),"
            " which all bodies share",
            "Lower it, or raise the setting",
        )
    return ActionCode(
        name,
        place,
        _called_by_position(function),
        default if timeout is None else timeout,
        limit,
        bool(getattr(function, "__fx_cancel_on_disconnect__", False)),
        bool(getattr(function, "__fx_transaction__", False)),
        getattr(function, "__fx_isolation__", None) or "serializable",
        is_streamed(function),
        _typed_body(function, line),
    )


def _stream_code(source: str, function: Any, name: str) -> StreamCode:
    """Return a `@stream` function of the file ``source``. Raises PageCodeInvalid."""
    line = f"{source}:{line_of(function)}: {function.__name__}()"
    parameters = list(inspect.signature(function).parameters.values())[1:]
    takes_after = any(parameter.name == "after" for parameter in parameters)
    bodies = [parameter for parameter in parameters if parameter.name != "after"]
    model = _model_of(function, bodies[0], line) if bodies else None
    return StreamCode(
        name,
        source,
        f"{source}: {function.__name__}()",
        function,
        takes_after,
        "" if model is None else bodies[0].name,
        model,
    )


def _called_by_position(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes the body after the request, also where it has a keyword."""
    parameters = list(inspect.signature(function).parameters.values())[1:2]
    if not parameters or parameters[0].kind is not inspect.Parameter.KEYWORD_ONLY:
        return function
    name = parameters[0].name

    def call(request: Any, *body: Any) -> Any:
        return function(request, **dict(zip((name,), body, strict=False)))

    return call


def line_of(function: Any) -> int:
    """Return the line of a function, 1 when it has none."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code.co_firstlineno if code is not None else 1


def _meant(function: Any, parameter: inspect.Parameter) -> Any:
    """Evaluate one annotation alone: others may use names that only type checkers import.

    Raises NameError.
    """
    holder = type("_", (), {"__annotations__": {parameter.name: parameter.annotation}})
    if parameter.annotation is inspect.Parameter.empty:
        return None
    space = getattr(inspect.unwrap(function), "__globals__", None)
    return typing.get_type_hints(holder, globalns=space)[parameter.name]


def _typed_body(function: Any, place: str) -> BodyModel | None:
    """Return the model of the parameter after the request, if it has one."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    return _model_of(function, parameters[0], place) if parameters else None


def _model_of(function: Any, parameter: inspect.Parameter, place: str) -> BodyModel | None:
    """Return the model that a parameter is annotated with. Raises PageCodeInvalid."""
    # Heavy, and many apps have no typed actions.
    from fxtrio.serve.request.model.model_check import FieldsImpossible
    from fxtrio.serve.request.model.validate import body_model

    try:
        annotation = _meant(function, parameter)
    except NameError as error:
        raise PageCodeInvalid(
            place, f"the annotation of {parameter.name!r} cannot be resolved: {error}"
        ) from error
    try:
        model = body_model(annotation)
    except FieldsImpossible as error:
        raise PageCodeInvalid(place, f"{error.place}: {error.cause}", error.remedy) from error
    if model is None and parameter.default is inspect.Parameter.empty:
        raise PageCodeInvalid(
            place,
            f"{parameter.name!r} has no body model",
            "Annotate it with a pydantic model, an attrs class or a dataclass, or remove it",
        )
    return model
