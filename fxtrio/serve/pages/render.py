"""A page with its data: runs loaders, then renders the view or an error boundary."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any
from urllib.parse import unquote

import msgspec
from msgspec.structs import replace

from fxtrio.application_errors import application_error
from fxtrio.errors import Redirect
from fxtrio.send_budget import UnsentFull
from fxtrio.serve.pages.boundaries import show_failure
from fxtrio.serve.pages.deferred.navigation import send_lines
from fxtrio.serve.pages.deferred.values import (
    DeferredValue,
    deferred_in,
    names_of,
    settle,
    without_deferred,
)
from fxtrio.serve.pages.html.stream import send_page, stream_page
from fxtrio.serve.pages.loaders import Failed, Loaded, load
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.pages.payload import Content
from fxtrio.serve.request.client_protocol import ONLY
from fxtrio.serve.request.response.response import Answer, Reply, redirected
from fxtrio.serve.request.response.unwrap import unwrap
from fxtrio.serve.request.watchdog import Watched


class FormOutcome(msgspec.Struct, frozen=True):
    """The outcome of a form's action without JavaScript, for rendering its page."""

    status: int
    """In place of the page's own."""

    action_data: Mapping[str, Any]


# Without a frame of its own, which each request would pay for.
def load_and_show(
    page: PageEvent, watched: Watched | None = None, after: FormOutcome | None = None
) -> Awaitable[Answer]:
    """Run the loaders and render the page, or the boundary that replaces it.

    ``watched`` takes over the deadline of a single loader.
    """
    plan, event = page.target.plan, page.event
    streams = plan.view.streams and after is None and not (event.navigation or event.settled)
    if streams and event.audience.streams:
        return stream_page(page)
    if plan.view.id in page.site.large.average:
        return _wait_and_show(page, watched, after)
    return _load_and_show(page, watched, after)


async def _wait_and_show(
    page: PageEvent, watched: Watched | None, after: FormOutcome | None
) -> Answer:
    """Show a page that is known to be large once there is room for it."""
    try:
        async with page.site.large.admitted(page.target.plan.view.id, page.event, page.place):
            return await _load_and_show(page, watched, after)
    except UnsentFull as full:
        return await show_failure(page, "", full, {})


async def _load_and_show(
    page: PageEvent, watched: Watched | None, after: FormOutcome | None
) -> Answer:
    plan, event = page.target.plan, page.event
    outcome = await load(plan.loaders, page.request, plan.source, watched)
    if not isinstance(outcome, Loaded):
        return await _show_ended(page, outcome)
    deferred = deferred_in(outcome.values)
    only = event.headers.get(ONLY) if event.navigation else None
    try:
        if not deferred and only is None and after is None:
            answer = page.show_loaded(outcome.values, outcome.status)
            return answer if isinstance(answer, Reply) else await answer
        content = Content(outcome.values, outcome.status)
        if after is not None:
            content = Content(outcome.values, after.status, action_data=after.action_data)
        if only is not None:
            names = _names(only)
            deferred = tuple(value for value in deferred if value.name(plan) in names)
            content = replace(content, only=names, values=without_deferred(content.values))
        if deferred:
            return await _show_deferred(page, outcome, deferred, content)
        return await page.show(plan, content)
    except BaseException as raised:  # HEAD functions, encoders and renders run application code
        # Not in a variable: this frame is part of the error's traceback.
        return await show_failure(
            page,
            "",
            unwrap(application_error(raised), page.event.draft, page.place),
            outcome.values,
        )


async def _show_ended(page: PageEvent, outcome: Redirect | Failed) -> Answer:
    """Show what a loader has ended the request with."""
    if isinstance(outcome, Redirect):
        return redirected(outcome, navigation=page.event.navigation)
    return await show_failure(page, outcome.source, outcome.error, outcome.values)


def _names(header: bytes) -> frozenset[str]:
    """Return the names that the client needs; text that is no name is one that nothing has."""
    return frozenset(unquote(name) for name in header.decode("latin-1").split(","))


async def _show_deferred(
    page: PageEvent, loaded: Loaded, deferred: tuple[DeferredValue, ...], content: Content
) -> Answer:
    """Show a page with deferred values: in parts, or to others when all have come."""
    event, plan = page.event, page.target.plan
    in_parts = event.audience.streams and event.scope["method"] != "HEAD" and not event.settled
    in_parts &= event.navigation or plan.view.scripts
    if in_parts and content.action_data is None:
        return await (
            send_lines(page, content, deferred) if event.navigation else send_page(page, loaded)
        )
    settled = await settle(page, loaded)
    if isinstance(settled, Loaded):
        values, names = settled.values, names_of(deferred, plan)
        return await page.show(plan, replace(content, values=values, promises=names))
    return await show_failure(page, settled.source, settled.error, settled.values)
