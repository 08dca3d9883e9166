"""The one way from a call of an action to its answer, for every representation of it.

A call takes three steps: hooks, body, function. Each step has its own deadline, and its own
answer to a deadline that passes; the first step that has an outcome ends the call. What the
outcome looks like is the representation's, but for an action that is a generator: its values are
sent while it runs (`fxtrio.serve.actions.streaming`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import msgspec
import trio
from starlette.background import BackgroundTasks
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from fxtrio.application_errors import application_error
from fxtrio.errors import ActionError, Redirect
from fxtrio.runtime import INVALIDATE_HEADER, merge_urls
from fxtrio.serve.actions.errors import json_rejection
from fxtrio.serve.actions.execution import execute, failure, timed_out
from fxtrio.serve.actions.no_js_forms import asks_for_page
from fxtrio.serve.actions.representations import Representation, Target
from fxtrio.serve.actions.result import (
    DISCONNECTED,
    Disconnected,
    Outcome,
    Rejected,
    Sent,
    Succeeded,
)
from fxtrio.serve.actions.streaming import stream_action
from fxtrio.serve.request.bodies.body import ActionRequest
from fxtrio.serve.request.bodies.spool import Body
from fxtrio.serve.request.hooks import run_hooks, run_page_hooks
from fxtrio.serve.request.response.error_response import (
    ErrorResponse,
    csrf_failure,
    to_error_response,
)
from fxtrio.serve.request.response.response import NOTHING, Answer
from fxtrio.serve.request.response.unwrap import unwrap
from fxtrio.serve.request.watchdog import Watched


class ActionCall(msgspec.Struct, eq=False):
    """A call that has passed the settings of its route and the check of its headers."""

    target: Target
    request: ActionRequest
    body: Body
    background: BackgroundTasks
    """What the action adds to `request.state.background`."""

    needs_token: bool
    """Whether the form's own CSRF token decides, since the headers prove nothing."""

    step: Step | None = None
    """The step that it is in."""

    @classmethod
    def open(cls, target: Target, *, needs_token: bool) -> ActionCall:
        """Return the call; nothing of its body has been read."""
        site, event = target.site, target.event
        limit = target.found.action.limit
        if limit is None:
            limit = site.config.limits.body
        body = event.open_body(target.running.bodies, limit=limit)
        event.draft.revalidated = []
        background = event.scope["state"]["background"] = BackgroundTasks()
        return cls(target, ActionRequest(event.scope, body), body, background, needs_token)


class Step(msgspec.Struct, frozen=True, eq=False):
    """A part of the way. It is cancelled at its deadline, and has no outcome then."""

    take: Callable[[ActionCall], Awaitable[Outcome | None]]
    """Takes the step; None lets the call go on."""

    timeout: Callable[[ActionCall], float]
    """How long it may take (seconds)."""

    timed_out: Callable[[ActionCall], Outcome]
    """Returns what the call comes to when it took longer."""


async def answer_call(call: ActionCall, representation: Representation) -> Answer:
    """Return the answer to ``call``; nothing when the client has left."""
    event, steps = call.target.event, _steps_of(call)
    limit = steps[0].timeout(call)
    watched = call.target.running.watchdog.watch(None, limit=limit, server=event.server)
    try:
        outcome = await _take(steps, call, watched)
    finally:  # before anything can fail: it is a promise, whatever the action answers
        if call.background.tasks:
            event.background_tasks[:0] = call.background.tasks
        draft = event.draft
        named = draft.take_revalidated() if draft.revalidated else []
        draft.revalidated = None  # background tasks come too late for the browser
        if watched.interrupted:
            event.otherwise = partial(_answer_over_deadline, call, representation, named)
    return await _answer(call, representation, outcome, named)


async def _answer_over_deadline(
    call: ActionCall, representation: Representation, named: list[str]
) -> Answer:
    """Return the answer in place of work that the server has interrupted."""
    return await _answer(call, representation, _timed_out(call), named)


def _timed_out(call: ActionCall) -> Outcome:
    assert call.step is not None  # or there would be no deadline
    return call.step.timed_out(call)


async def _answer(
    call: ActionCall, representation: Representation, outcome: Outcome, named: list[str]
) -> Answer:
    """Return the answer that says what ``call`` came to."""
    target = call.target
    if isinstance(outcome, (Disconnected, Sent)):
        target.evict(named)
        return NOTHING
    if isinstance(outcome, Rejected):
        return await representation.reject(target, outcome)
    urls = _invalidated(outcome)
    if named:  # a header of the draft takes the place of the result's own
        urls = merge_urls(urls, named)
        target.event.draft.headers[INVALIDATE_HEADER] = ", ".join(urls)
    if urls:
        target.evict(urls)  # again, since others may have loaded before a transaction was committed
    return await representation.show(target, call.request, outcome)


