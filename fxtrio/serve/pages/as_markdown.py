"""Pages as Markdown and `/llms.txt`: what the request and the build know, for `fxtrio.markdown`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes

import trio
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from fxtrio.errors import DeadlinePassed, LoaderError, Redirect
from fxtrio.manifest import ApiRoute, Manifest, PageRoute
from fxtrio.markdown import (
    MEDIA_TYPE,
    LlmsPageInfo,
    MarkdownContext,
    MarkdownHook,
    MarkdownSources,
    list_pages,
    literal,
    nearest_llms,
    prefers_markdown,
    render_llms_txt,
    resolve_markdown,
)
from fxtrio.markdown.paths import page_path
from fxtrio.routes.matched import SCOPE_KEY
from fxtrio.serve.pages.failure import log_failure, problem_of
from fxtrio.serve.pages.loaders import Failed, Loaded, Values, load, unwrap
from fxtrio.serve.pages.page import PageVisit
from fxtrio.serve.pages.payload import ViewPlan, encode_params, encode_requested
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.connection import PageRequest
from fxtrio.serve.request.event import PagePath, Visit
from fxtrio.serve.request.hooks import run_page_hooks
from fxtrio.serve.request.reply import NO_STORE, Answer, Header, Reply, ResponseDraft, Sent

_MEDIA = MEDIA_TYPE.encode()
_PLAIN = b"text/plain; charset=utf-8"


class Agents:
    """The Markdown side of one app, prepared when it is made."""

    def __init__(
        self,
        manifest: Manifest,
        *,
        root: Path,
        pages_dir: str,
        llms: Mapping[str, Mapping[str, Any]],
    ) -> None:
        """``llms`` holds the names of each imported `llms.py`, by its source."""
        self._texts = {
            page: (root / file).read_text("utf-8") for page, file in manifest.markdown.items()
        }
        self._llms = llms
        self._files = manifest.llms
        top = manifest.llms.get(pages_dir, "")
        self._top = {
            name: MarkdownHook(f"{top}: {name}()", llms[top][name])
            for name in ("llms_txt", "wrap_markdown")
            if top and callable(llms[top].get(name))
        }
        self.pages = list_pages(route.pattern for route in manifest.routes)
        self._ladders: dict[int, MarkdownSources] = {}

    def sources(self, site: Site, plan: ViewPlan) -> MarkdownSources:
        """Return the ladder of a page; it is the same for every request."""
        known = self._ladders.get(plan.view.id)
        if known is None:
            known = self._ladders[plan.view.id] = self._make_ladder(site, plan)
        return known

    def _make_ladder(self, site: Site, plan: ViewPlan) -> MarkdownSources:
        source = plan.view.module
        hooks: list[MarkdownHook] = []
        if plan.inner.to_markdown is not None:
            hooks.append(MarkdownHook(f"{source}: to_markdown()", plan.inner.to_markdown))
        for file in nearest_llms(source, dict(self._files)):
            function = self._llms[file].get("to_markdown")
            if callable(function):
                hooks.append(MarkdownHook(f"{file}: to_markdown()", function))
        return MarkdownSources(
            text=self._texts.get(source),
            hooks=tuple(hooks),
            auto_convert=site.config.llms.auto_convert,
            wrap=self._top.get("wrap_markdown"),
        )

    async def answer_llms_txt(self, site: Site, request: Request) -> Answer:
        """Return `/llms.txt`. Errors of the hook are logged and answered with 500."""

        def has_markdown(path: str) -> bool:
            match = _match_page(site, path)
            return match is not None and self.sources(site, site.plans[match[0].view]).promising

        limit = site.config.timeouts.request
        with trio.CancelScope(deadline=trio.current_time() + limit):
            try:
                text = await render_llms_txt(
                    request,
                    await self._open_pages(site, request),
                    name=site.config.name,
                    base_url=site.config.base_url,
                    has_markdown=has_markdown,
                    hook=self._top.get("llms_txt"),
                )
            except Exception as error:  # application code
                return _failed(site, unwrap(error), "llms_txt()")
            return Reply(200, text.encode(), _PLAIN, [NO_STORE])
        return _failed(site, DeadlinePassed("/llms.txt", limit), "llms_txt()")

    async def _open_pages(self, site: Site, request: Request) -> tuple[LlmsPageInfo, ...]:
        """Return the pages that the hooks open to a request. No loader runs for it.

        What hooks keep on ``request.state`` for a page is not the request's own.
        """
        opened: list[LlmsPageInfo] = []
        for page in self.pages:
            match = _match_page(site, page.path)
            if match is None:
                continue
            state = {**request.scope["state"], "response": ResponseDraft()}
            scope = {**request.scope, "state": state, "path_params": match[1], "query_string": b""}
            scope[SCOPE_KEY] = site.matched["markdown", match[0].pattern]
            path = PagePath.of(page.path)
            try:
                refusal = await run_page_hooks(
                    site, scope, path, _connecting(request), site.one_visitor
                )
            except Exception as error:  # application code
                if not isinstance(unwrap(error), LoaderError):
                    log_failure(error, f"a route hook, asked for {page.path}")
                continue
            if refusal is None:
                opened.append(page)
        return tuple(opened)

    async def answer_page(self, site: Site, page: PageVisit, path: PagePath) -> Answer | None:
        """Return the page's Markdown, None when every source declines.

        Guarded and bounded in time like the page itself.
        """
        limit = site.config.timeouts.request
        place = page.target.plan.view.module
        cache = page.running.cache
        with page.running.watchdog.watch(page.visit.receive, limit=limit) as watched:
            try:
                refusal = await run_page_hooks(
                    site, page.visit.scope, path, page.visit.connect, page.visit.audience
                )
                if isinstance(refusal, Redirect):
                    return _redirected(refusal)
                if refusal is not None:
                    return refusal
                page.visit.audience.admit(page.visit.draft)
                kept = None if cache is None else await cache.obtain(page, b"markdown")
                return kept or await self._resolve(site, page, path.path)
            except Redirect as redirect:
                return Response(status_code=redirect.status, headers={"location": redirect.url})
            except Exception as error:  # application code
                return _failed(site, unwrap(error), place)
        return Sent() if watched.gone else _failed(site, DeadlinePassed(place, limit), place)

    async def _resolve(self, site: Site, page: PageVisit, path: str) -> Answer | None:
        plan = page.target.plan
        status = 200  # the page's own, as soon as its loader has run

        async def run(loaders: list[Any]) -> Values:
            nonlocal status
            loaded = await _loaded(page, loaders)
            status = loaded.status
            return loaded.values

        async def run_loader() -> Any:
            loader = plan.inner.loader
            return {} if loader is None else (await run([loader]))[loader.source]

        async def render_html() -> str:
            state = site.encoder.encode(
                plan,
                await run(list(plan.loaders)),
                route=page.target.route,
                requested=encode_requested(site.config.base_url + path),
                params=encode_params(page.target.params),
                status=status,
                nonce=b"",  # no script runs in Markdown, and the placeholder is a secret
            )
            rendered = await page.running.renderer.render(plan.view.id, state)
            return str(rendered.html, "utf-8")

        context = MarkdownContext(page.request, path, load=run_loader, render=render_html)
        text = await resolve_markdown(context, self.sources(site, plan))
        if text is None:
            return None
        headers: list[Header] = [NO_STORE, site.vary]
        return Reply(status, text.encode(), _MEDIA, headers)


async def _loaded(page: PageVisit, loaders: list[Any]) -> Loaded:
    """Run loaders for a hook; what they end in otherwise is raised in it."""
    outcome = await load(loaders, page.request, page=page.target.plan.view.module)
    if isinstance(outcome, Redirect):
        raise outcome
    if isinstance(outcome, Failed):
        raise outcome.error
    return outcome


def _connecting(request: Request) -> Callable[[Scope], Request]:
    """Return what makes a request of another scope."""
    return lambda scope: PageRequest(scope, request.receive)


def _redirected(refusal: Redirect) -> Answer:
    """Return what an agent gets of a page whose hook redirects.

    Hooks send visitors elsewhere with 303, mostly to sign in: that page is not what the
    agent has asked for, so it is told in words. Other redirects say where the page is.
    """
    if refusal.status != 303:
        return Response(status_code=refusal.status, headers={"location": refusal.url})
    url = refusal.url.replace("<", "%3C").replace(">", "%3E")
    text = f"# 401\n\nThis page is not open to you. Visitors are sent to <{url}>.\n"
    return Reply(401, text.encode(), _MEDIA, [NO_STORE])


def _failed(site: Site, error: BaseException, place: str) -> Reply:
    """Return a failure as text: agents read it, and it is never a silent redirect."""
    log_failure(error, place)
    problem = problem_of(error, development=site.development)
    text = f"# {problem.status}\n\n{literal(problem.message)}\n"
    return Reply(problem.status, text.encode(), _MEDIA, [NO_STORE])


def wants_markdown(visit: Visit) -> bool:
    """Whether the `Accept` header prefers Markdown to HTML."""
    accept = visit.headers.get(b"accept")
    return accept is not None and prefers_markdown(accept.decode("latin-1"))


def page_of_markdown(visit: Visit) -> PagePath | None:
    """Return where the page is whose Markdown a URL may name; None when it names none."""
    page = page_path(visit.path)
    if page is None:
        return None
    raw = visit.raw_path
    if raw is None:
        return PagePath.of(page)
    folder, _, name = raw.rpartition(b"/")
    name = quote(unquote_to_bytes(name).removesuffix(b".md"), safe="").encode()
    return PagePath(page, folder + b"/" + name)


def _match_page(site: Site, path: str) -> tuple[PageRoute, dict[str, str]] | None:
    """Return the page at ``path`` and its parameters."""
    match = site.router.match(path)
    return None if match is None or isinstance(match[0], ApiRoute) else (match[0], match[1])
