"""Error boundaries: the nearest one is rendered in place of a page, or the built-in page."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from fxtrio.application_errors import application_error
from fxtrio.errors import Busy, Redirect
from fxtrio.serve.pages.deferred.values import names_in, settle
from fxtrio.serve.pages.error_response import NOT_FOUND, log_failure, plain_problem, problem_of
from fxtrio.serve.pages.loaders import Failed, Loaded, Values, load
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.pages.payload import Content, PageProblem
from fxtrio.serve.pages.plan import ViewPlan
from fxtrio.serve.request.response.response import Answer, redirected


async def show_failure(
    page: PageEvent, source: str, error: BaseException, values: Values, *, admitted: bool = True
) -> Answer:
    """Render the nearest boundary that does not depend on what failed, or the built-in page.

    ``source`` is the layout or page whose loader failed, "" for another failure.
    Only public loaders run for a visitor whom the route hooks have not ``admitted``.
    """
    problem = problem_of(error, development=page.site.development)
    log_failure(error, source or page.place)
    if isinstance(error, Busy):
        return plain_problem(page.site, page.event, problem)
    return await show_problem(page, source, problem, values, admitted=admitted)


async def show_problem(
    page: PageEvent, source: str, problem: PageProblem, values: Values, *, admitted: bool
) -> Answer:
    """Render ``problem`` as `show_failure` does, without logging it."""
    for boundary in boundaries(page, problem):
        if source in boundary.view.layouts or not (admitted or boundary.public):
            continue
        reply = await show_boundary(page, boundary, values, problem)
        if reply is not None:
            return reply
    return plain_problem(page.site, page.event, problem)


async def show_boundary(
    page: PageEvent, boundary: ViewPlan, values: Values, problem: PageProblem
) -> Answer | None:
    """Show one boundary with the data of its layouts; None when it fails too.

    What has come is added to ``values``, for the next boundary.
    """
    missing = [loader for loader in boundary.loaders if loader.source not in values]
    outcome = await load(missing, page.request, page="")
    if isinstance(outcome, Redirect):
        return redirected(outcome, navigation=page.event.navigation)
    if not isinstance(outcome, Loaded):
        log_failure(outcome.error, outcome.source)
        return None
    values.update(outcome.values)
    sources = {code.module.source for code in boundary.chain}
    known = {source: data for source, data in values.items() if source in sources}
    names = names_in(known, boundary)
    if names:
        settled = await settle(page, Loaded(known, problem.status))
        values.update(settled.values)
        if isinstance(settled, Failed):
            return None
        known = settled.values
    if problem.status >= 500 and page.event.request_id:
        problem = replace(problem, request_id=page.event.request_id.decode())
    try:
        return await page.show(boundary, Content(known, problem.status, problem, promises=names))
    except BaseException as raised:  # an error page is application code too
        log_failure(application_error(raised), boundary.view.module)
        return None


def boundaries(page: PageEvent, problem: PageProblem) -> Iterator[ViewPlan]:
    """Yield the views that may replace a page, nearest folder first.

    Not-found views come first for a `NotFound` error, and last for another 404 of a page. For
    an unmatched URL they come before the error views of the same folder.
    """
    plans = page.site.plans
    view = page.target.plan.view
    ids = list(view.boundaries)
    if view.kind == "not-found":
        ids = sorted({*ids, *view.not_found}, key=lambda id: _nearness(plans[id]))
    elif problem.status == 404:
        ids = [*view.not_found, *ids] if problem.type == NOT_FOUND.type else [*ids, *view.not_found]
    return (plans[id] for id in ids if id != view.id)


def _nearness(plan: ViewPlan) -> tuple[int, int, int]:
    view = plan.view
    return -view.module.count("/"), 0 if view.kind == "not-found" else 1, -len(view.layouts)
