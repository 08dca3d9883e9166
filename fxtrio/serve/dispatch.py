"""The ASGI app below the middleware: which part of the runtime answers a request."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from urllib.parse import quote

import msgspec
import trio
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from fxtrio.application_errors import application_error
from fxtrio.asgi_extensions import SAFE_IN_PATHS
from fxtrio.context import RequestContext, current
from fxtrio.errors import ActionError, AppNotRunning, LoaderError, Redirect
from fxtrio.manifest import ApiRoute, PageRoute
from fxtrio.policy.patterns import pattern_of
from fxtrio.policy.routes import Policies
from fxtrio.routes.matched import SCOPE_KEY, MatchedRoute
from fxtrio.serve.actions.action import answer_action
from fxtrio.serve.actions.no_js_forms import show_again
from fxtrio.serve.app_state import Lifetime
from fxtrio.serve.csp_report import PATH as CSP_REPORT
from fxtrio.serve.csp_report import CspReports, answer_csp_report
from fxtrio.serve.endpoints import answer_api
from fxtrio.serve.openapi.answer import PATH as OPENAPI
from fxtrio.serve.openapi.answer import OpenApiSource, answer_openapi
from fxtrio.serve.pages.as_markdown import MarkdownRepresentation, page_of_markdown, wants_markdown
from fxtrio.serve.pages.error_response import DEFECT, NOT_FOUND, plain_problem, repeated_header
from fxtrio.serve.pages.llms_txt import answer_llms_txt
from fxtrio.serve.pages.markdown_sources import SiteMarkdown
from fxtrio.serve.pages.page import PageEvent, Target
from fxtrio.serve.pages.payload import PageProblem
from fxtrio.serve.pages.representations import NOT_FOUND_PAGE, PAGE
from fxtrio.serve.pages.resources import Running
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request import csrf
from fxtrio.serve.request.apply_route_policy import enter, enter_listing, is_preflight
from fxtrio.serve.request.bodies.third_party_bodies import require_plain
from fxtrio.serve.request.client_protocol import ACTIONS
from fxtrio.serve.request.csrf_proof import TOKEN
from fxtrio.serve.request.event import PagePath, RequestEvent, open_event
from fxtrio.serve.request.hook_evaluations import Evaluations
from fxtrio.serve.request.response.error_response import (
    Refused,
    forgery_reply,
    refusal_reply,
    refused,
)
from fxtrio.serve.request.response.form_rerender import PAGES, PageAgain
from fxtrio.serve.request.response.response import (
    JSON,
    NO_STORE,
    NOTHING,
    Answer,
    Reply,
    not_read,
    redirected,
)
from fxtrio.serve.request.response.send_response import (
    completing,
    log_defect,
    send_answer,
    send_failure,
)
from fxtrio.serve.request.response.unwrap import unwrap
from fxtrio.serve.respond import respond
from fxtrio.serve.static_files import Folder
from fxtrio.serve.websockets import serve_socket

log = logging.getLogger("fx.serve")


class Dispatcher:
    """Answers HTTP and WebSocket requests of one site."""

    def __init__(
        self,
        site: Site,
        lifetime: Lifetime,
        *,
        assets: Folder,
        public: Folder,
        openapi: OpenApiSource | None,
        routes: list[BaseRoute],
        csp_reports: CspReports,
        evaluations: Evaluations,
    ) -> None:
        """``routes`` are Starlette routes of plugins and the application; they go first.

        ``openapi`` is what `/openapi.json` is answered from; None when it is not served.
        """
        self._site = site
        self._lifetime = lifetime
        self._assets = assets
        self._public = public
        self._openapi = openapi
        self._routes = routes
        self._csp_reports = csp_reports
        self._evaluations = evaluations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request or WebSocket."""
        site = self._site
        running = self._lifetime.running
        if running is None:
            raise AppNotRunning
        event = open_event(site.terms, scope, receive, send)
        token = current.set(RequestContext(running.app, scope["state"].get("request_id")))
        try:
            if scope["type"] == "websocket":
                await serve_socket(site, event, self._routes, count=running.count)
            else:
                await self._serve(running, event)
        finally:
            current.reset(token)
            if event.body is not None:
                event.body.close()

    async def _serve(self, running: Running, event: RequestEvent) -> None:
        try:
            if event.repeated is not None:
                return await send_answer(event, self._told(event, repeated_header(event.repeated)))
            if self._routes and await self._serve_route(running, event):
                return None
            answer = await self._answer(running, event)
        except BaseException as raised:  # a defect of ours, or of an application's route
            log_defect(event, application_error(raised))
            answer = self._told(event, DEFECT)
        answer = event.audience.take(answer, event.draft)
        try:
            await send_answer(event, answer)
        except BaseException as raised:
            await send_failure(event, answer, raised, partial(self._told, event, DEFECT))
        finally:  # what was promised to follow is done, also when the client is gone
            if event.background_tasks:
                await running.background.run(event.take_background_tasks())

    def _told(self, event: RequestEvent, problem: PageProblem) -> Reply:
        """Return what a client learns of a problem: as JSON where it asks for data."""
        if event.path.startswith("/api/"):
            return refusal_reply(Refused(problem.message, problem.status))
        return plain_problem(self._site, event, problem)

    async def _answer(self, running: Running, event: RequestEvent) -> Answer:
        """Return the answer of the part of the runtime that the path belongs to."""
        site = self._site
        scope, path = event.scope, event.path
        if path.startswith("/api/__"):
            own = self._own_endpoint(path)
            if own is not None:
                return await own(running, event)
        if path.startswith("/_fx/"):
            return await self._assets.answer(event, path[4:]) or _no_such_file()
        whole = scope["path"].removeprefix(site.root) if site.root else scope["path"]
        if path in _PROBES or whole in _PROBES:  # with the base URL and without it
            return await self._answer_probe(path if path in _PROBES else whole)
        if self._openapi is not None and path == OPENAPI:
            refusal = await enter_listing(event, site.policies, OPENAPI, running.count)
            return refusal or await answer_openapi(site, self._openapi, event, self._evaluations)
        if self._public.may_have(path):
            found = await self._public.answer(event, path)
            if found is not None:
                return found
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
        site = self._site
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
        page = self._page(running, event, route, params)
        cache = self._lifetime.cache
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

        A page shows by itself that it was asked for too often.
        """
        answered = await enter(event, policies, pattern, called=called, count=running.count)
        if called and event.refused is not None:
            return refusal_reply(refused(event.refused))
        return answered

    def _page(
        self, running: Running, event: RequestEvent, route: PageRoute, params: dict[str, str]
    ) -> PageEvent:
        site = self._site
        event.scope["path_params"] = params
        target = Target(site.plans[route.view], site.route_names[route.pattern], params)
        return PageEvent(site, running, event, target, event.request)

    async def _answer_agent(
        self, markdown: SiteMarkdown, running: Running, event: RequestEvent
    ) -> Answer | None:
        """Return `/llms.txt` or a page's Markdown; None when the path is neither."""
        site = self._site
        method = event.scope["method"]
        readable = method in ("GET", "HEAD")
        if event.path == "/llms.txt":
            if not readable:
                return not_read(method)
            refusal = await enter_listing(event, site.policies, event.path, running.count)
            return refusal or await answer_llms_txt(
                site, markdown, event.request, self._evaluations
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
        answer = await respond(page, representation, cache=self._lifetime.cache)
        return answer or _moved(site, event, path, status=307)

    def _own_endpoint(
        self, path: str
    ) -> Callable[[Running, RequestEvent], Awaitable[Answer]] | None:
        """Return what answers a path under `/api/__…`; None when it is not the runtime's."""
        if path.startswith(ACTIONS):
            return self._answer_action
        if path == "/api/__csrf":
            return self._answer_csrf
        return self._answer_csp_report if path == CSP_REPORT else None

    async def _answer_action(self, running: Running, event: RequestEvent) -> Answer:
        return await answer_action(self._site, running, event)

    async def _answer_csrf(self, running: Running, event: RequestEvent) -> Answer:
        """Return a token for clients that have no pages, with its cookie."""
        site = self._site
        token, headers = site.proof.token(event, event.request)
        return Reply(200, msgspec.json.encode({"token": token or None}), JSON, [NO_STORE, *headers])

    async def _answer_csp_report(self, running: Running, event: RequestEvent) -> Answer:
        return await answer_csp_report(self._csp_reports, event, trio.current_time())

    async def _answer_probe(self, probe: str) -> Answer:
        """Say that the process lives, or whether it should be sent requests, and why not."""
        if probe != "/readyz":
            return Reply(200, b'{"ok":true}', JSON, [NO_STORE])
        running = self._lifetime.running
        if running is None or not self._lifetime.ready:
            return Reply(503, b'{"ok":false,"checks":{"process":"stopping"}}', JSON, [NO_STORE])
        ready, found = await running.readiness.look()
        body = msgspec.json.encode({"ok": ready, "checks": found})
        return Reply(200 if ready else 503, body, JSON, [NO_STORE])

    async def _answer_not_found(self, running: Running, event: RequestEvent) -> Answer:
        site = self._site
        found = site.not_found.match(event.path.rstrip("/") or "/")
        asks_for_page = event.headers.get(b"sec-fetch-dest", b"document") in _PAGE_LIKE
        if event.path.startswith("/api/") or event.scope["method"] not in ("GET", "HEAD"):
            return refusal_reply(Refused("Not found", 404))
        if found is None or not asks_for_page:
            return plain_problem(site, event, NOT_FOUND)
        event.scope["path_params"] = {}
        plan = site.plans[found[0]]
        source = plan.view.module
        event.scope[SCOPE_KEY] = MatchedRoute(kind="not-found", pattern=None, source=source)
        target = Target(plan, b"null", {})
        page = PageEvent(site, running, event, target, event.request)
        return await respond(page, NOT_FOUND_PAGE, cache=None) or NOTHING

    async def _serve_route(self, running: Running, event: RequestEvent) -> bool:
        """Let a Starlette route answer; False when none matches."""
        for route in self._routes:
            match, child = route.matches(event.scope)
            if match is Match.NONE or (match is Match.PARTIAL and not is_preflight(event)):
                continue
            site = self._site
            if site.policies is not None:
                pattern = pattern_of(route, site.config.base_url)
                policies = site.policies
                answered: Answer | None = await enter(
                    event, policies, pattern, called=False, count=running.count
                )
                if event.refused is not None:
                    answered = refusal_reply(refused(event.refused))
                if answered is not None:
                    await send_answer(event, answered)
                    return True
            if match is not Match.FULL:
                continue
            unsafe = event.scope["method"] not in csrf.SAFE_METHODS
            verdict = site.proof.refusal(event) if unsafe else ""
            if verdict:
                await send_answer(event, forgery_reply(verdict))
                return True
            event.scope.update(child)
            complete = completing(event)
            body = event.open_body(running.bodies, limit=site.config.limits.body)
            try:
                require_plain(event.scope["headers"])
                event.scope[PAGES] = True
                event.scope[TOKEN] = partial(site.proof.hand_out, event)
                if verdict is None:
                    verdict = await site.proof.refusal_of_form(event, body)
                    if verdict:
                        await send_answer(event, forgery_reply(verdict))
                        return True
                receive = body.again() if body.complete else body.receive
                await route.handle(event.scope, receive, complete)
            except PageAgain as again:
                await send_answer(event, await show_again(site, running, event, again))
            except MultiPartException as error:
                await send_answer(event, refusal_reply(Refused(error.message, 400)))
            except (ActionError, LoaderError, HTTPException, Redirect) as error:
                known = unwrap(error, event.draft, f"{event.scope['method']} {event.path}")
                if isinstance(known, Redirect):
                    await send_answer(event, redirected(known, navigation=False))
                else:
                    await send_answer(event, refusal_reply(refused(known)))
            return True
        return False


_PROBES = frozenset({"/healthz", "/livez", "/readyz"})
_PAGE_LIKE = frozenset({b"document", b"empty", b"iframe", b"frame"})


def _no_such_file() -> Reply:
    return Reply(404, b"Not found", b"text/plain; charset=utf-8", [NO_STORE])


def _moved(site: Site, event: RequestEvent, path: PagePath, *, status: int = 308) -> Response:
    """Redirect to the page at ``path``, the query kept."""
    query = event.scope["query_string"].decode("latin-1")
    url = quote(site.base_url, safe=SAFE_IN_PATHS) + path.raw.decode("latin-1")
    location = f"{url}?{query}" if query else url
    return Response(status_code=status, headers={"location": location})
