"""`/llms.txt`: the pages of the app that are open to the visitor."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from urllib.parse import quote

import trio
from starlette.requests import Request
from starlette.types import Scope

from fxtrio.application_errors import application_error
from fxtrio.errors import LoaderError
from fxtrio.markdown import LlmsPageInfo, render_llms_txt
from fxtrio.routes.matched import SCOPE_KEY
from fxtrio.serve.pages.error_response import log_failure
from fxtrio.serve.pages.markdown.representation import failed, match_page
from fxtrio.serve.pages.markdown.sources import SiteMarkdown
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.event import PagePath
from fxtrio.serve.request.hook_evaluations import Evaluation, Evaluations, ListingBusy
from fxtrio.serve.request.hooks import run_page_hooks
from fxtrio.serve.request.requests import PageRequest
from fxtrio.serve.request.response.error_response import busy, error_reply
from fxtrio.serve.request.response.response import NO_STORE, Answer, Reply, ResponseDraft
from fxtrio.serve.request.response.unwrap import unwrap
from fxtrio.serve.request.watchdog import DeadlinePassed

_PLAIN = b"text/plain; charset=utf-8"


async def answer_llms_txt(
    site: Site,
    markdown: SiteMarkdown,
    request: Request,
    evaluations: Evaluations,
    *,
    limit: float,
) -> Answer:
    """Return `/llms.txt` within ``limit`` seconds.

    Errors of the application's hook are logged, and the response is 500.
    """

    def has_markdown(path: str) -> bool:
        known = markdown.promising.get(path)
        if known is None:
            match = match_page(site, path)
            known = match is not None and markdown.sources(site.plans[match[0].view]).promising
            markdown.promising[path] = known
        return known

    with trio.CancelScope(deadline=trio.current_time() + limit):
        try:
            opened = await _open_pages(site, markdown, request, evaluations)
            text = await render_llms_txt(
                request,
                opened,
                name=site.config.name,
                base_url=quote(site.base_url),
                has_markdown=has_markdown,
                hook=markdown.llms_txt,
            )
        except ListingBusy as full:
            return error_reply(busy(full))
        except BaseException as raised:
            error = unwrap(application_error(raised), request.state.response, "llms_txt()")
            return failed(site, error, "llms_txt()")
        return Reply(200, text.encode(), _PLAIN, [NO_STORE])
    return failed(site, DeadlinePassed("/llms.txt", limit), "llms_txt()")


async def _open_pages(
    site: Site, markdown: SiteMarkdown, request: Request, evaluations: Evaluations
) -> tuple[LlmsPageInfo, ...]:
    """Return the pages that the hooks open to a request. Raises ListingBusy."""
    if not site.hooks.pages:
        return tuple(markdown.pages)
    evaluate = partial(_ask_hooks, site, markdown, request)
    opened = await evaluations.ask("/llms.txt", request.scope, evaluate)
    return tuple(page for page in markdown.pages if page.path in opened)


async def _ask_hooks(site: Site, markdown: SiteMarkdown, request: Request) -> Evaluation:
    """Return the paths of the pages that the hooks open to a request. Loaders do not run.

    Each page has its own ``request.state``, separate from that of the request.
    """
    opened = []
    reusable = True
    for page in markdown.pages:
        match = match_page(site, page.path)
        if match is None:
            continue
        draft = ResponseDraft()
        state = {**request.scope["state"], "response": draft}
        scope = {**request.scope, "state": state, "path_params": match[1], "query_string": b""}
        scope[SCOPE_KEY] = site.matched["markdown", match[0].pattern]
        try:
            rejection = await run_page_hooks(
                site.hooks,
                scope,
                PagePath(page.path),
                _connecting(request),
                site.terms.audience,
            )
        except BaseException as raised:
            place = f"a route hook, called for {page.path}"
            error = unwrap(application_error(raised), draft, place)
            if not isinstance(error, LoaderError):
                log_failure(error, place)
        else:
            if rejection is None:
                opened.append(page.path)
        reusable = reusable and not draft.raw_headers
    return Evaluation(frozenset(opened), reusable)


def _connecting(request: Request) -> Callable[[Scope], Request]:
    """Return a function that builds a request from another scope."""
    return lambda scope: PageRequest(scope, request.receive)
