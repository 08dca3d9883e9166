"""Produces the response of a matched page, in every representation.

The steps: watchdog, route hooks, cache, loaders and render, or the timeout response.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

from fxtrio.application_errors import application_error
from fxtrio.serve.cache.response_cache import ResponseCache
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.request.response.response import NOTHING, Answer
from fxtrio.serve.request.watchdog import DeadlinePassed, Watched


class Representation(Protocol):
    """A representation of pages. All requests share it: their state is in the `PageEvent`."""

    def cache_name(self, page: PageEvent) -> bytes:
        """Return the name of the representation for the response cache."""
        ...

    async def check_hooks(self, page: PageEvent) -> Answer | None:
        """Run the route hooks, if any; return the response of one that rejects, else None."""
        ...

    def render(self, page: PageEvent, watched: Watched) -> Awaitable[Answer | None]:
        """Run the loaders and render; None if the page has no such representation."""
        ...

    async def render_error(self, page: PageEvent, error: BaseException) -> Answer:
        """Return the response to an error of application code, or raise it again."""
        ...

    async def render_timeout(
        self, page: PageEvent, error: DeadlinePassed, source: str, *, admitted: bool
    ) -> Answer:
        """Return the response when the request, or the loader of ``source``, timed out."""
        ...


async def respond(
    page: PageEvent, representation: Representation, *, cache: ResponseCache | None
) -> Answer | None:
    """Return the answer in ``representation``; None when the page has no such form."""
    rejection = page.event.rejection
    if cache is not None and rejection is None and not page.site.hooks.pages:
        stored = cache.find(page, representation.cache_name(page))
        if stored is not None:  # without a scope or a task
            return stored
    admitted = False
    limit = page.event.timeout
    with page.running.watchdog.watch(page.event.receive, limit=limit) as watched:
        try:
            if rejection is not None:
                raise rejection
            if page.site.hooks.pages:
                response = await representation.check_hooks(page)
                if response is not None:
                    return response
            admitted = True
            page.event.audience.admit(page.event.draft)
            stored = (
                None if cache is None else await cache.obtain(page, representation.cache_name(page))
            )
            return stored or await representation.render(page, watched)
        except BaseException as raised:
            return await representation.render_error(page, application_error(raised))
    if watched.disconnected:
        return NOTHING
    timed_out = watched.culprit
    if timed_out is not None:
        passed = DeadlinePassed(timed_out.place, timed_out.timeout)
        return await representation.render_timeout(page, passed, timed_out.source, admitted=True)
    return await representation.render_timeout(
        page, DeadlinePassed(page.place, limit), "", admitted=admitted
    )
