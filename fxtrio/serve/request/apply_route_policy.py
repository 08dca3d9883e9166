"""The settings of a route, applied to a request as soon as its route is known.

Called by whatever finds a route, before hooks, proofs and bodies.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Send

from fxtrio.errors import LoaderError
from fxtrio.policy.open import Count
from fxtrio.policy.routes import Policies
from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.response.error_response import error_reply, to_error_response
from fxtrio.serve.request.response.response import Answer, Header


class RateLimited(LoaderError):
    """A client exceeded its rate limit. Each representation reports it in its own format."""

    def __init__(self, wait: int) -> None:
        super().__init__(f"Too many requests. Try again in {wait} s.", 429)


async def enter(
    event: RequestEvent, policies: Policies, pattern: str, *, called: bool, count: Count | None
) -> Response | None:
    """Apply the policy of the route ``pattern``; return the response to a preflight request.

    ``called`` is whether it is an endpoint or action. Stores on ``event`` the headers of the
    response, and in ``event.rejection`` the reason to reject the request, if any.
    """
    policy = policies.of(pattern, called=called)
    if policy is None:
        return None
    cors, headers = policy.cors, event.headers
    if cors is not None:
        if is_preflight(event):
            return cors.preflight_response(Headers(scope=event.scope))
        origin = headers.get(b"origin")
        if origin is not None and cors.is_allowed_origin(origin.decode("latin-1")):
            # A request without cookies carries no visitor's authority.
            event.welcome = cors.allow_credentials or _has_no_credentials(headers)
        event.send = _with_cors_headers(event.send, cors.send, Headers(scope=event.scope))
    # A render for the response cache is nobody's: the request that began it was counted, and gets
    # these headers when it is sent the result.
    if policy.cache_control is not None and event.audience.personal:
        event.draft.policy = policy.cache_control
    if policy.rates and count is not None and event.audience.personal:
        rate_headers, wait = await count(event.scope, policy.rates, pattern)
        event.send = _with_headers(event.send, rate_headers)
        if wait is not None:
            event.rejection = RateLimited(wait)
            event.draft.policy = None
            event.draft.headers["retry-after"] = str(wait)
    return None


async def enter_listing(
    event: RequestEvent, policies: Policies | None, path: str, count: Count | None
) -> Answer | None:
    """Apply the settings of ``path``, which lists routes; return the response they give, if any.

    No cache may store the list, whatever the settings say: it differs by visitor.
    """
    if policies is None:
        return None
    answered = await enter(event, policies, path, called=False, count=count)
    event.draft.policy = None
    return answered if event.rejection is None else error_reply(to_error_response(event.rejection))


def is_preflight(event: RequestEvent) -> bool:
    """Whether this is a CORS preflight request."""
    return event.scope.get("method") == "OPTIONS" and event.headers.keys() >= _PREFLIGHT


_PREFLIGHT = {b"origin", b"access-control-request-method"}


def _has_no_credentials(headers: dict[bytes, bytes]) -> bool:
    return b"cookie" not in headers and b"authorization" not in headers


def _with_cors_headers(
    send: Send, add: Callable[[Message, Send, Headers], Awaitable[None]], headers: Headers
) -> Send:
    """Return a ``send`` that adds the CORS headers."""

    async def with_cors_headers(message: Message) -> None:
        await add(message, send, headers)

    return with_cors_headers


def _with_headers(send: Send, headers: list[Header]) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start" and headers:
            message = {**message, "headers": [*message.get("headers", ()), *headers]}
        await send(message)

    return with_headers
