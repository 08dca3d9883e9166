"""Who may see what a plugin serves: a function of the application decides, as a route hook."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from fxtrio.app_handle import App
from fxtrio.errors import DottedNameUnknown, FunctionInvalid, Redirect
from fxtrio.plugins.protocol import Resolver, cause_of_unresolved

Guard = Callable[[Request], Awaitable[Response | Redirect | None]]
"""Lets a request pass with None, as route hooks do."""


class GuardInvalid(FunctionInvalid):
    """A setting names a guard that cannot guard anything. Raised when the app starts."""

    remedy = (
        "Name an async function of one request that returns None, or the response that rejects it"
    )


def resolve_guard(key: str, name: str, app: App) -> Guard:
    """Return the guard that the setting ``key`` names. Raises GuardInvalid."""
    try:
        found = None if app.resolve is None else app.resolve(name)
    except DottedNameUnknown as error:
        raise GuardInvalid(key, name, f"which cannot be imported: {error.cause}") from error
    if not callable(found):
        raise GuardInvalid(key, name, "which is not a function")
    if inspect.isfunction(found) and not inspect.iscoroutinefunction(found):
        raise GuardInvalid(key, name, "which is not async")
    guard: Guard = found
    return guard


def guard_mistakes(name: str, resolve: Resolver) -> dict[str, str]:
    """Return the error of the setting ``guard``, for `Plugin.mistakes`; "" is none."""
    if not name:
        return {}
    if cause := cause_of_unresolved(name, resolve):
        return {"guard": cause}
    if not inspect.iscoroutinefunction(resolve(name)):
        return {"guard": f"is {name!r}, which is not an async function"}
    return {}


async def guarded(
    guard: Guard, request: Request, answer: Callable[[Request], Awaitable[Response]]
) -> Response:
    """Return the answer, or what ``guard`` says instead. Raises the Redirect of a guard."""
    refusal = await guard(request)
    if isinstance(refusal, Redirect):
        raise refusal
    return await answer(request) if refusal is None else refusal
