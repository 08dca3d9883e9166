"""Produces the response of a matched page, in every representation.

The steps: watchdog, route hooks, cache, loaders and render, or the timeout response.
"""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import Protocol

import trio

from fxtrio.application_errors import application_error
from fxtrio.serve.cache.response_cache import ResponseCache
from fxtrio.serve.cache.static_pages import StaticPage
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
    page: PageEvent,
    representation: Representation,
    cache: ResponseCache | None,
    static: StaticPage | None = None,
) -> Answer | None:
    """Return the answer in ``representation``; None when the page is not in it.

    ``static`` is the page as the build has rendered it, if it has.
    """
    rejection = page.event.rejection
    if static is not None and rejection is None and not page.site.hooks.pages:
        return static.reply(page)
    if cache is not None and rejection is None and not page.site.hooks.pages:
        stored = cache.find(page, representation.cache_name(page))
        if stored is not None:  # without a scope or a task
            return stored
    admitted = False
    limit, event = page.event.timeout, page.event
    watched = page.running.watchdog.watch(event.receive, limit, event.server)
    try:
        with watched:
            answer = None
            try:
                if rejection is not None:
                    raise rejection
                if page.site.hooks.pages:
                    answer = await representation.check_hooks(page)
                if answer is None:
                    admitted = True
                    if event.audience is not event.terms.audience:
                        event.audience.admit(event.draft)
                    if static is not None:
                        answer = static.reply(page)
                    elif cache is not None:
                        answer = await cache.obtain(page, representation.cache_name(page))
                    answer = answer or await representation.render(page, watched)
            except BaseException as raised:
                answer = await representation.render_error(page, application_error(raised))
            if watched.interrupted:
                await trio.lowlevel.checkpoint()
            return answer
    except BaseException:
        if watched.interrupted:
            event.otherwise = partial(_answer_cancelled, page, representation, watched, admitted)
        raise
    return await _answer_cancelled(page, representation, watched, admitted)


async def _answer_cancelled(
    page: PageEvent, representation: Representation, watched: Watched, admitted: bool
) -> Answer:
    """Return the answer in place of work that was cancelled."""
    if watched.disconnected:
        return NOTHING
    timed_out = watched.culprit
    if timed_out is not None:
        passed = DeadlinePassed(timed_out.place, timed_out.timeout)
        return await representation.render_timeout(page, passed, timed_out.source, admitted=True)
    return await representation.render_timeout(
        page, DeadlinePassed(page.place, page.event.timeout), "", admitted=admitted
    )
