"""The one way from a matched page to its answer, for every form of it.

Watch, ask the hooks, look into the cache, load and show, or say that it took too long.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

from fxtrio.application_errors import application_error
from fxtrio.serve.cache.response_cache import ResponseCache
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.request.response.response import NOTHING, Answer
from fxtrio.serve.request.watchdog import DeadlinePassed, Watched


class Form(Protocol):
    """One form of a page. Shared by all requests: what a request has is in the `PageEvent`."""

    def stored_as(self, page: PageEvent) -> bytes:
        """Return the name of the form for the response cache."""
        ...

    async def ask(self, page: PageEvent) -> Answer | None:
        """Run the route hooks, where there are any, and return how they refuse; None lets pass."""
        ...

    def make(self, page: PageEvent, watched: Watched) -> Awaitable[Answer | None]:
        """Run the loaders and return what they show; None when the page has no such form."""
        ...

    async def fail(self, page: PageEvent, error: BaseException) -> Answer:
        """Return what is shown of an error that application code raised, or raise it again."""
        ...

    async def late(
        self, page: PageEvent, error: DeadlinePassed, source: str, *, admitted: bool
    ) -> Answer:
        """Return what is shown when the request, or the loader of ``source``, took too long."""
        ...


async def respond(page: PageEvent, form: Form, *, cache: ResponseCache | None) -> Answer | None:
    """Return the answer in ``form``; None when the page has no such form."""
    refused = page.event.refused
    if cache is not None and refused is None and not page.site.hooks.pages:
        stored = cache.find(page, form.stored_as(page))
        if stored is not None:  # without a scope or a task
            return stored
    admitted = False
    limit = page.site.config.timeouts.request
    with page.running.watchdog.watch(page.event.receive, limit=limit) as watched:
        try:
            if refused is not None:
                raise refused
            if page.site.hooks.pages:
                refusal = await form.ask(page)
                if refusal is not None:
                    return refusal
            admitted = True
            page.event.audience.admit(page.event.draft)
            stored = None if cache is None else await cache.obtain(page, form.stored_as(page))
            return stored or await form.make(page, watched)
        except BaseException as raised:
            return await form.fail(page, application_error(raised))
    if watched.gone:
        return NOTHING
    late = watched.culprit
    if late is not None:
        passed = DeadlinePassed(late.place, late.timeout)
        return await form.late(page, passed, late.source, admitted=True)
    return await form.late(page, DeadlinePassed(page.place, limit), "", admitted=admitted)
