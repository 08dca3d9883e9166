"""The ASGI app below the middleware: which part of the runtime answers a request.

The parts are tried in this order: Starlette routes, the runtime's own endpoints, files of the
build, the public folder, the site's routes.
"""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import Any

from starlette.routing import BaseRoute
from starlette.types import Receive, Scope, Send

from fxtrio.application_errors import application_error
from fxtrio.asgi_extensions import IN_PROCESS
from fxtrio.context import RequestContext, current
from fxtrio.errors import AppNotRunning
from fxtrio.serve.actions.action import SiteAction, site_actions
from fxtrio.serve.app_state import Lifetime
from fxtrio.serve.csp_report import CspReports
from fxtrio.serve.openapi.answer import OpenApiSource
from fxtrio.serve.pages.error_response import DEFECT, plain_problem, repeated_header
from fxtrio.serve.pages.payload import PageProblem
from fxtrio.serve.pages.resources import Running
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.event import RequestEvent, open_event
from fxtrio.serve.request.hook_evaluations import Evaluations
from fxtrio.serve.request.response.error_response import ErrorResponse, error_reply
from fxtrio.serve.request.response.response import NO_STORE, NOTHING, Answer, Reply
from fxtrio.serve.request.response.send_response import (
    log_defect,
    send_answer,
    send_at_once,
    send_failure,
)
from fxtrio.serve.request_span import name_by_route
from fxtrio.serve.runtime_endpoints import RuntimeEndpoints
from fxtrio.serve.site_routes import SiteMarkdownPage, SitePage, SiteRoutes
from fxtrio.serve.static_files import Folder
from fxtrio.spans import current_span

Named = SitePage | SiteMarkdownPage | SiteAction
"""What one path leads to, whoever requests it."""


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
        self._routes = routes
        self._endpoints = RuntimeEndpoints(site, lifetime, openapi, csp_reports, evaluations)
        self._site_routes = SiteRoutes(site, lifetime, evaluations)
        # In development files come and go.
        self._literal = {} if site.development else self._found_by_path()

    # Without a frame of its own, which each request would pay for.
    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Answer one request or WebSocket."""
        running = self._lifetime.running
        if running is None:
            raise AppNotRunning
        meter = running.meter
        begun = None if meter is None else meter.begin(scope)
        return self._handle(running, open_event(self._site.terms, scope, receive, send), begun)

    async def _handle(self, running: Running, event: RequestEvent, begun: Any) -> None:
        """Answer one request or WebSocket, or one whose work the server has interrupted.

        ``begun`` is what the meter counts it from.
        """
        scope, meter = event.scope, running.meter
        request_id = scope["state"].get("request_id")
        token = current.set(RequestContext(running.app, request_id, event.draft, scope))
        span = current_span.get()
        if span is not None:
            root, base_url = span.root, self._site.config.base_url
            root.rename = partial(name_by_route, root, scope, base_url)
        try:
            if scope["type"] == "websocket":
                # Most servers start for a page.
                from fxtrio.serve.websockets import serve_socket

                await serve_socket(self._site, event, self._routes, count=running.count)
            else:
                await self._serve(running, event)
        finally:
            current.reset(token)
            if span is not None:
                name_by_route(root, scope, base_url)
                root.rename = None  # the scope ends with the request
            if event.otherwise is not None and event.server is not None:
                event.server.resume = partial(self._handle, running, event, begun)
            else:
                if event.body is not None:
                    event.body.close()
                if meter is not None:
                    meter.end(scope, event.status, begun)

    def _found_by_path(self) -> dict[str, Named]:
        """Return the pages and actions without parameters that nothing else comes before."""
        base_url = self._site.base_url
        pages = {
            path: page
            for path, page in self._site_routes.literal
            if not path.startswith("/_fx/")
            and not self._public.may_have(path)
            and self._endpoints.find(path, {"path": base_url + path, IN_PROCESS: True}) is None
        }
        return {**pages, **site_actions(self._site)}

    async def _serve(self, running: Running, event: RequestEvent) -> None:
        try:
            if len(event.headers) != len(event.scope["headers"]) and event.repeated is not None:
                return await send_answer(
                    event, self._problem(event, repeated_header(event.repeated))
                )
            if self._routes:
                # Most apps have none.
                from fxtrio.serve.starlette_routes import serve_starlette_route

                if await serve_starlette_route(self._site, running, event, self._routes):
                    return None
            named = self._literal.get(event.path)
            if named is not None and event.otherwise is None and named.is_named_by(event):
                answer = await named.answer(running, event, {}) or NOTHING
            else:
                answer = await self._answer(running, event)
        except BaseException as raised:  # a defect of ours, or of an application's route
            log_defect(event, application_error(raised))
            answer = self._problem(event, DEFECT)
        if event.audience is not event.terms.audience:
            answer = event.audience.take(answer, event.draft)
        try:
            sent = send_at_once(event, answer)
            if sent is None:
                await send_answer(event, answer)
            elif not sent and event.server is not None:
                await event.server.flush()
        except BaseException as raised:
            await send_failure(event, answer, raised, partial(self._problem, event, DEFECT))
        finally:  # background tasks run even if the client has disconnected
            if event.background_tasks:
                await running.background.run(event.take_background_tasks())

    def _problem(self, event: RequestEvent, problem: PageProblem) -> Reply:
        """Return the answer that states a problem: in JSON where the client asks for data."""
        if event.path.startswith("/api/"):
            return error_reply(ErrorResponse(problem.message, problem.status))
        return plain_problem(self._site, event, problem)

    async def _answer(self, running: Running, event: RequestEvent) -> Answer:
        """Return the answer of the part of the runtime that the path belongs to."""
        otherwise, event.otherwise = event.otherwise, None
        if otherwise is not None:
            return await otherwise()
        path = event.path
        endpoint = self._endpoints.find(path, event.scope)
        if endpoint is not None:
            return await endpoint(running, event)
        if path.startswith("/_fx/"):
            return await self._assets.answer(event, path[4:]) or _no_such_file()
        if self._public.may_have(path):
            found = await self._public.answer(event, path)
            if found is not None:
                return found
        return await self._site_routes.answer(running, event)


def _no_such_file() -> Reply:
    return Reply(404, b"Not found", b"text/plain; charset=utf-8", [NO_STORE])
