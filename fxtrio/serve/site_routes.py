"""What the router of a site finds for a path: a page in one of its representations, or an endpoint.

Called by `fxtrio.serve.dispatch` with what nothing else has answered.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator
from urllib.parse import quote

import msgspec
from starlette.responses import Response

from fxtrio.asgi_extensions import SAFE_IN_PATHS
from fxtrio.manifest import ApiRoute, PageRoute
from fxtrio.markdown.paths import markdown_path, page_path
from fxtrio.routes.matched import SCOPE_KEY, MatchedRoute
from fxtrio.routes.router import BELOW
from fxtrio.serve.app_state import Lifetime
from fxtrio.serve.endpoints import answer_api
from fxtrio.serve.pages.error_response import NOT_FOUND, plain_problem
from fxtrio.serve.pages.html.without_scripts import find_settled
from fxtrio.serve.pages.markdown.llms_txt import answer_llms_txt
from fxtrio.serve.pages.markdown.representation import (
    MarkdownRepresentation,
    page_of_markdown,
    wants_markdown,
)
from fxtrio.serve.pages.markdown.sources import SiteMarkdown
from fxtrio.serve.pages.page import PageEvent, Target, literal_target
from fxtrio.serve.pages.plan import ViewPlan
from fxtrio.serve.pages.representations import NOT_FOUND_PAGE, PAGE
from fxtrio.serve.pages.resources import Running
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.apply_route_policy import enter, enter_listing
from fxtrio.serve.request.event import PagePath, RequestEvent
from fxtrio.serve.request.hook_evaluations import Evaluations
from fxtrio.serve.request.response.error_response import (
    ErrorResponse,
    error_reply,
    to_error_response,
)
from fxtrio.serve.request.response.response import NOTHING, Answer, not_read
from fxtrio.serve.respond import respond

_READING = frozenset({"GET", "HEAD"})

_PAGE_LIKE = frozenset({b"document", b"empty", b"iframe", b"frame"})
"""Values of Sec-Fetch-Dest by which somebody sees the answer; others load parts of a page."""


class SitePage(msgspec.Struct, frozen=True, eq=False):
    """A page at its URL pattern: what all requests for it share, found once."""

    site: Site
    lifetime: Lifetime
    plan: ViewPlan
    route: PageRoute
    target: Target | None
    """What a path without parameters leads to; None for a pattern with parameters."""

    name: bytes
    """The pattern as JSON."""

    matched: MatchedRoute
    matched_markdown: MatchedRoute
    has_policy: bool
    """Whether the settings say anything of the route."""

    is_static: bool = False
    """Whether a build may have rendered it. Below a root path its URLs would be others."""

    url: bytes | None = None
    """The one path that leads to it, as it is sent; None if there are others."""

    def is_named_by(self, event: RequestEvent) -> bool:
        """Whether a request whose path is that of this page is for it.

        An encoded slash is part of a segment, and leads elsewhere.
        """
        return event.scope.get("raw_path") == self.url or event.raw_path is None

    async def _answer_by_policy(
        self, running: Running, event: RequestEvent, params: dict[str, str]
    ) -> Answer | None:
        policies, pattern = self.site.policies, self.route.pattern
        assert policies is not None
        answered = await enter(event, policies, pattern, called=False, count=running.count)
        # A rate limit that was exceeded shows in an error boundary.
        return answered or await self.answer(running, event, params, admitted=True)

    # Without a frame of its own, which each request would pay for.
    def answer(
        self,
        running: Running,
        event: RequestEvent,
        params: dict[str, str],
        *,
        admitted: bool = False,
    ) -> Awaitable[Answer | None]:
        """Return the page in the requested representation.

        ``admitted``: the settings of the route have been applied.
        """
        if self.has_policy and not admitted:
            return self._answer_by_policy(running, event, params)
        scope, markdown = event.scope, self.site.markdown
        if scope["method"] not in _READING:
            return _ready(not_read(scope["method"]))
        if scope["query_string"]:
            find_settled(event)
        page = self.open(running, event, params)
        if (
            b"accept" in event.headers
            and markdown is not None
            and not event.navigation
            and wants_markdown(event)
        ):
            return self._answer_markdown(page, markdown)
        scope[SCOPE_KEY] = self.matched
        pages = self.lifetime.static if self.is_static else None
        static = None if pages is None else pages.find(event)
        return respond(page, PAGE, self.lifetime.cache, static)

    async def _answer_markdown(self, page: PageEvent, markdown: SiteMarkdown) -> Answer | None:
        """Return the page's Markdown, or the page if it has none."""
        event, cache = page.event, self.lifetime.cache
        event.negotiated = True
        event.scope[SCOPE_KEY] = self.matched_markdown
        path = PagePath(event.path, event.raw_path)
        answer = await respond(page, MarkdownRepresentation(markdown, path), cache=cache)
        if answer is not None:
            return answer
        event.negotiated = False
        event.scope[SCOPE_KEY] = self.matched
        return await respond(page, PAGE, cache=cache)

    def open(self, running: Running, event: RequestEvent, params: dict[str, str]) -> PageEvent:
        """Return the request as one for this page."""
        event.scope["path_params"] = params
        target = self.target or Target(self.plan, self.name, params)
        return PageEvent(self.site, running, event, target, event.audience.connect(event.scope))


