"""What the runtime itself answers, whatever pages a site has.

That is actions, streams, tokens, reports and probes.

Called by `fxtrio.serve.dispatch`, before files and pages, so that none of them hides these.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec
import trio
from starlette.types import Scope

from fxtrio.asgi_extensions import IN_PROCESS
from fxtrio.serve.app_state import Lifetime
from fxtrio.serve.csp_report import PATH as CSP_REPORT
from fxtrio.serve.csp_report import CspReports, answer_csp_report
from fxtrio.serve.openapi.answer import PATH as OPENAPI
from fxtrio.serve.openapi.answer import OpenApiSource, answer_openapi
from fxtrio.serve.pages.deferred.open_documents import answer_leave
from fxtrio.serve.pages.resources import Running
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.apply_route_policy import enter_listing
from fxtrio.serve.request.client_protocol import ACTIONS, LEAVE, STREAMS
from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.hook_evaluations import Evaluations
from fxtrio.serve.request.response.response import JSON, NO_STORE, Answer, Reply

Endpoint = Callable[[Running, RequestEvent], Awaitable[Answer]]

_READY = "/readyz"
_PROBES = frozenset({"/healthz", "/livez", _READY})


class RuntimeEndpoints(msgspec.Struct, frozen=True, eq=False):
    """The endpoints of one site."""

    site: Site
    lifetime: Lifetime
    openapi: OpenApiSource | None
    csp_reports: CspReports
    evaluations: Evaluations

    def find(self, path: str, scope: Scope) -> Endpoint | None:
        """Return what answers a path; None when it is not the runtime's.

        ``scope`` is that of the request, whose path has the base URL.
        """
        if path.startswith("/api/__"):
            if path.startswith(ACTIONS):
                return self._answer_action
            if path.startswith(STREAMS):
                return self._answer_stream
            if path == "/api/__csrf":
                return self._answer_csrf
            if path == LEAVE:
                return self._answer_leave
            if path == CSP_REPORT:
                return self._answer_csp_report
        probe = self._probe(path, scope["path"])
        if probe is not None:
            return self._answer_ready if probe == _READY else self._answer_alive
        return self._answer_openapi if path == OPENAPI and self._describes(scope) else None

    def _describes(self, scope: Scope) -> bool:
        """Whether the document is served: to everybody by the setting, else to the app itself."""
        listed = self.site.config.openapi or IN_PROCESS in scope
        return listed and self.openapi is not None

    def _probe(self, path: str, whole: str) -> str | None:
        """Return the requested probe, with the base URL or without it.

        An orchestrator asks the process, and need not know where its site is mounted.
        """
        if path in _PROBES:
            return path
        below = whole.removeprefix(self.site.root)
        return below if below in _PROBES else None

    # Without frames of their own, which streams would keep for hours.
    def _answer_action(self, running: Running, event: RequestEvent) -> Awaitable[Answer]:
        # As in `SiteAction.answer`.
        from fxtrio.serve.actions.answer import answer_action

        return answer_action(self.site, running, event)

    def _answer_stream(self, running: Running, event: RequestEvent) -> Awaitable[Answer]:
        # The same for streams.
        from fxtrio.serve.streams.endpoint import answer_stream

        return answer_stream(self.site, running, event)

    async def _answer_csrf(self, running: Running, event: RequestEvent) -> Answer:
        """Return a token for clients that have no pages, with its cookie."""
        token, cookie = self.site.proof.token(event, event.request)
        headers = [NO_STORE, (b"set-cookie", cookie)] if cookie else [NO_STORE]
        return Reply(200, msgspec.json.encode({"token": token or None}), JSON, headers)

    async def _answer_leave(self, running: Running, event: RequestEvent) -> Answer:
        return answer_leave(running.documents, event)

    async def _answer_csp_report(self, running: Running, event: RequestEvent) -> Answer:
        return await answer_csp_report(self.csp_reports, event, trio.current_time())

    async def _answer_openapi(self, running: Running, event: RequestEvent) -> Answer:
        assert self.openapi is not None  # or `find` has not found it
        rejection = await enter_listing(event, self.site.policies, OPENAPI, running.count)
        return rejection or await answer_openapi(self.site, self.openapi, event, self.evaluations)

    async def _answer_alive(self, running: Running, event: RequestEvent) -> Answer:
        return Reply(200, b'{"ok":true}', JSON, [NO_STORE])

    async def _answer_ready(self, running: Running, event: RequestEvent) -> Answer:
        """Say whether the process should be sent requests, and why not."""
        if self.lifetime.running is None or not self.lifetime.ready:
            return Reply(503, b'{"ok":false,"checks":{"process":"stopping"}}', JSON, [NO_STORE])
        ready, found = await running.readiness.look()
        body = msgspec.json.encode({"ok": ready, "checks": found})
        return Reply(200 if ready else 503, body, JSON, [NO_STORE])
