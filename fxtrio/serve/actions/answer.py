"""Answers a call of an action, once its URL is known to name one.

It turns away what must not reach the action. What passes is a call, and takes the steps of
`fxtrio.serve.actions.call`. Imported for the first call, as most processes start for a page.
"""

from __future__ import annotations

import logging

from fxtrio.routes.matched import SCOPE_KEY
from fxtrio.serve.actions.call import ActionCall, answer_call
from fxtrio.serve.actions.lookup import NamedAction, find_action, say_missing
from fxtrio.serve.actions.no_js_forms import page_of
from fxtrio.serve.actions.representations import Target, representation_for
from fxtrio.serve.actions.result import Rejected
from fxtrio.serve.pages.resources import Running
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.apply_route_policy import enter
from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.response.error_response import (
    ErrorResponse,
    csrf_failure,
    error_reply,
    to_error_response,
)
from fxtrio.serve.request.response.response import Answer

log = logging.getLogger("fx.serve")


async def answer_action(site: Site, running: Running, event: RequestEvent) -> Answer:
    """Return the response; nothing when the client left before its request was whole."""
    return await answer_found(site, running, event, find_action(site, event))


async def answer_found(
    site: Site, running: Running, event: RequestEvent, found: NamedAction | None
) -> Answer:
    """Return the response of an action, as `answer_action` does; None names no action."""
    policies = site.policies
    if policies is not None and found is not None:
        answer = await enter(event, policies, found.pattern, called=True, count=running.count)
        if answer is not None:
            return answer
        if event.rejection is not None:
            limited = Rejected(to_error_response(event.rejection), admitted=False)
            target = Target(site, running, event, found)
            return await representation_for(event).reject(target, limited)
    if event.scope["method"] != "POST":
        return _wrong_method(site, running, event, found)
    if found is None:
        return error_reply(ErrorResponse("Action not found", 404, _hint(site, event)))
    event.scope["path_params"] = dict(found.params)
    event.scope[SCOPE_KEY] = found.matched
    target = Target(site, running, event, found)
    representation = representation_for(event)
    verdict = site.proof.rejection(event)
    if verdict:
        forged = Rejected(csrf_failure(verdict), admitted=False)
        return await representation.reject(target, forged)
    # Without a verdict the headers prove nothing: the form's own token decides, in the body.
    call = ActionCall.open(target, needs_token=verdict is None)
    return await answer_call(call, representation)


def _hint(site: Site, event: RequestEvent) -> dict[str, str]:
    """Return what the author of a wrong URL should know, in development; also log it."""
    if not site.development:
        return {}
    hint = say_missing(site, event)
    log.warning("%s", hint)
    return {"hint": hint}


def _wrong_method(
    site: Site, running: Running, event: RequestEvent, found: NamedAction | None
) -> Answer:
    """Answer another method. A browser that reloads after a form goes back to its page."""
    reads = event.scope["method"] in ("GET", "HEAD")
    if found is not None and reads and b"text/html" in event.headers.get(b"accept", b""):
        page = page_of(site, running, event, found)
        return page.leave(page.url)
    reply = error_reply(ErrorResponse("Actions are called with POST.", 405))
    reply.headers.append((b"allow", b"POST"))
    return reply
