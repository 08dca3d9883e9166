"""The forms in which a page answers a browser: HTML or payload, and the not-found page.

Each says how the hooks are asked for it, how it is made, and how it shows what went wrong.
`fxtrio.serve.respond` runs them; Markdown is another (`as_markdown`).
"""

from __future__ import annotations

from collections.abc import Awaitable

import trio

from fxtrio.application_errors import application_error
from fxtrio.errors import Busy, LoaderError, Redirect, ValueRefused
from fxtrio.serve.pages.boundaries import show_boundary, show_failure, stand_in
from fxtrio.serve.pages.error_response import NOT_FOUND, log_failure, plain_problem, problem_of
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.pages.render import load_and_show
from fxtrio.serve.request.hooks import run_hooks
from fxtrio.serve.request.response.response import Answer, ResponseDraft, redirected
from fxtrio.serve.request.response.unwrap import unwrap
from fxtrio.serve.request.watchdog import DeadlinePassed, Watched


class PageForm:
    """A page as HTML or, when the client router asks, as its payload."""

    def stored_as(self, page: PageEvent) -> bytes:
        """Return the name of the form for the response cache."""
        return b"navigation" if page.event.navigation else b"html"

    async def ask(self, page: PageEvent) -> Answer | None:
        """Run the route hooks; None lets the visitor pass."""
        refusal = await run_hooks(
            page.site.hooks.before("page", "page"), page.request, page.event.audience
        )
        return None if refusal is None else redirected(refusal, navigation=page.event.navigation)

    def make(self, page: PageEvent, watched: Watched) -> Awaitable[Answer | None]:
        """Return the page, or what stands in for it."""
        return load_and_show(page, watched=watched)

    async def fail(self, page: PageEvent, error: BaseException) -> Answer:
        """Show what a hook raised for the visitor; anything else is raised again."""
        known = unwrap(error, page.event.draft, page.place)
        if isinstance(known, Redirect):
            return redirected(known, navigation=page.event.navigation)
        if isinstance(known, (LoaderError, Busy, ValueRefused)):
            return await show_failure(page, "", known, {}, admitted=False)
        raise error

    async def late(
        self, page: PageEvent, error: DeadlinePassed, source: str, *, admitted: bool
    ) -> Answer:
        """Show that the request took too long; that, too, has a deadline."""
        with trio.move_on_after(page.site.config.timeouts.render):
            return await show_failure(page, source, error, {}, admitted=admitted)
        problem = problem_of(error, development=page.site.development)
        return plain_problem(page.site, page.event, problem)


class NotFoundForm:
    """A not-found page, for a URL that nothing answers."""

    def stored_as(self, page: PageEvent) -> bytes:
        """Return a name that is not used: no cache is asked for such pages."""
        return b"not-found"

    async def ask(self, page: PageEvent) -> Answer | None:
        """Ask the route hooks only where loaders would run that are not public.

        Whom they refuse gets the nearest view that can do without such loaders.
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
        return await stand_in(page, "", NOT_FOUND, {}, admitted=False)

    async def make(self, page: PageEvent, watched: Watched) -> Answer | None:
        """Return the not-found view, or the built-in one when it fails."""
        shown = await show_boundary(page, page.target.plan, {}, NOT_FOUND)
        return shown or plain_problem(page.site, page.event, NOT_FOUND)

    async def fail(self, page: PageEvent, error: BaseException) -> Answer:
        """Raise it again: nothing but a defect gets here."""
        raise error

    async def late(
        self, page: PageEvent, error: DeadlinePassed, source: str, *, admitted: bool
    ) -> Answer:
        """Return the built-in page."""
        return plain_problem(page.site, page.event, NOT_FOUND)


PAGE = PageForm()
NOT_FOUND_PAGE = NotFoundForm()
