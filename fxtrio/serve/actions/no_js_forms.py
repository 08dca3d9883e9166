"""Forms that a browser sends by itself, without JavaScript: their answers are pages of the site."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import msgspec
import trio
from starlette.responses import Response
from starlette.types import Scope

from fxtrio.application_errors import application_error
from fxtrio.asgi_extensions import SAFE_IN_PATHS
from fxtrio.errors import ActionError
from fxtrio.manifest import ApiRoute, PageRoute
from fxtrio.routes.matched import SCOPE_KEY
from fxtrio.serve.actions.lookup import NamedAction
from fxtrio.serve.pages.boundaries import show_problem
from fxtrio.serve.pages.error_response import log_failure, plain_problem
from fxtrio.serve.pages.page import PageEvent, Target
from fxtrio.serve.pages.payload import PageProblem
from fxtrio.serve.pages.render import FormOutcome, load_and_show
from fxtrio.serve.pages.resources import Running
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.bodies.body import ActionRequest, refill_values
from fxtrio.serve.request.bodies.forms import MULTIPART, URLENCODED, media_type
from fxtrio.serve.request.event import PagePath, RequestEvent
from fxtrio.serve.request.hooks import run_page_hooks
from fxtrio.serve.request.requests import PageRequest
from fxtrio.serve.request.response.error_response import ErrorResponse
from fxtrio.serve.request.response.form_rerender import PageAgain
from fxtrio.serve.request.response.response import Answer, ResponseDraft
from fxtrio.serve.request.response.translated import translated, translated_fields
from fxtrio.serve.request.response.unwrap import unwrap

_ENCTYPES = frozenset({URLENCODED, MULTIPART, "text/plain"})
"""What forms of HTML are sent as."""

_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))


def asks_for_page(event: RequestEvent) -> bool:
    """Whether a browser has sent a form and shows what it gets. Nothing of the body is read."""
    if b"text/html" not in event.headers.get(b"accept", b""):
        return False
    return media_type(event.headers.get(b"content-type", b"").decode("latin-1")) in _ENCTYPES


class FormPage(msgspec.Struct, frozen=True, eq=False):
    """The page that a form stands in, and that shows what became of it."""

    site: Site
    running: Running
    event: RequestEvent
    route: PageRoute
    params: Mapping[str, str]
    path: PagePath
    query: bytes
    """That of the page, percent-encoded, without the question mark."""

    @property
    def url(self) -> str:
        """The page's URL with its query."""
        url = self.path.url(self.site.base_url)
        return f"{url}?{self.query.decode()}" if self.query else url

    def leave(self, url: str) -> Response:
        """Return a redirect after which a reload sends nothing again."""
        return _left_for(url)

    async def again(self, name: str, rejection: ErrorResponse, values: Mapping[str, Any]) -> Answer:
        """Show the page with what was wrong, and filled with ``values``.

        Its guard must have let the visitor pass. ``name`` is that of the action.
        """
        data = {
            "action": name,
            "ok": False,
            "error": translated(rejection.message),
            "fields": translated_fields(rejection.fields or {}),
            "data": rejection.data,
            "values": values,
        }
        return await load_and_show(self._page(), after=FormOutcome(rejection.status, data))

    async def is_open(self) -> bool:
        """Ask the hooks of the page whether its visitor may see it."""
        scope = self._scope()
        try:
            hooks, audience = self.site.hooks, self.event.audience
            rejection = await run_page_hooks(hooks, scope, self.path, self.event.connect, audience)
        except BaseException as raised:
            error, place = application_error(raised), f"a route hook of {self.path.path}"
            log_failure(unwrap(error, ResponseDraft(), place), place)
            return False
        return rejection is None

    async def reject(self, rejection: ErrorResponse, *, admitted: bool) -> Answer:
        """Show the nearest error page with the status and message of a rejection.

        Nothing of the guarded page is rendered: of one that is not ``admitted``, no loader
        runs that is not public.
        """
        if rejection.redirect is not None:
            return self.leave(rejection.redirect)
        _say_retry_after(self.event, rejection)
        problem = PageProblem(rejection.message, rejection.status, "ActionError", rejection.data)
        return await show_problem(self._page(), "", problem, {}, admitted=admitted)

    def _page(self) -> PageEvent:
        """Return the request for the page, as if the browser had requested it."""
        site = self.site
        self.event.page_url = self.url
        plan, name = site.plans[self.route.view], site.route_names[self.route.pattern]
        target = Target(plan, name, self.params)
        return PageEvent(site, self.running, self.event, target, PageRequest(self._scope()))

    def _scope(self) -> Scope:
        base = self.site.base_url
        return {
            **self.event.scope,
            "method": "GET",
            "path": base + self.path.path,
            "raw_path": self.path.url(base).encode("latin-1"),
            "query_string": self.query,
            "path_params": dict(self.params),
            SCOPE_KEY: self.site.matched["page", self.route.pattern],
        }