class SiteMarkdownPage(msgspec.Struct, frozen=True, eq=False):
    """The Markdown of a page at its own URL: what all requests for it share, found once."""

    page: SitePage
    representation: MarkdownRepresentation

    def is_named_by(self, event: RequestEvent) -> bool:
        """Whether a request whose path is that of this Markdown is for it, as for pages."""
        return event.raw_path is None

    async def answer(
        self, running: Running, event: RequestEvent, params: dict[str, str]
    ) -> Answer | None:
        """Return the Markdown; a redirect to the page if it has none."""
        page, policies = self.page, self.page.site.policies
        if page.has_policy:
            assert policies is not None
            pattern = page.route.pattern
            answered = await enter(event, policies, pattern, called=False, count=running.count)
            if answered is not None:
                return answered
        method = event.scope["method"]
        if method not in _READING:
            return not_read(method)
        opened = page.open(running, event, params)
        event.scope[SCOPE_KEY] = page.matched_markdown
        answer = await respond(opened, self.representation, cache=page.lifetime.cache)
        return answer or _moved(page.site, event, self.representation.path, status=307)


class SiteRoutes:
    """The routes of one site."""

    def __init__(self, site: Site, lifetime: Lifetime, evaluations: Evaluations) -> None:
        self.site = site
        self.lifetime = lifetime
        self.evaluations = evaluations
        routes = () if site.development else site.manifest.routes
        self.pages = {route.pattern: self._new_page(route) for route in routes}
        """By their patterns. In development, where they come and go, those that were requested."""

    def _page_of(self, route: PageRoute) -> SitePage:
        page = self.pages.get(route.pattern)
        if page is None:
            page = self.pages[route.pattern] = self._new_page(route)
        return page

    def _new_page(self, route: PageRoute) -> SitePage:
        site, policies, pattern = self.site, self.site.policies, route.pattern
        plan = site.plans[route.view]
        target = None if "[" in pattern else literal_target(site, plan, pattern)
        return SitePage(
            site,
            self.lifetime,
            plan,
            route,
            target,
            site.route_names[pattern],
            site.matched["page", pattern],
            site.matched["markdown", pattern],
            policies is not None and policies.of(pattern, called=False) is not None,
            plan.inner.module.static and not site.root,
            None if target is None else target.url,
        )

    @property
    def literal(self) -> Iterator[tuple[str, SitePage | SiteMarkdownPage]]:
        """Yield each path that leads to one page, with the page or its Markdown.

        In development there are none: a site is replaced by the next save.
        """
        markdown = self.site.markdown
        for pattern, page in self.pages.items():
            if page.target is None:
                continue
            yield pattern, page
            path = markdown_path(pattern)
            if markdown is not None and page_path(path) == pattern:
                representation = MarkdownRepresentation(markdown, PagePath(pattern))
                if path not in self.pages and not self.site.router.is_literal(path):
                    yield path, SiteMarkdownPage(page, representation)

    async def answer(self, running: Running, event: RequestEvent) -> Answer:
        """Return the answer of the route that the path matches, or that there is none."""
        site, path = self.site, event.path
        match = site.router.match(path, event.raw_path)
        # A parameter would take "5.md" for a value, so only a literal path comes before these.
        markdown = site.markdown
        if markdown is not None and (match is None or match[1]):
            answer = await self._answer_agent(markdown, running, event)
            if answer is not None:
                return answer
        if match is not None:
            return await self._answer_route(running, event, *match)
        canonical = site.router.canonical(path)
        if canonical is not None:
            return _moved(site, event, PagePath(canonical))
        if path == "*":  # OPTIONS of the server itself (RFC 9110, 9.3.7)
            return Response(status_code=204, headers={"allow": "GET, HEAD, POST, OPTIONS"})
        return await self._answer_not_found(running, event)

    async def _answer_route(
        self,
        running: Running,
        event: RequestEvent,
        route: PageRoute | ApiRoute,
        params: dict[str, str],
    ) -> Answer:
        site = self.site
        if not isinstance(route, ApiRoute):
            return await self._page_of(route).answer(running, event, params) or NOTHING
        if site.policies is not None:
            answered = await enter(
                event, site.policies, route.pattern, called=True, count=running.count
            )
            if event.rejection is not None:
                return error_reply(to_error_response(event.rejection))
            if answered is not None:
                return answered
        event.scope[SCOPE_KEY] = site.matched["api", route.pattern]
        return await answer_api(site, running, event, route.source, params)

    async def _answer_agent(
        self, markdown: SiteMarkdown, running: Running, event: RequestEvent
    ) -> Answer | None:
        """Return `/llms.txt` or a page's Markdown; None when the path is neither."""
        site = self.site
        method = event.scope["method"]
        readable = method in ("GET", "HEAD")
        if event.path == "/llms.txt":
            if not readable:
                return not_read(method)
            rejection = await enter_listing(event, site.policies, event.path, running.count)
            return rejection or await answer_llms_txt(
                site, markdown, event.request, self.evaluations, limit=event.timeout
            )
        path = page_of_markdown(event)
        match = site.router.match(path.path, path.sent) if path is not None else None
        if path is None or match is None or isinstance(match[0], ApiRoute):
            return None
        found = SiteMarkdownPage(self._page_of(match[0]), MarkdownRepresentation(markdown, path))
        return await found.answer(running, event, match[1])

    async def _answer_not_found(self, running: Running, event: RequestEvent) -> Answer:
        site = self.site
        # With an empty segment, or one of dots, it lies in no folder but the root.
        found = site.not_found.match(event.path.rstrip("/") or "/") or site.not_found.match("/")
        asks_for_page = event.headers.get(b"sec-fetch-dest", b"document") in _PAGE_LIKE
        if event.path.startswith("/api/") or event.scope["method"] not in ("GET", "HEAD"):
            return error_reply(ErrorResponse("Not found", 404))
        if found is None or not asks_for_page:
            return plain_problem(site, event, NOT_FOUND)
        params = {name: value for name, value in found[1].items() if name != BELOW}
        event.scope["path_params"] = params
        plan = site.plans[found[0]]
        source = plan.view.module
        event.scope[SCOPE_KEY] = MatchedRoute(kind="not-found", pattern=None, source=source)
        target = Target(plan, b"null", params)
        page = PageEvent(site, running, event, target, event.request)
        return await respond(page, NOT_FOUND_PAGE, cache=None) or NOTHING


async def _ready(answer: Answer) -> Answer:
    return answer


def _moved(site: Site, event: RequestEvent, path: PagePath, *, status: int = 308) -> Response:
    """Redirect to the page at ``path`` with the same query."""
    query = event.scope["query_string"].decode("latin-1")
    url = quote(site.base_url, safe=SAFE_IN_PATHS) + path.raw.decode("latin-1")
    location = f"{url}?{query}" if query else url
    return Response(status_code=status, headers={"location": location})
