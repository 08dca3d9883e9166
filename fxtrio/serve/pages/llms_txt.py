"""`/llms.txt`: the pages of the app that are open to who asks."""

from __future__ import annotations

from collections.abc import Callable

import trio
from starlette.requests import Request
from starlette.types import Scope

from fxtrio.errors import LoaderError
from fxtrio.markdown import LlmsPageInfo, render_llms_txt
from fxtrio.routes.matched import SCOPE_KEY
from fxtrio.serve.pages.as_markdown import failed, match_page
from fxtrio.serve.pages.failure import log_failure
from fxtrio.serve.pages.markdown_sources import SiteMarkdown
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.connection import PageRequest
from fxtrio.serve.request.event import PagePath
from fxtrio.serve.request.hooks import run_page_hooks
from fxtrio.serve.request.raised import unwrap
from fxtrio.serve.request.reply import NO_STORE, Answer, Reply, ResponseDraft
from fxtrio.serve.request.watchdog import DeadlinePassed

_PLAIN = b"text/plain; charset=utf-8"


async def answer_llms_txt(site: Site, markdown: SiteMarkdown, request: Request) -> Answer:
    """Return `/llms.txt`. Errors of the application's hook are logged and answered with 500."""

    def has_markdown(path: str) -> bool:
        known = markdown.promising.get(path)
        if known is None:
            match = match_page(site, path)
            known = match is not None and markdown.sources(site.plans[match[0].view]).promising
            markdown.promising[path] = known
        return known

    limit = site.config.timeouts.request
    with trio.CancelScope(deadline=trio.current_time() + limit):
        try:
            text = await render_llms_txt(
                request,
                await _open_pages(site, markdown, request),
                name=site.config.name,
                base_url=site.config.base_url,
                has_markdown=has_markdown,
                hook=markdown.llms_txt,
            )
        except Exception as error:  # application code
            return failed(site, unwrap(error, request.state.response), "llms_txt()")
        return Reply(200, text.encode(), _PLAIN, [NO_STORE])
    return failed(site, DeadlinePassed("/llms.txt", limit), "llms_txt()")


async def _open_pages(
    site: Site, markdown: SiteMarkdown, request: Request
) -> tuple[LlmsPageInfo, ...]:
    """Return the pages that the hooks open to a request. No loader runs for it.

    What hooks keep on ``request.state`` for a page is not the request's own.
    """
    if not site.hooks.pages:
        return tuple(markdown.pages)
    opened: list[LlmsPageInfo] = []
    for page in markdown.pages:
        match = match_page(site, page.path)
        if match is None:
            continue
        state = {**request.scope["state"], "response": ResponseDraft()}
        scope = {**request.scope, "state": state, "path_params": match[1], "query_string": b""}
        scope[SCOPE_KEY] = site.matched["markdown", match[0].pattern]
        try:
            refusal = await run_page_hooks(
                site.hooks,
                scope,
                PagePath(page.path),
                _connecting(request),
                site.terms.audience,
            )
        except Exception as error:  # application code
            if not isinstance(unwrap(error, state["response"]), LoaderError):
                log_failure(error, f"a route hook, asked for {page.path}")
            continue
        if refusal is None:
            opened.append(page)
    return tuple(opened)


def _connecting(request: Request) -> Callable[[Scope], Request]:
    """Return what makes a request of another scope."""
    return lambda scope: PageRequest(scope, request.receive)
