"""The representations of a page for browsers: HTML or payload, and the not-found page.

Each defines how its hooks run, how it is rendered, and how its errors are rendered.
`fxtrio.serve.respond` runs them; `as_markdown` has another.
"""

from __future__ import annotations

from collections.abc import Awaitable

import trio

from fxtrio.application_errors import application_error
from fxtrio.errors import Busy, LoaderError, Redirect, ValueInvalid
from fxtrio.serve.pages.boundaries import show_boundary, show_failure, show_problem
from fxtrio.serve.pages.error_response import NOT_FOUND, log_failure, plain_problem, problem_of
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.pages.render import load_and_show
from fxtrio.serve.request.hooks import run_hooks
from fxtrio.serve.request.response.response import Answer, ResponseDraft, redirected
from fxtrio.serve.request.response.unwrap import unwrap
from fxtrio.serve.request.watchdog import DeadlinePassed, Watched


class PageRepresentation:
    """A page as HTML or, if the client router requests it, as its payload."""

    def cache_name(self, page: PageEvent) -> bytes:
        """Return the name of the representation for the response cache."""
        return b"navigation" if page.event.navigation else b"html"

    async def check_hooks(self, page: PageEvent) -> Answer | None:
        """Run the route hooks; None lets the visitor pass."""
        rejection = await run_hooks(
            page.site.hooks.before("page", "page"), page.request, page.event.audience
        )
        return (
            None if rejection is None else redirected(rejection, navigation=page.event.navigation)
        )

    def render(self, page: PageEvent, watched: Watched) -> Awaitable[Answer | None]:
        """Return the page, or the boundary that replaces it."""
        return load_and_show(page, watched)

    async def render_error(self, page: PageEvent, error: BaseException) -> Answer:
        """Render an error that a hook raised for the visitor; raise any other again."""
        known = unwrap(error, page.event.draft, page.place)
        if isinstance(known, Redirect):
            return redirected(known, navigation=page.event.navigation)
        if isinstance(known, (LoaderError, Busy, ValueInvalid)):
            return await show_failure(page, "", known, {}, admitted=False)
        raise error

    async def render_timeout(
        self, page: PageEvent, error: DeadlinePassed, source: str, *, admitted: bool
    ) -> Answer:
        """Render the timeout error, itself within a deadline."""
        with trio.move_on_after(page.site.config.timeouts.render):
            return await show_failure(page, source, error, {}, admitted=admitted)
        problem = problem_of(error, development=page.site.development)
        return plain_problem(page.site, page.event, problem)


class NotFoundRepresentation:
    """A not-found page, for an unmatched URL."""

    def cache_name(self, page: PageEvent) -> bytes:
        """Return an unused name: such pages are not cached."""
        return b"not-found"

    async def check_hooks(self, page: PageEvent) -> Answer | None:
        """Run the route hooks only if loaders would run that are not public.

        A rejected visitor gets the nearest view that does not need such loaders.
        """
        if page.target.plan.public:
            return None
        try:
            hooks = page.site.hooks.before("page", "not-found")
            if await run_hooks(hooks, page.request, page.event.audience) is None:
                return None
        except BaseException as raised:
            error = application_error(raised)
            log_failure(unwrap(error, ResponseDraft(), page.place), page.place)
        return await show_problem(page, "", NOT_FOUND, {}, admitted=False)

    async def render(self, page: PageEvent, watched: Watched) -> Answer | None:
        """Return the not-found view, or the built-in one if it fails."""
        document = await show_boundary(page, page.target.plan, {}, NOT_FOUND)
        return document or plain_problem(page.site, page.event, NOT_FOUND)

    async def render_error(self, page: PageEvent, error: BaseException) -> Answer:
        """Raise it again: only defects arrive here."""
        raise error

    async def render_timeout(
        self, page: PageEvent, error: DeadlinePassed, source: str, *, admitted: bool
    ) -> Answer:
        """Return the built-in page."""
        return plain_problem(page.site, page.event, NOT_FOUND)


PAGE = PageRepresentation()
NOT_FOUND_PAGE = NotFoundRepresentation()
