"""Who may see what a plugin serves: a function of the application decides, as a route hook."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from fxtrio.errors import FunctionInvalid, Redirect, named_function
from fxtrio.plugins.protocol import Resolver

Guard = Callable[[Request], Awaitable[Response | Redirect | None]]
"""Lets a request pass with None, as route hooks do."""


class GuardInvalid(FunctionInvalid):
    """A setting names a guard that cannot guard anything. Raised when the app starts."""

    remedy = (
        "Name an async function of one request that returns None, or the response that rejects it"
    )


def resolve_guard(key: str, name: str, resolve: Resolver | None) -> Guard:
    """Return the guard that the setting ``key`` names. Raises GuardInvalid."""
    found = named_function(key, name, resolve, GuardInvalid)
    if inspect.isfunction(found) and not inspect.iscoroutinefunction(found):
        raise GuardInvalid(key, name, "which is not async")
    return found


def guard_mistakes(name: str, resolve: Resolver) -> dict[str, str]:
    """Return the error of the setting ``guard``, for `Plugin.mistakes`; "" is none."""
    if not name:
        return {}
    try:
        resolve_guard("guard", name, resolve)
    except GuardInvalid as error:
        return {"guard": error.cause}
    return {}


async def guarded(
    guard: Guard, request: Request, answer: Callable[[Request], Awaitable[Response]]
) -> Response:
    """Return the answer, or what ``guard`` says instead. Raises the Redirect of a guard."""
    refusal = await guard(request)
    if isinstance(refusal, Redirect):
        raise refusal
    return await answer(request) if refusal is None else refusal
