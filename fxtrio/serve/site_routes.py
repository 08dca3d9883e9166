"""What the router of a site finds for a path: a page in one of its representations, or an endpoint.

Called by `fxtrio.serve.dispatch` with what nothing else has answered.
"""

from __future__ import annotations

from urllib.parse import quote

import attrs
from starlette.responses import Response

from fxtrio.asgi_extensions import SAFE_IN_PATHS
from fxtrio.manifest import ApiRoute, PageRoute
from fxtrio.policy.routes import Policies
from fxtrio.routes.matched import SCOPE_KEY, MatchedRoute
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
from fxtrio.serve.pages.page import PageEvent, Target
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

_PAGE_LIKE = frozenset({b"document", b"empty", b"iframe", b"frame"})
"""Values of Sec-Fetch-Dest by which somebody sees the answer; others load parts of a page."""


@attrs.frozen(eq=False)
class SiteRoutes:
    """The routes of one site."""

    site: Site
    lifetime: Lifetime
    evaluations: Evaluations

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
        is_api = isinstance(route, ApiRoute)
        if site.policies is not None:
            answered = await self._enter(site.policies, running, event, route.pattern, is_api)
            if answered is not None:
                return answered
        if isinstance(route, ApiRoute):
            event.scope[SCOPE_KEY] = site.matched["api", route.pattern]
            return await answer_api(site, running, event, route.source, params)
        if event.scope["method"] not in ("GET", "HEAD"):
            return not_read(event.scope["method"])
        if event.scope["query_string"]:
            find_settled(event)
        page = self._page(running, event, route, params)
        cache = self.lifetime.cache
        if site.markdown is not None and not event.navigation and wants_markdown(event):
            event.negotiated = True
            event.scope[SCOPE_KEY] = site.matched["markdown", route.pattern]
            path = PagePath(event.path, event.raw_path)
            answer = await respond(page, MarkdownRepresentation(site.markdown, path), cache=cache)
            if answer is not None:
                return answer
        event.negotiated = False
        event.scope[SCOPE_KEY] = site.matched["page", route.pattern]
        return await respond(page, PAGE, cache=cache) or NOTHING

    async def _enter(
        self, policies: Policies, running: Running, event: RequestEvent, pattern: str, called: bool
    ) -> Answer | None:
        """Apply the settings of a route; return what they answer instead of it.

        A page shows by itself that a rate limit was exceeded, in its error boundary.
        """
        answered = await enter(event, policies, pattern, called=called, count=running.count)
        if called and event.rejection is not None:
            return error_reply(to_error_response(event.rejection))
        return answered

    def _page(
        self, running: Running, event: RequestEvent, route: PageRoute, params: dict[str, str]
    ) -> PageEvent:
        site = self.site
        event.scope["path_params"] = params
        target = Target(site.plans[route.view], site.route_names[route.pattern], params)
        return PageEvent(site, running, event, target, event.request)

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
        pattern = match[0].pattern
        if site.policies is not None:
            answered = await self._enter(site.policies, running, event, pattern, False)
            if answered is not None:
                return answered
        if not readable:
            return not_read(method)
        page = self._page(running, event, match[0], match[1])
        event.scope[SCOPE_KEY] = site.matched["markdown", pattern]
        representation = MarkdownRepresentation(markdown, path)
        answer = await respond(page, representation, cache=self.lifetime.cache)
        return answer or _moved(site, event, path, status=307)

    async def _answer_not_found(self, running: Running, event: RequestEvent) -> Answer:
        site = self.site
        found = site.not_found.match(event.path.rstrip("/") or "/")
        asks_for_page = event.headers.get(b"sec-fetch-dest", b"document") in _PAGE_LIKE
        if event.path.startswith("/api/") or event.scope["method"] not in ("GET", "HEAD"):
            return error_reply(ErrorResponse("Not found", 404))
        if found is None or not asks_for_page:
            return plain_problem(site, event, NOT_FOUND)
        event.scope["path_params"] = {}
        plan = site.plans[found[0]]
        source = plan.view.module
        event.scope[SCOPE_KEY] = MatchedRoute(kind="not-found", pattern=None, source=source)
        target = Target(plan, b"null", {})
        page = PageEvent(site, running, event, target, event.request)
        return await respond(page, NOT_FOUND_PAGE, cache=None) or NOTHING


def _moved(site: Site, event: RequestEvent, path: PagePath, *, status: int = 308) -> Response:
    """Redirect to the page at ``path`` with the same query."""
    query = event.scope["query_string"].decode("latin-1")
    url = quote(site.base_url, safe=SAFE_IN_PATHS) + path.raw.decode("latin-1")
    location = f"{url}?{query}" if query else url
    return Response(status_code=status, headers={"location": location})
