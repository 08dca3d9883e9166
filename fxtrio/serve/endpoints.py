"""Python endpoints of `api` folders: `endpoint(request)`, `get`, `post`…, or an HTTPEndpoint."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import trio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from fxtrio.application_errors import application_error
from fxtrio.encode import encode
from fxtrio.errors import ActionError, Busy, LoaderError, Redirect
from fxtrio.serve.pages.error_response import log_failure
from fxtrio.serve.pages.functions.endpoint_code import EndpointCode
from fxtrio.serve.pages.resources import Running
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request import csrf
from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.hooks import run_hooks
from fxtrio.serve.request.requests import BodyRequest
from fxtrio.serve.request.response.error_response import (
    UNEXPECTED,
    ErrorResponse,
    busy,
    csrf_failure_reply,
    error_reply,
    to_error_response,
)
from fxtrio.serve.request.response.response import JSON, NOTHING, Answer, Reply, redirected
from fxtrio.serve.request.response.unwrap import require_status, unwrap
from fxtrio.serve.request.watchdog import DeadlinePassed
from fxtrio.spans import span

log = logging.getLogger("fx.serve")


async def answer_api(
    site: Site, running: Running, event: RequestEvent, source: str, params: Mapping[str, str]
) -> Answer:
    """Return what the endpoint in ``source`` answers; its errors in the JSON shape."""
    scope = event.scope
    scope["path_params"] = dict(params)
    body = event.open_body(running.bodies, limit=site.config.limits.body)
    audience = event.audience
    request = BodyRequest(scope, body) if audience.personal else audience.connect(scope)
    unsafe = scope["method"] not in csrf.SAFE_METHODS
    verdict = site.proof.rejection(event) if unsafe else ""
    if verdict:
        return csrf_failure_reply(verdict)
    limit = event.timeout
    with trio.CancelScope(deadline=trio.current_time() + limit):
        try:
            if verdict is None:
                verdict = await site.proof.form_rejection(event, body)
                if verdict:
                    return csrf_failure_reply(verdict)
            answer: Answer | Redirect | None = await run_hooks(
                site.hooks.before("endpoint", "api"), request, audience
            )
            if answer is None:
                audience.admit(event.draft)
                answer = await _call(site.endpoints[source], request, source)
            if isinstance(answer, Redirect):
                return redirected(answer, navigation=False)
            return answer
        except BaseException as raised:
            error = application_error(raised)
            return _failed(site, source, unwrap(error, event.draft, source))
    log.error("%s", DeadlinePassed(source, limit))
    return error_reply(ErrorResponse("The endpoint took too long.", 504))


def _failed(site: Site, source: str, error: BaseException) -> Answer:
    if isinstance(error, (ActionError, LoaderError)):
        return error_reply(to_error_response(error))
    if isinstance(error, Redirect):
        return redirected(error, navigation=False)
    if isinstance(error, ClientDisconnect):
        return NOTHING
    log_failure(error, source)
    if isinstance(error, Busy):
        return error_reply(busy(error))
    message = f"{type(error).__name__}: {error}" if site.development else UNEXPECTED
    return error_reply(ErrorResponse(message, 500))


async def _call(code: EndpointCode, request: Request, source: str) -> Answer | Redirect:
    """Call the function for the method and return its answer as a response."""
    function = code.function(request.method)
    if function is None:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"allow": code.allowed})
        reply = error_reply(ErrorResponse(f"{request.method} is not allowed here.", 405))
        reply.headers.append((b"allow", code.allowed.encode()))
        return reply
    with span("endpoint", source):
        value = await function(request)
    if isinstance(value, Response):
        require_status(value.status_code, source)
    if isinstance(value, (Response, Redirect)):
        return value
    status = 200
    if isinstance(value, tuple) and len(value) == 2:
        value, status = value[0], require_status(value[1], source)
    return Reply(status, encode(value, place=source), JSON)
