"""Starlette routes of plugins and of the application, under the rules that hold for all routes.

They come before everything else, since they are named one by one. Called by
`fxtrio.serve.dispatch`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

from fxtrio.errors import ActionError, LoaderError, Redirect
from fxtrio.policy.patterns import pattern_of
from fxtrio.routes.matched import STARLETTE_KEY
from fxtrio.serve.actions.no_js_forms import show_again
from fxtrio.serve.pages.resources import Running
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request import csrf
from fxtrio.serve.request.apply_route_policy import enter, is_preflight
from fxtrio.serve.request.bodies.third_party_bodies import require_plain
from fxtrio.serve.request.csrf_proof import TOKEN
from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.response.error_response import (
    ErrorResponse,
    csrf_failure_reply,
    error_reply,
    to_error_response,
)
from fxtrio.serve.request.response.form_rerender import PAGES, PageAgain
from fxtrio.serve.request.response.response import Answer, redirected
from fxtrio.serve.request.response.send_response import completing, send_answer
from fxtrio.serve.request.response.unwrap import unwrap
from fxtrio.serve.request_span import name_by_starlette_route


class CookielessRoute(Route):
    """A route that acts on no cookie, and judges origins itself: it needs no other proof."""

    acts_on_cookies = False


async def serve_starlette_route(
    site: Site, running: Running, event: RequestEvent, routes: Sequence[BaseRoute]
) -> bool:
    """Let the first of ``routes`` that matches answer; False when none does."""
    for route in routes:
        match, child = route.matches(event.scope)
        # A preflight request asks for another method than its own, so part of a match will do.
        if match is Match.NONE or (match is Match.PARTIAL and not is_preflight(event)):
            continue
        event.scope[STARLETTE_KEY] = pattern_of(route, site.config.base_url)
        answer = await _apply_policy(site, running, event, route)
        if answer is None:
            if match is not Match.FULL:
                continue
            answer = await _handle(site, running, event, route, child)
        if answer is not None:
            await send_answer(event, answer)
        return True
    return False


async def _apply_policy(
    site: Site, running: Running, event: RequestEvent, route: BaseRoute
) -> Answer | None:
    """Apply the settings of the route; return what they answer in its place."""
    if site.policies is None:
        return None
    pattern = pattern_of(route, site.config.base_url)
    answered = await enter(event, site.policies, pattern, called=False, count=running.count)
    if event.rejection is not None:
        return error_reply(to_error_response(event.rejection))
    return answered


async def _handle(
    site: Site, running: Running, event: RequestEvent, route: BaseRoute, child: Scope
) -> Answer | None:
    """Check the request's origin and let the route answer; return what is sent in its place."""
    unsafe = event.scope["method"] not in csrf.SAFE_METHODS
    unsafe = unsafe and getattr(route, "acts_on_cookies", True)
    verdict = site.proof.rejection(event) if unsafe else ""
    if verdict:
        return csrf_failure_reply(verdict)
    event.scope.update(child)
    name_by_starlette_route(route, site.config.base_url)
    complete = completing(event)
    body = event.open_body(running.bodies, limit=site.config.limits.body)
    try:
        require_plain(event.scope["headers"])
        event.scope[PAGES] = True
        event.scope[TOKEN] = partial(site.proof.hand_out, event)
        if verdict is None:
            verdict = await site.proof.form_rejection(event, body)
            if verdict:
                return csrf_failure_reply(verdict)
        receive = body.again() if body.complete else body.receive
        await route.handle(event.scope, receive, complete)
    except PageAgain as again:
        return await show_again(site, running, event, again)
    except MultiPartException as error:
        return error_reply(ErrorResponse(error.message, 400))
    except (ActionError, LoaderError, HTTPException, Redirect) as error:
        known = unwrap(error, event.draft, f"{event.scope['method']} {event.path}")
        if isinstance(known, Redirect):
            return redirected(known, navigation=False)
        return error_reply(to_error_response(known))
    return None
