"""What page files use: loaders, actions, streams, their errors, redirects and cache eviction.

`server`, `action` and `stream` only mark a function; the runtime calls it. Re-exported
as `fx.runtime`.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, TypeVar, overload
from urllib.parse import quote

from starlette.responses import Response

from fxtrio.deferred import Deferred, defer
from fxtrio.errors import ActionError, LoaderError, NotFound, Redirect, ValidationActionError
from fxtrio.isolation import LEVELS, Isolation
from fxtrio.sizes import to_bytes
from fxtrio.uploads import Upload, UploadFile

__all__ = [
    "ActionError",
    "Deferred",
    "LoaderError",
    "NotFound",
    "Redirect",
    "Upload",
    "UploadFile",
    "ValidationActionError",
    "action",
    "defer",
    "invalidate_routes",
    "redirect",
    "server",
    "stream",
]

Function = TypeVar("Function", bound=Callable[..., Awaitable[Any]])
ActionFunction = TypeVar(
    "ActionFunction", bound=Callable[..., Awaitable[Any] | AsyncGenerator[Any, None]]
)

StreamFunction = TypeVar("StreamFunction", bound=Callable[..., AsyncGenerator[Any, None]])

INVALIDATE_HEADER = "x-fx-invalidate"
INVALIDATE_KEY = "__fx_invalidate__"
"""The key under which a returned dict carries its URLs; never sent to the client."""

STREAMED_TRANSACTION = (
    "%s yields, and has transaction=True. A transaction would stay open for as long as the "
    "client reads: open `transaction()` of fx.db around the statements between two values"
)

_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))


@overload
def server(function: Function) -> Function: ...
@overload
def server(
    *, timeout: float | None = None, public: bool = False
) -> Callable[[Function], Function]: ...
def server(
    function: Function | None = None, *, timeout: float | None = None, public: bool = False
) -> Function | Callable[[Function], Function]:
    """Mark an async function as the page's loader, without wrapping it.

    ``timeout`` (seconds) replaces `timeouts.loader` for this loader. A ``public`` loader of a
    layout, error or not-found file also runs for visitors whom the route hooks reject, so that
    the page that they see looks like the site; the page itself remains guarded.
    """

    def mark(function: Function) -> Function:
        function.__fx_loader__ = True  # type: ignore[attr-defined]  # the mark itself
        function.__fx_timeout__ = timeout  # type: ignore[attr-defined]
        function.__fx_public__ = public  # type: ignore[attr-defined]
        return function

    return mark if function is None else mark(function)


@overload
def action(function: ActionFunction) -> ActionFunction: ...
@overload
def action(
    *,
    timeout: float | None = None,
    limit: int | str | None = None,
    cancel_on_disconnect: bool | None = None,
    transaction: bool = False,
    isolation: Isolation | None = None,
    tool: bool = False,
) -> Callable[[ActionFunction], ActionFunction]: ...
def action(
    function: ActionFunction | None = None,
    *,
    timeout: float | None = None,
    limit: int | str | None = None,
    cancel_on_disconnect: bool | None = None,
    transaction: bool = False,
    isolation: Isolation | None = None,
    tool: bool = False,
) -> ActionFunction | Callable[[ActionFunction], ActionFunction]:
    """Mark an async function as a server action, without wrapping it.

    ``timeout`` (seconds) replaces `timeouts.action`, and ``limit`` (bytes, or text such as
    ``"50MB"``) replaces `limits.body`. If the client disconnects, the action runs to its end,
    unless ``cancel_on_disconnect`` is set.

    An async generator sends each value as soon as it is yielded; ``timeout`` is then the time
    for one value. If the client disconnects, it is cancelled, unless ``cancel_on_disconnect`` is
    False.

    With ``transaction``, its changes to the database of `fx.db` are committed together when it
    returns or redirects, and rolled back when it raises or exceeds its timeout. The isolation is
    serializable, or ``isolation``; after a conflict with other transactions the action runs
    again from its beginning.

    Agents may call a ``tool`` through the Model Context Protocol if the plugin ``mcp`` is
    enabled; its docstring describes it to them.

    Raises ValueError for an invalid limit or isolation, and for a generator with
    ``transaction``.
    """
    if isolation is not None and (not transaction or isolation not in LEVELS):
        names = ", ".join(map(repr, LEVELS))
        raise ValueError(
            f"@action: 'isolation' is for transaction=True, and one of {names}, not {isolation!r}."
        )
    largest = None if limit is None else _limit(limit)

    def mark(function: ActionFunction) -> ActionFunction:
        streamed = is_streamed(function)
        if transaction and streamed:
            raise ValueError(STREAMED_TRANSACTION % f"@action {function.__name__!r}")
        function.__fx_action__ = True  # type: ignore[attr-defined]  # the mark itself
        function.__fx_timeout__ = timeout  # type: ignore[attr-defined]
        function.__fx_limit__ = largest  # type: ignore[attr-defined]
        function.__fx_cancel_on_disconnect__ = (  # type: ignore[attr-defined]
            streamed if cancel_on_disconnect is None else cancel_on_disconnect
        )
        function.__fx_transaction__ = transaction  # type: ignore[attr-defined]
        function.__fx_isolation__ = isolation  # type: ignore[attr-defined]
        function.__fx_tool__ = tool  # type: ignore[attr-defined]
        return function

    return mark if function is None else mark(function)


def stream(function: StreamFunction) -> StreamFunction:
    """Mark an async generator as a stream, without wrapping it.

    The page's `useStream`, or any `EventSource`, reads its values by GET. A parameter ``after``
    receives the id of the client's last event; a parameter annotated with a model receives the
    query. The stream runs until it returns or its client disconnects.

    Raises TypeError for a function that is not an async generator.
    """
    if not is_streamed(function):
        raise TypeError(
            f"@stream {function.__name__!r}: is not an async generator. Yield its values."
        )
    function.__fx_stream__ = True  # type: ignore[attr-defined]  # the mark itself
    return function


def is_streamed(function: Callable[..., Any]) -> bool:
    """Whether an action is an async generator, also below decorators that only pass its call on."""
    if inspect.iscoroutinefunction(function):
        return False
    return inspect.isasyncgenfunction(inspect.unwrap(function))


def _limit(size: int | str) -> int:
    try:
        largest = to_bytes(size)
    except ValueError as error:
        raise ValueError(f"@action: 'limit' {error}.") from None
    if largest < 0:
        raise ValueError(f"@action: 'limit' must be at least 0, not {size!r}.")
    return largest


def redirect(url: str, status: int = 303) -> Redirect:
    """Return a redirect to ``url``, for a loader or action to return or raise.

    Raises ValueError for a status that is not a redirect, for control characters in ``url``,
    and for schemes other than http and https.
    """
    return Redirect(url, status)


InvalidatedResponse = TypeVar("InvalidatedResponse", dict[str, Any], Response, Redirect)


def invalidate_routes(response: InvalidatedResponse, *urls: str) -> InvalidatedResponse:
    """Evict the client's cached navigation data of ``urls``, and return ``response``.

    ``response`` is the action's result: a dict, a Response, or `redirect(…)`, which may also be
    raised. The outgoing response lists the URLs in `x-fx-invalidate`, joined by ``", "``, in
    order, without empty and repeated ones; a second call adds to the first.
    Raises ValueError for a URL with a control character.
    """
    if isinstance(response, Response):
        known = response.headers.get(INVALIDATE_HEADER, "").split(", ")
        merged = merge_urls(known, urls)
        if merged:
            response.headers[INVALIDATE_HEADER] = ", ".join(merged)
    elif isinstance(response, dict):
        merged = merge_urls(response.get(INVALIDATE_KEY, ()), urls)
        if merged:
            response[INVALIDATE_KEY] = merged
    elif isinstance(response, Redirect):
        response.invalidated = tuple(merge_urls(response.invalidated, urls))
    else:
        raise TypeError(
            f"invalidate_routes: {type(response).__name__} is neither a dict nor a Response, "
            "nor a redirect. Pass what the action returns."
        )
    return response


def merge_urls(known: Any, urls: Any) -> list[str]:
    """Return ``known`` and ``urls`` in order, each once, without empty ones.

    Spaces and non-ASCII characters are percent-encoded, as browsers do. Raises
    ValueError for control characters.
    """
    merged: dict[str, None] = {}
    for url in (*known, *urls):
        if not isinstance(url, str):
            raise TypeError(f"invalidate_routes: {url!r} is not a str.")
        if any(char < " " or char == "\x7f" for char in url):
            raise ValueError(
                f"invalidate_routes: {url!r} has a control character. Percent-encode it."
            )
        if url:
            merged[quote(url, safe=_PRINTABLE)] = None
    return list(merged)


def take_invalidated(result: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return a returned dict without its sentinel key, and the URLs it carried."""
    rest = dict(result)
    return rest, rest.pop(INVALIDATE_KEY, [])
