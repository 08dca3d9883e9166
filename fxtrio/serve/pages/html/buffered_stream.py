"""Renders a streaming page completely, so that it can be cached.

No client reads the stream, so all loaders run first: failures and redirects keep their
status, and the HTML contains no fallback of a `loading.fxl`.
"""

from __future__ import annotations

from fxtrio.application_errors import application_error
from fxtrio.errors import Redirect
from fxtrio.serve.pages.boundaries import show_failure
from fxtrio.serve.pages.deferred.values import deferred_in, names_of, settle
from fxtrio.serve.pages.loaders import Failed, Loaded, load
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.pages.payload import Content
from fxtrio.serve.request.response.response import HTML, Answer, Reply, redirected
from fxtrio.serve.request.response.unwrap import unwrap
from fxtrio.spans import span


async def buffer_page(page: PageEvent) -> Answer:
    """Run all loaders, render the page in parts, and return it when the last one has come."""
    outcome = await load(page.target.plan.loaders, page.request, page=page.place)
    deferred = deferred_in(outcome.values) if isinstance(outcome, Loaded) else ()
    if isinstance(outcome, Loaded) and deferred:
        outcome = await settle(page, outcome)
    if isinstance(outcome, Redirect):
        return redirected(outcome, navigation=False)
    if isinstance(outcome, Failed):
        return await show_failure(page, outcome.source, outcome.error, outcome.values)
    try:
        body = await _render(page, outcome, names_of(deferred, page.target.plan))
    except BaseException as raised:  # HEAD functions, encoders and renders run application code
        # Not in a variable: this frame is part of the error's traceback.
        return await show_failure(
            page,
            "",
            unwrap(application_error(raised), page.event.draft, page.place),
            outcome.values,
        )
    return Reply(outcome.status, body, HTML, page.html_headers(page.site.nonce))


async def _render(page: PageEvent, loaded: Loaded, promises: tuple[str, ...]) -> bytes:
    """Return the document, with a placeholder for each nonce."""
    plan = page.target.plan
    frame = page.site.frames[plan.view.id]
    payload = page.payload(plan, Content(loaded.values, loaded.status, promises=promises))
    chunks: list[bytes] = []
    with span("render", plan.view.module):
        async with page.running.renderer.stream(plan.view.id, payload) as parts:
            async for part in parts:
                chunks.append(part.html if chunks else frame.shell(part))
    chunks.append(frame.rest(payload))
    return b"".join(chunks)