class VisitedPage(FormPage, frozen=True, eq=False):
    """A page from which an action of a module was called, whose hooks have not run yet."""

    async def again(self, name: str, rejection: ErrorResponse, values: Mapping[str, Any]) -> Answer:
        """Show the page as `FormPage` does, if its hooks let the visitor pass."""
        if await self.is_open():
            return await super().again(name, rejection, values)
        return await super().reject(rejection, admitted=False)

    async def reject(self, rejection: ErrorResponse, *, admitted: bool) -> Answer:
        """Show the rejection as `FormPage` does, to whom the page's hooks let pass as admitted."""
        return await super().reject(rejection, admitted=admitted and await self.is_open())


class NoPage(msgspec.Struct, frozen=True, eq=False):
    """In the place of a page, for a form whose browser does not say where it stands."""

    site: Site
    event: RequestEvent

    @property
    def url(self) -> str:
        """The root of the site."""
        return self.site.base_url or "/"

    def leave(self, url: str) -> Response:
        """Return a redirect after which a reload sends nothing again."""
        return _left_for(url)

    async def again(self, name: str, rejection: ErrorResponse, values: Mapping[str, Any]) -> Answer:
        """Show the rejection without any of the app's pages."""
        return await self.reject(rejection, admitted=False)

    async def reject(self, rejection: ErrorResponse, *, admitted: bool) -> Answer:
        """Show the rejection without any of the app's pages."""
        _say_retry_after(self.event, rejection)
        problem = PageProblem(rejection.message, rejection.status, "ActionError", rejection.data)
        return plain_problem(self.site, self.event, problem)


def page_of(
    site: Site, running: Running, event: RequestEvent, found: NamedAction
) -> FormPage | NoPage:
    """Return the page of an action, or for one of a module the page that the `Referer` names.

    The query of an action's own page is that of the action's URL, where `Form` puts it, or else
    what the `Referer` says of the same page.
    """
    referer = event.headers.get(b"referer", b"")
    if found.page is None:
        return _visited(site, running, event, referer) or NoPage(site, event)
    route, path = found.page.route, found.page.path
    query = event.scope["query_string"] or _query_of(referer, path.url(site.base_url))
    sent = quote(query, _PRINTABLE).encode()
    return FormPage(site, running, event, route, found.params, path, sent)


def _visited(
    site: Site, running: Running, event: RequestEvent, referer: bytes
) -> VisitedPage | None:
    """Return the page of this site that a ``referer`` names; None if it names another site."""
    try:
        parts = urlsplit(referer.decode("latin-1"))
    except ValueError:
        return None
    below = quote(site.base_url, safe=SAFE_IN_PATHS)
    raw = parts.path.removeprefix(below) or "/"
    if not parts.path.startswith(below) or not raw.startswith("/"):
        return None
    path = PagePath(unquote(raw), raw.encode("latin-1"))
    route, params = site.router.match(path.path, path.sent) or (None, {})
    if route is None or isinstance(route, ApiRoute):
        return None
    query = quote(parts.query, _PRINTABLE).encode()
    return VisitedPage(site, running, event, route, params, path, query)


async def show_again(site: Site, running: Running, event: RequestEvent, again: PageAgain) -> Answer:
    """Return the page that an endpoint wants to show, if its hooks let the visitor pass."""
    route, params = site.router.match(again.path) or (None, {})
    if route is None or isinstance(route, ApiRoute):
        return again.otherwise
    path, query = PagePath(again.path), again.query.encode()
    form = FormPage(site, running, event, route, params, path, query)
    with trio.move_on_after(event.timeout):
        if not await form.is_open():
            return again.otherwise
        _say_retry_after(event, again.rejection)
        return await form.again(again.name, again.rejection, again.values)
    return again.otherwise


def _say_retry_after(event: RequestEvent, rejection: ErrorResponse) -> None:
    if rejection.retry_after is not None:
        event.draft.headers["retry-after"] = str(rejection.retry_after)


def _left_for(url: str) -> Response:
    return Response(status_code=303, headers={"location": url, "cache-control": "no-store"})


def _query_of(referer: bytes, path: str) -> bytes:
    """Return the query of a URL with that path; nothing for any other text."""
    try:
        parts = urlsplit(referer.decode("latin-1"))
    except ValueError:
        return b""
    return parts.query.encode("latin-1") if parts.path == path else b""


async def typed_values(request: ActionRequest) -> Mapping[str, Any]:
    """Return what a form may be filled with again; nothing of one that cannot be parsed."""
    if not request.is_form:
        return {}
    try:
        return refill_values(await request.json())
    except ActionError:
        return {}
