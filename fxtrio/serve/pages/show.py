"""A page with its data: loaders, then the view, or what stands in for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from fxtrio.errors import Redirect
from fxtrio.serve.pages.boundaries import show_failure
from fxtrio.serve.pages.buffered import buffer_page
from fxtrio.serve.pages.loaders import Failed, load
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.pages.payload import Content
from fxtrio.serve.pages.stream import stream_page
from fxtrio.serve.request.raised import unwrap
from fxtrio.serve.request.reply import Answer, redirected
from fxtrio.serve.request.watchdog import Watched


@attrs.frozen
class FormOutcome:
    """What the action of a form without JavaScript came to, for its page to show."""

    status: int
    """In place of the page's own."""

    action_data: Mapping[str, Any]


async def load_and_show(
    page: PageEvent, *, watched: Watched | None = None, after: FormOutcome | None = None
) -> Answer:
    """Run the loaders and show the page, or the boundary that stands in for it.

    ``watched`` takes over the deadline of a single loader.
    """
    plan, navigation = page.target.plan, page.event.navigation
    if plan.view.streams and after is None and not navigation:
        return await (stream_page(page) if page.event.audience.streams else buffer_page(page))
    outcome = await load(plan.loaders, page.request, page=page.place, watched=watched)
    if isinstance(outcome, Redirect):
        return redirected(outcome, navigation=navigation)
    if isinstance(outcome, Failed):
        return await show_failure(page, outcome.source, outcome.error, outcome.values)
    content = Content(outcome.values, outcome.status)
    if after is not None:
        content = Content(outcome.values, after.status, action_data=after.action_data)
    try:
        return await page.show(plan, content)
    except Exception as error:  # HEAD functions, encoders and renders run application code
        return await show_failure(page, "", unwrap(error, page.event.draft), outcome.values)
