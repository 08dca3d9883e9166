"""A page that would be sent while it is rendered, made whole, to be kept.

Nobody reads along, so the loaders come first: their failures and redirects have their
status, and no fallback of a `loading.fxl` is in the HTML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fxtrio.errors import Redirect
from fxtrio.serve.pages.loaders import Failed, Values, load, unwrap
from fxtrio.serve.request.reply import HTML, Answer, Reply, redirected

if TYPE_CHECKING:
    from fxtrio.serve.pages.page import PageVisit


async def buffer_page(page: PageVisit) -> Answer:
    """Run all loaders, render the page in parts, and return it when the last one has come."""
    plan = page.target.plan
    outcome = await load(plan.loaders, page.request, page=plan.view.module)
    if isinstance(outcome, Redirect):
        return redirected(outcome, navigation=False)
    if isinstance(outcome, Failed):
        return await page.show_failure(outcome.source, outcome.error, outcome.values)
    try:
        body = await _render(page, outcome.values, outcome.status)
    except Exception as error:  # HEAD functions, encoders and renders run application code
        return await page.show_failure("", unwrap(error), outcome.values)
    return Reply(outcome.status, body, HTML, page.html_headers(page.site.nonce))


async def _render(page: PageVisit, values: Values, status: int) -> bytes:
    """Return the document, with the placeholder where nonces belong."""
    plan = page.target.plan
    frame = page.site.frames[plan.view.id]
    state = page.state(plan, values, status=status)
    made: list[bytes] = []
    async with page.running.renderer.stream(plan.view.id, state) as parts:
        async for part in parts:
            made.append(part.html if made else frame.shell(part))
    made.append(frame.rest(state))
    return b"".join(made)
