"""Python endpoints of `api` folders: `endpoint(request)`, `get`, `post`…, or an HTTPEndpoint."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from http import HTTPMethod
from typing import Any

import trio
from starlette.endpoints import HTTPEndpoint
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message

from fxtrio.encode import encode
from fxtrio.errors import ActionError, LoaderError, Redirect
from fxtrio.serve.actions.call import Refused, refusal_reply, refused
from fxtrio.serve.pages.failure import UNEXPECTED, log_failure
from fxtrio.serve.pages.loaders import unwrap
from fxtrio.serve.pages.running import Running
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request import csrf
from fxtrio.serve.request.connection import BodyRequest
from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.hooks import run_hooks
from fxtrio.serve.request.reply import JSON, NOTHING, Answer, Reply
from fxtrio.serve.request.watchdog import DeadlinePassed

log = logging.getLogger("fx.serve")

_METHODS = tuple(method.value.lower() for method in HTTPMethod)


async def answer_api(
    site: Site, running: Running, event: RequestEvent, source: str, params: Mapping[str, str]
) -> Answer:
    """Return what the endpoint in ``source`` answers; its errors in the JSON shape."""
    scope = event.scope
    scope["path_params"] = dict(params)
    body = event.open_body(running.bodies, limit=site.config.limits.body)
    request = BodyRequest(scope, body)
    unsafe = scope["method"] not in csrf.SAFE_METHODS
    verdict = site.proof.refusal(event, event.request, {}) if unsafe else ""
    if verdict:
        return refusal_reply(Refused(f"CSRF check failed: {verdict}.", 403))
    limit = site.config.timeouts.request
    with trio.CancelScope(deadline=trio.current_time() + limit):
        try:
            answer: Answer | Redirect | None = await run_hooks(
                site.hooks.apis, request, event.audience
            )
            if answer is None:
                answer = await _call(site.endpoints[source], request, source)
            if isinstance(answer, Redirect):
                return Response(status_code=answer.status, headers={"location": answer.url})
            return answer
        except (Exception, SystemExit) as error:  # application code
            return _failed(site, source, unwrap(error))
    log.error("%s", DeadlinePassed(source, limit))
    return refusal_reply(Refused("The endpoint took too long.", 504))


def _failed(site: Site, source: str, error: BaseException) -> Answer:
    if isinstance(error, (ActionError, LoaderError)):
        return refusal_reply(refused(error))
    if isinstance(error, ClientDisconnect):
        return NOTHING
    if isinstance(error, HTTPException):
        reply = refusal_reply(Refused(error.detail, error.status_code))
        for name, value in (error.headers or {}).items():
            reply.headers.append((name.lower().encode(), value.encode()))
        return reply
    log_failure(error, source)
    shown = f"{type(error).__name__}: {error}" if site.development else UNEXPECTED
    return refusal_reply(Refused(shown, 500))


async def _call(names: Mapping[str, Any], request: Request, source: str) -> Answer | Redirect:
    """Find the function for the method and return its answer as a response."""
    functions = _functions(names)
    method = request.method.lower()
    function = functions.get(method) or functions.get("*")
    if function is None and method == "head":
        function = functions.get("get")
    if function is None:
        allowed = ", ".join(sorted({name.upper() for name in functions} | _implied(functions)))
        if method == "options":
            return Response(status_code=204, headers={"allow": allowed})
        reply = refusal_reply(Refused(f"{request.method} is not allowed here.", 405))
        reply.headers.append((b"allow", allowed.encode()))
        return reply
    value = function(request)
    if inspect.isawaitable(value):
        value = await value
    if isinstance(value, (Response, Redirect)):
        return value
    status = 200
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], int):
        value, status = value
    return Reply(status, encode(value, place=source), JSON)


def _implied(functions: Mapping[str, Any]) -> set[str]:
    return {"OPTIONS", "HEAD"} if "get" in functions else {"OPTIONS"}


def _functions(names: Mapping[str, Any]) -> dict[str, Callable[[Request], Any]]:
    """Return the endpoint's functions by method; ``*`` answers all of them."""
    endpoint = names.get("endpoint")
    if isinstance(endpoint, type) and issubclass(endpoint, HTTPEndpoint):
        return {"*": _of_class(endpoint)}
    found = {name: names[name] for name in _METHODS if callable(names.get(name))}
    if callable(endpoint):
        found["*"] = endpoint
    return found


def _of_class(endpoint: type[HTTPEndpoint]) -> Callable[[Request], Any]:
    """Return a function that answers with an HTTPEndpoint class."""

    def call(request: Request) -> Any:
        handler = endpoint(request.scope, request.receive, _never)
        name = "get" if request.method == "HEAD" else request.method.lower()
        function = getattr(handler, name, None)
        if function is None:
            return JSONResponse(
                {"ok": False, "error": f"{request.method} is not allowed here."}, 405
            )
        return function(request)

    return call


async def _never(message: Message) -> None:
    raise RuntimeError("an endpoint's answer is sent by the runtime")
