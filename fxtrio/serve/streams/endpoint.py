"""Streams: `GET {base}/api/__streams/{page_path}/{name}`, answered with `text/event-stream`.

A stream is guarded as an action of its page: by the settings of the route, by the check of the
origin, since a browser sends cookies with it, and by the hooks of pages and of actions.
"""

from __future__ import annotations

import logging

import msgspec
import trio
from starlette.responses import Response

from fxtrio.application_errors import application_error
from fxtrio.errors import Redirect
from fxtrio.manifest import ApiRoute, PageRoute
from fxtrio.nearest import nearest
from fxtrio.routes.matched import SCOPE_KEY
from fxtrio.serve.actions.execution import failure
from fxtrio.serve.event_streams.open_streams import StreamsFull
from fxtrio.serve.pages.functions.server_functions import StreamCode
from fxtrio.serve.pages.resources import Running
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.apply_route_policy import enter
from fxtrio.serve.request.client_protocol import STREAMS
from fxtrio.serve.request.event import PagePath, RequestEvent
from fxtrio.serve.request.hooks import run_hooks, run_page_hooks
from fxtrio.serve.request.page_paths import split_page_path
from fxtrio.serve.request.response.error_response import (
    ErrorResponse,
    busy,
    csrf_failure_reply,
    error_reply,
    to_error_response,
)
from fxtrio.serve.request.response.response import Answer, redirected
from fxtrio.serve.request.response.unwrap import unwrap
from fxtrio.serve.request.watchdog import DeadlinePassed
from fxtrio.serve.streams.sending import send_stream
from fxtrio.spans import span

log = logging.getLogger("fx.serve")


class _Found(msgspec.Struct, frozen=True):
    """A stream, and the page that it belongs to."""

    route: PageRoute
    path: PagePath
    params: dict[str, str]
    stream: StreamCode


async def answer_stream(site: Site, running: Running, event: RequestEvent) -> Answer:
    """Send a stream to its end; return the response of a request that gets none."""
    found = _find(site, event)
    if site.policies is not None and found is not None:
        pattern = found.route.pattern
        preflight = await enter(event, site.policies, pattern, called=True, count=running.count)
        if preflight is not None:
            return preflight
        if event.rejection is not None:
            return error_reply(to_error_response(event.rejection))
    if event.scope["method"] != "GET":
        reply = error_reply(ErrorResponse("Streams are read with GET.", 405))
        reply.headers.append((b"allow", b"GET"))
        return reply
    if found is None:
        return error_reply(ErrorResponse("Stream not found", 404, _hint(site, event)))
    event.scope["path_params"] = found.params
    event.scope[SCOPE_KEY] = site.matched_streams[found.route.pattern, found.stream.name]
    foreign = site.proof.foreign(event)
    if foreign:
        return csrf_failure_reply(foreign)
    answer = await _ask_hooks(site, event, found)
    if answer is not None:
        return answer
    try:
        admitted = running.streams.admit(found.stream.source)
        with admitted as open_stream, span("stream", found.stream.place):
            return await send_stream(site, running, event, found.stream, open_stream)
    except StreamsFull as error:
        log.error("%s", error)
        return error_reply(busy(error))


async def _ask_hooks(site: Site, event: RequestEvent, found: _Found) -> Answer | None:
    """Run the hooks of pages, then those of actions; return what they answer, if anything."""
    hooks, audience = site.hooks, event.audience
    place = f"{found.stream.place}: a route hook"
    with trio.CancelScope(deadline=trio.current_time() + event.timeout):
        try:
            answer = await run_page_hooks(
                hooks, event.scope, found.path, event.connect, audience
            ) or await run_hooks(hooks.actions, event.request, audience)
        except BaseException as raised:
            error = unwrap(application_error(raised), event.draft, place)
            failed = failure(error, found.stream.place, development=site.development)
            return _response(failed) if isinstance(failed, Redirect) else error_reply(failed)
        return None if answer is None else _response(answer)
    log.error("%s", DeadlinePassed(place, event.timeout))
    return error_reply(ErrorResponse("The stream took too long to begin.", 504))


def _response(answer: Response | Redirect) -> Answer:
    return redirected(answer, navigation=False) if isinstance(answer, Redirect) else answer


def _find(site: Site, event: RequestEvent) -> _Found | None:
    """Return what a URL, whose path begins with `STREAMS`, names; None when it is nothing."""
    path, name = split_page_path(event, STREAMS)
    match = None if path is None else site.router.match(path.path, path.sent)
    if path is None or match is None:
        return None
    route, params = match
    if isinstance(route, ApiRoute):
        return None
    stream = site.plans[route.view].inner.streams.get(name)
    return None if stream is None else _Found(route, path, params, stream)


def _hint(site: Site, event: RequestEvent) -> dict[str, str]:
    """Return what the author of a wrong URL should know, in development; also log it."""
    if not site.development:
        return {}
    path, name = split_page_path(event, STREAMS)
    match = None if path is None else site.router.match(path.path, path.sent)
    if match is None or isinstance(match[0], ApiRoute):
        hint = f"Stream not found: no page has the path {'/' if path is None else path.path!r}."
    else:
        inner = site.plans[match[0].view].inner
        known = sorted(inner.streams)
        near = nearest(name, known)
        hint = f"Stream not found: {inner.module.source} has no @stream {name!r}."
        hint += f" Did you mean {near!r}?" if near else ""
    log.warning("%s", hint)
    return {"hint": hint}