async def _take(steps: Sequence[Step], call: ActionCall, watched: Watched) -> Outcome:
    """Take ``steps`` until one has an outcome, or does not end by its deadline.

    In place of the last one, an action that streams has its values sent.

    One watched block serves all of them, with the deadline of the step that it is in: a block
    for each would put every call on the watchdog's list again.
    """
    streams = call.target.found.action.streams
    may_stream = False
    with watched:
        for step in steps[:-1] if streams else steps:
            call.step = step
            if step is not steps[0]:  # whose deadline the block begins with
                watched.allow(step.timeout(call))
            outcome = await step.take(call)
            if watched.interrupted:
                await trio.lowlevel.checkpoint()
            if outcome is not None:
                return outcome
        may_stream = streams
    if may_stream:  # outside of the block, whose watcher would be there for hours
        return await stream_action(call.target, call.request, call.background)
    return _timed_out(call)


def _steps_of(call: ActionCall) -> Sequence[Step]:
    hooks, server = call.target.site.hooks, call.target.event.server
    if hooks.pages or hooks.actions:
        return _GUARDED
    if not call.needs_token and server is not None and call.body.take(server):
        return _READ
    return _UNGUARDED


async def _ask_hooks(call: ActionCall) -> Outcome | None:
    """Run the hooks of pages, then those of actions.

    Nothing of the body has been read, unless a hook reads it. What a hook raises is never
    rendered on the page that it guards: it rejects a visitor who is not admitted.
    """
    target, request = call.target, call.request
    hooks, audience, page = target.site.hooks, target.event.audience, target.found.page
    try:
        if page is None:
            answer = await run_hooks(hooks.before("actions", "action"), request, audience)
        else:
            answer = await run_page_hooks(hooks, request.scope, page.path, request.at, audience)
            answer = answer or await run_hooks(hooks.actions, request, audience)
    except ClientDisconnect:  # a hook has read the body
        return DISCONNECTED
    except BaseException as raised:
        action, draft = target.found.action, target.event.draft
        error = unwrap(application_error(raised), draft, f"{action.place}: a route hook")
        failed = failure(error, action.place, development=target.site.development)
        return Rejected(failed, admitted=False) if isinstance(failed, ErrorResponse) else failed
    if isinstance(answer, Response) and answer.status_code >= 400:
        whole = not asks_for_page(target.event)
        said = json_rejection(answer, target.event.draft, whole=whole)
        if said is not None:
            return Rejected(said, admitted=False)
    return answer


async def _read_body(call: ActionCall) -> Outcome | None:
    """Read the body whole, and check the token of a form that has to prove its origin."""
    try:
        await call.body.read()
        if not call.needs_token:
            return None
        request, proof = call.request, call.target.site.proof
        form = await request.sent_token() if request.is_form else {}
        verdict = proof.rejection(call.target.event, request, form)
    except ActionError as error:
        return Rejected(to_error_response(error), admitted=True)
    except ClientDisconnect:
        return DISCONNECTED
    return Rejected(csrf_failure(verdict), admitted=True) if verdict else None


def _run(call: ActionCall) -> Awaitable[Outcome | None]:
    """Run the action; where it says so, only for as long as its client is there."""
    if not call.target.found.action.cancel_on_disconnect:
        return execute(call.target, call.request, call.background)
    return _run_for_client(call)


async def _run_for_client(call: ActionCall) -> Outcome | None:
    target, action = call.target, call.target.found.action
    # Watched from here on only: until the body is whole, somebody else reads `receive`.
    watchdog, receive = target.running.watchdog, target.event.receive
    with watchdog.watch(receive, limit=action.timeout) as present:
        return await execute(target, call.request, call.background)
    return DISCONNECTED if present.disconnected else None


def _hooks_timed_out(call: ActionCall) -> Outcome:
    return Rejected(_run_timed_out(call), admitted=False)


def _body_timed_out(call: ActionCall) -> Outcome:
    return Rejected(ErrorResponse("The body took too long to arrive.", 408), admitted=True)


def _run_timed_out(call: ActionCall) -> ErrorResponse:
    return timed_out(call.target.found.action)


def _action_timeout(call: ActionCall) -> float:
    return call.target.found.action.timeout


def _request_timeout(call: ActionCall) -> float:
    return call.target.event.timeout


_READ = (Step(_run, timeout=_action_timeout, timed_out=_run_timed_out),)
_UNGUARDED = (Step(_read_body, timeout=_request_timeout, timed_out=_body_timed_out), *_READ)
_GUARDED = (Step(_ask_hooks, timeout=_action_timeout, timed_out=_hooks_timed_out), *_UNGUARDED)


def _invalidated(result: Outcome) -> Sequence[str]:
    """Return the URLs that the action named in `invalidate_routes`."""
    if isinstance(result, Response):
        return result.headers.get(INVALIDATE_HEADER, "").split(", ")
    if isinstance(result, (Succeeded, Redirect)):
        return result.invalidated
    return ()
