"""A page as Markdown, for agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, unquote_to_bytes

import msgspec
import trio
from starlette.responses import Response

from fxtrio.asgi_extensions import SAFE_IN_PATHS
from fxtrio.errors import Busy, Redirect
from fxtrio.manifest import ApiRoute, PageRoute
from fxtrio.markdown import (
    MEDIA_TYPE,
    MarkdownContext,
    literal,
    prefers_markdown,
    resolve_markdown,
)
from fxtrio.markdown.paths import page_path
from fxtrio.serve.pages.deferred.values import deferred_in, settle
from fxtrio.serve.pages.error_response import log_failure, problem_of
from fxtrio.serve.pages.loaders import Failed, Loaded, Values, load
from fxtrio.serve.pages.markdown.sources import SiteMarkdown
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.pages.payload import Content, Location, encode_params, encode_requested
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.event import PagePath, RequestEvent
from fxtrio.serve.request.hooks import run_page_hooks
from fxtrio.serve.request.response.error_response import retry_after_header
from fxtrio.serve.request.response.response import NO_STORE, Answer, Header, Reply
from fxtrio.serve.request.response.translated import translated
from fxtrio.serve.request.response.unwrap import unwrap
from fxtrio.serve.request.watchdog import DeadlinePassed, Watched
from fxtrio.spans import span

_MEDIA = MEDIA_TYPE.encode()


class MarkdownRepresentation(msgspec.Struct, frozen=True):
    """The Markdown of one page; there is none if every source declines."""

    markdown: SiteMarkdown
    path: PagePath
    """The page's own, without ``.md``."""

    def cache_name(self, page: PageEvent) -> bytes:
        """Return the name of the representation for the response cache."""
        return b"markdown"

    async def check_hooks(self, page: PageEvent) -> Answer | None:
        """Run the hooks as for the page itself; None accepts the request."""
        event = page.event
        rejection = await run_page_hooks(
            page.site.hooks, event.scope, self.path, event.connect, event.audience
        )
        return _redirected(rejection) if isinstance(rejection, Redirect) else rejection

    async def render(self, page: PageEvent, watched: Watched) -> Answer | None:
        """Return the Markdown of the first source that does not decline."""
        site, plan = page.site, page.target.plan
        status = 200  # the page's own, as soon as its loader has run
        values: Values = {}
        running = False  # the loader alone, or all of them: each loader runs once
        waiting: list[trio.Event] = []

        async def run(loaders: Sequence[Any]) -> Values:
            nonlocal status, running
            while running:  # a hook may await both at once
                waiting.append(trio.Event())
                await waiting[-1].wait()
            missing = [one for one in loaders if one.source not in values] if values else loaders
            if not missing:
                return values
            running = True
            try:
                loaded = await _loaded(page, missing, watched)
                values.update(loaded.values)
                if plan.inner.loader in missing:
                    status = loaded.status
            finally:
                running = False
                while waiting:
                    waiting.pop().set()
            return values

        async def run_loader() -> Any:
            loader = plan.inner.loader
            return {} if loader is None else (await run((loader,)))[loader.source]

        async def render_html() -> str:
            values = await run(plan.loaders)
            requested = encode_requested(site.base_url + self.path.path)
            location = Location(page.target.route, requested, encode_params(page.target.params))
            # Without a nonce: no script runs in Markdown, and the placeholder is a secret.
            payload = site.encoder.encode(plan, Content(values, status), location)
            with span("render", plan.view.module):
                rendered = await page.running.renderer.render(plan.view.id, payload)
            return str(rendered.html, "utf-8")

        context = MarkdownContext(page.request, self.path.path, load=run_loader, render=render_html)
        text = await resolve_markdown(context, self.markdown.sources(plan))
        if text is None:
            return None
        # Its patterns take long to compile, and most servers are asked for no Markdown.
        from fxtrio.markdown.links import based_links

        text = based_links(text, quote(site.base_url, safe=SAFE_IN_PATHS))
        return Reply(status, text.encode(), _MEDIA, None, site.markdown_lines)

    async def render_error(self, page: PageEvent, error: BaseException) -> Answer:
        """Return the failure as text; a redirect as a redirect."""
        known = unwrap(error, page.event.draft, page.place)
        if isinstance(known, Redirect):
            return Response(status_code=known.status, headers={"location": known.url})
        return failed(page.site, known, page.place)

    async def render_timeout(
        self, page: PageEvent, error: DeadlinePassed, source: str, *, admitted: bool
    ) -> Answer:
        """Return as text that it took too long."""
        return failed(page.site, error, page.place)


async def _loaded(page: PageEvent, loaders: Sequence[Any], watched: Watched) -> Loaded:
    """Run loaders for a hook; a redirect or failure is raised in it.

    One runs at a time, so that a single loader may have its deadline from ``watched``.
    """
    outcome = await load(loaders, page.request, page=page.place, watched=watched)
    if isinstance(outcome, Loaded) and deferred_in(outcome.values):
        outcome = await settle(page, outcome)
    if isinstance(outcome, Redirect):
        raise outcome
    if isinstance(outcome, Failed):
        raise outcome.error
    return outcome


def _redirected(rejection: Redirect) -> Answer:
    """Return the response to an agent for a page whose hook redirects.

    Hooks redirect with 303 mostly to sign in. That page is not the one that the agent
    requested, so it gets a text instead. Other redirects name the location of the page.
    """
    if rejection.status != 303:
        return Response(status_code=rejection.status, headers={"location": rejection.url})
    url = rejection.url.replace("<", "%3C").replace(">", "%3E")
    text = f"# 401\n\nYou may not see this page. Visitors are redirected to <{url}>.\n"
    return Reply(401, text.encode(), _MEDIA, [NO_STORE])


def failed(site: Site, error: BaseException, place: str) -> Reply:
    """Return a failure as text: agents read it, and it is never a silent redirect."""
    problem = problem_of(error, development=site.development)
    log_failure(error, place)
    text = f"# {problem.status}\n\n{literal(translated(problem.message))}\n"
    headers: list[Header] = [NO_STORE]
    if isinstance(error, Busy):
        headers.append(retry_after_header(problem.retry_after))
    return Reply(problem.status, text.encode(), _MEDIA, headers)


def wants_markdown(event: RequestEvent) -> bool:
    """Whether the `Accept` header prefers Markdown to HTML."""
    accept = event.headers.get(b"accept")
    return accept is not None and prefers_markdown(accept.decode("latin-1"))


def page_of_markdown(event: RequestEvent) -> PagePath | None:
    """Return where the page is whose Markdown a URL may name; None when it names none."""
    page = page_path(event.path)
    if page is None:
        return None
    raw = event.raw_path
    if raw is None:
        return PagePath(page)
    folder, _, name = raw.rpartition(b"/")
    name = quote(unquote_to_bytes(name).removesuffix(b".md"), safe="").encode()
    return PagePath(page, folder + b"/" + name)


def match_page(site: Site, path: str) -> tuple[PageRoute, dict[str, str]] | None:
    """Return the page at ``path`` and its parameters."""
    match = site.router.match(path)
    return None if match is None or isinstance(match[0], ApiRoute) else (match[0], match[1])
